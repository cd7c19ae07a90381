"""Dispatches and executions as spans, metrics and log records. It knows the OpenTelemetry API only."""

"""Dispatches and executions as spans, metrics and log records, on the OpenTelemetry API alone."""

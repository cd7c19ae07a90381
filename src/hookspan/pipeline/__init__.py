"""Providers and exporters, for those who have none: the only user of the OpenTelemetry SDK."""

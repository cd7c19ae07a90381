"""OpenTelemetry observability for CrewAI's interception hooks."""

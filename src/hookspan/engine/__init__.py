"""The engine: keeps hooks and runs them. It knows neither crewAI nor OpenTelemetry."""

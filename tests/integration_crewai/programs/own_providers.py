"""A crew in an application that has set its own providers before it instruments.

What the application's providers have got is printed as JSON. Started with crewAI's own telemetry
off; the arguments are where to send it and whether it is then switched on.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import crewai.telemetry.telemetry as crewai_telemetry
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import hookspan
from tests.integration_crewai.crews import kickoff, native_tool_crew
from tests.integration_crewai.programs.unchanged_crew import deny_hull


def switch_on_crewais_telemetry(sink: str) -> None:
    """Make crewAI's telemetry as `import crewai` would, had it another address."""
    untyped: Any = crewai_telemetry
    untyped.CREWAI_TELEMETRY_BASE_URL = sink
    os.environ["CREWAI_DISABLE_TELEMETRY"] = "false"
    made = untyped.Telemetry()
    made._initialized = False  # it was made, switched off, by the import
    made.__init__()
    made.set_tracer()


def main(sink: str, telemetry: str) -> None:
    """Run the crew and tell what was recorded."""
    if telemetry == "on":
        switch_on_crewais_telemetry(sink)
    resource = Resource.create({"service.name": "app"})
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracer_provider = TracerProvider(resource=resource)
    tracer_provider.add_span_processor(SimpleSpanProcessor(spans))
    meter_provider = MeterProvider([reader], resource=resource)
    trace.set_tracer_provider(tracer_provider)
    metrics.set_meter_provider(meter_provider)
    hookspan.instrument()
    result = f"{kickoff(native_tool_crew())} {deny_hull.__name__}"
    data: Any = reader.get_metrics_data()
    current = (trace.get_tracer_provider(), metrics.get_meter_provider())
    told = {
        "result": result,
        "kept": current == (tracer_provider, meter_provider),
        "spans": sorted(span.name for span in spans.get_finished_spans()),
        "services": sorted(
            {str(held.resource.attributes["service.name"]) for held in spans.get_finished_spans()}
            | {str(held.resource.attributes["service.name"]) for held in data.resource_metrics}
        ),
        "metrics": sorted(
            metric.name
            for held in data.resource_metrics
            for scope in held.scope_metrics
            if scope.scope.name == "hookspan"
            for metric in scope.metrics
        ),
    }
    sys.stdout.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

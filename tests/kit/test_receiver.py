"""The receiver understands what the official exporters send, over both protocols."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest
from opentelemetry import trace
from opentelemetry._logs import LogRecord as ApiLogRecord
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.util.types import AnyValue

from tests.kit.exporters import Exporters, Protocol, exporters_to
from tests.kit.receiver import Receiver
from tests.kit.signals import Event, Exemplar, Link, LogRecord, MetricPoint, Scope, Span

RESOURCE = Resource({"service.name": "shop", "process.pid": 7})
SCOPE = Scope("hooks", "1.2", {"service.name": "shop", "process.pid": 7})


@pytest.fixture(params=[("http", False), ("http", True), ("grpc", False), ("grpc", True)])
def exporters(
    request: pytest.FixtureRequest, receiver: Receiver
) -> Generator[tuple[Protocol, bool, Exporters]]:
    protocol, compressed = request.param
    with exporters_to(receiver, protocol, compressed=compressed) as official:
        yield protocol, compressed, official


def test_spans(exporters: tuple[Protocol, bool, Exporters], receiver: Receiver) -> None:
    provider = TracerProvider(resource=RESOURCE, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporters[2].spans))
    tracer = provider.get_tracer("hooks", "1.2")
    outer = tracer.start_span("outer", start_time=1_000)
    values: dict[str, AnyValue] = {
        "s": "é",
        "b": True,
        "i": 2**40,
        "f": 0.5,
        "l": ["a", "b"],
        "e": [],
    }
    inner = tracer.start_span(
        "inner",
        trace.set_span_in_context(outer),
        trace.SpanKind.CLIENT,
        values,
        [trace.Link(outer.get_span_context(), {"why": "retry"})],
        start_time=2_000,
    )
    inner.add_event("exception", {"exception.type": "ValueError"}, timestamp=2_500)
    inner.set_status(trace.StatusCode.ERROR, "bad")
    inner.end(3_000)
    outer.end(4_000)
    trace_id = f"{outer.get_span_context().trace_id:032x}"
    outer_id = f"{outer.get_span_context().span_id:016x}"
    inner_id = f"{inner.get_span_context().span_id:016x}"
    assert receiver.spans() == (
        Span(
            name="inner",
            trace_id=trace_id,
            span_id=inner_id,
            parent_id=outer_id,
            kind="CLIENT",
            status="ERROR",
            status_description="bad",
            attributes={"s": "é", "b": True, "i": 2**40, "f": 0.5, "l": ["a", "b"], "e": []},
            events=(Event("exception", {"exception.type": "ValueError"}, 2_500),),
            links=(Link(trace_id, outer_id, {"why": "retry"}),),
            scope=SCOPE,
            start_ns=2_000,
            end_ns=3_000,
        ),
        Span(
            name="outer",
            trace_id=trace_id,
            span_id=outer_id,
            parent_id=None,
            kind="INTERNAL",
            status="UNSET",
            status_description="",
            attributes={},
            events=(),
            links=(),
            scope=SCOPE,
            start_ns=1_000,
            end_ns=4_000,
        ),
    )
    provider.shutdown()


def test_metrics(exporters: tuple[Protocol, bool, Exporters], receiver: Receiver) -> None:
    reader = PeriodicExportingMetricReader(exporters[2].metrics, float("inf"))
    provider = MeterProvider([reader], resource=RESOURCE, shutdown_on_exit=False)
    meter = provider.get_meter("hooks", "1.2")
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    with tracer.start_as_current_span("current") as span:
        meter.create_counter("aborts", "{abort}", "how many").add(3, {"point": "input"})
        meter.create_up_down_counter("open").add(-1)
        meter.create_gauge("age", "s").set(0.5)
        histogram = meter.create_histogram(
            "wait", "s", explicit_bucket_boundaries_advisory=[0.1, 1.0]
        )
        histogram.record(0.05)
        histogram.record(7.0)
    provider.force_flush()
    points = {point.name: point for point in receiver.metrics()}
    context = span.get_span_context()
    trace_id, span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
    exemplars = (
        Exemplar(0.05, trace_id, span_id, {}),
        Exemplar(7.0, trace_id, span_id, {}),
    )
    for name, point in points.items():  # each has a start of its own
        assert 0 < point.start_ns <= point.time_ns or name == "age"
        points[name] = replace(point, start_ns=0, time_ns=0)
    age = MetricPoint(
        name="age",
        unit="s",
        description="",
        type="gauge",
        temporality=None,
        monotonic=None,
        value=0.5,
        count=None,
        sum=None,
        bounds=(),
        buckets=(),
        attributes={},
        exemplars=(Exemplar(0.5, trace_id, span_id, {}),),
        scope=SCOPE,
        start_ns=0,
        time_ns=0,
    )
    still_open = replace(
        age,
        name="open",
        unit="",
        type="sum",
        temporality="CUMULATIVE",
        monotonic=False,
        value=-1,
        exemplars=(Exemplar(-1, trace_id, span_id, {}),),
    )
    aborts = replace(
        still_open,
        name="aborts",
        unit="{abort}",
        description="how many",
        monotonic=True,
        value=3,
        attributes={"point": "input"},
        exemplars=(Exemplar(3, trace_id, span_id, {}),),
    )
    wait = replace(
        still_open,
        name="wait",
        unit="s",
        type="histogram",
        monotonic=None,
        value=None,
        count=2,
        sum=7.05,
        bounds=(0.1, 1.0),
        buckets=(1, 0, 1),
        exemplars=exemplars,
    )
    assert points == {"age": age, "open": still_open, "aborts": aborts, "wait": wait}
    assert [point.value for point in receiver.metrics("open")] == [-1]
    provider.shutdown()


def test_logs(exporters: tuple[Protocol, bool, Exporters], receiver: Receiver) -> None:
    provider = LoggerProvider(RESOURCE, shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporters[2].logs))
    provider.get_logger("hooks", "1.2").emit(
        ApiLogRecord(
            timestamp=5,
            observed_timestamp=6,
            severity_text="WARN",
            severity_number=SeverityNumber.WARN,
            body={"why": ["no", 1]},
            attributes={"crewai.hook.point": "input"},
            event_name="crewai.hook.aborted",
        )
    )
    assert receiver.logs() == (
        LogRecord(
            event_name="crewai.hook.aborted",
            severity_text="WARN",
            severity_number=13,
            body={"why": ["no", 1]},
            attributes={"crewai.hook.point": "input"},
            trace_id=None,
            span_id=None,
            scope=SCOPE,
            time_ns=5,
            observed_ns=6,
        ),
    )
    provider.shutdown()


def test_log_record_of_a_span(receiver: Receiver) -> None:
    span = TracerProvider(shutdown_on_exit=False).get_tracer("t").start_span("current")
    with exporters_to(receiver, "http") as official:
        provider = LoggerProvider(RESOURCE, shutdown_on_exit=False)
        provider.add_log_record_processor(SimpleLogRecordProcessor(official.logs))
        context = trace.set_span_in_context(span)
        provider.get_logger("hooks").emit(ApiLogRecord(context=context, body="x"))
        provider.shutdown()
    ids = span.get_span_context()
    assert [(record.trace_id, record.span_id) for record in receiver.logs()] == [
        (f"{ids.trace_id:032x}", f"{ids.span_id:016x}")
    ]


def test_path_and_headers(exporters: tuple[Protocol, bool, Exporters], receiver: Receiver) -> None:
    protocol, compressed, official = exporters
    official.spans.export([])
    (request,) = receiver.requests()
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    assert request.protocol == protocol
    assert request.path == ("/v1/traces" if protocol == "http" else f"/{service}/Export")
    assert request.headers["x-tenant"] == "acme"
    if protocol == "http":
        assert request.headers.get("content-encoding") == ("gzip" if compressed else None)

"""The live check on what the OpenTelemetry SDK really exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hookspan.telemetry import semconv as names
from semconv import registry
from semconv.exported import LiveCheck

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.metrics import Meter

SIGNALS = registry.load()
POINT = {names.CREWAI_HOOK_POINT: names.CREWAI_HOOK_POINT_INPUT}


def spans_of(scope: str, name: str, **attributes: str | float) -> LiveCheck:
    """Return a check that was fed one span, whose attributes have `__` for a dot."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    dotted = {key.replace("__", "."): value for key, value in attributes.items()}
    provider.get_tracer(scope).start_span(name, attributes=dotted).end()
    check = LiveCheck(SIGNALS)
    check.spans(exporter.get_finished_spans())
    return check


def metrics_of(scope: str, record: Callable[[Meter], None]) -> LiveCheck:
    """Return a check that was fed what a function recorded."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    record(provider.get_meter(scope))
    check = LiveCheck(SIGNALS)
    check.metrics(reader.get_metrics_data())
    provider.shutdown()
    return check


def logs_of(scope: str, record: LogRecord) -> LiveCheck:
    """Return a check that was fed one log record."""
    exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK forgot "-> None"
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    provider.get_logger(scope).emit(record)
    check = LiveCheck(SIGNALS)
    check.logs(exporter.get_finished_logs())
    provider.shutdown()
    return check


def record_everything(meter: Meter) -> None:
    """Record each kind of instrument once, as declared."""
    aborts = names.METRIC_CREWAI_HOOK_ABORTS
    source = {**POINT, names.CREWAI_HOOK_ABORT_SOURCE: "guards.a"}
    meter.create_counter(aborts.name, aborts.unit, aborts.description).add(1, source)
    duration = names.METRIC_CREWAI_HOOK_DISPATCH_DURATION
    histogram = meter.create_histogram(
        duration.name, duration.unit, explicit_bucket_boundaries_advisory=duration.boundaries
    )
    histogram.record(0.5, {**POINT, names.CREWAI_HOOK_OUTCOME: "proceeded"})
    active = names.METRIC_CREWAI_HOOK_DISPATCH_ACTIVE
    meter.create_up_down_counter(active.name, active.unit).add(1, POINT)
    oldest = names.METRIC_CREWAI_HOOK_DISPATCH_OLDEST
    meter.create_gauge(oldest.name, oldest.unit).set(0.5, POINT)


def record_wrongly(meter: Meter) -> None:
    """Record each kind of instrument once, each with another fault."""
    meter.create_counter("crewai.hook.aborts", "1").add(
        1, {**POINT, "crewai.hook.abort.source": "a"}
    )
    meter.create_histogram("gen_ai.invoke_agent.duration", "s").record(
        1.0, {"crewai.execution.nested": False}
    )
    meter.create_up_down_counter("crewai.hook.dispatch.oldest", "s").add(1.0, POINT)
    meter.create_gauge("crewai.execution.active", "{execution}").set(1)


def test_metrics_as_declared() -> None:
    check = metrics_of("hookspan", record_everything)
    assert check.findings == []
    seen = {"crewai.hook.aborts", "crewai.hook.aborts: crewai.hook.point"}
    assert seen.isdisjoint(check.unseen())
    assert "crewai.hook.exceptions" in check.unseen()


def test_metrics_not_as_declared() -> None:
    default = [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0]
    default += [1000.0, 2500.0, 5000.0, 7500.0, 10000.0]
    declared = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
    assert metrics_of("hookspan", record_wrongly).findings == [
        "crewai.hook.aborts: unit is 1, not {abort}",
        f"gen_ai.invoke_agent.duration: boundaries is {default}, not {declared}",
        "crewai.hook.dispatch.oldest: instrument is updowncounter, not gauge",
        "crewai.execution.active: instrument is gauge, not updowncounter",
        "crewai.execution.active: crewai.execution.kind is missing",
    ]


def test_span_is_checked_and_remembered() -> None:
    check = spans_of("hookspan", "run_hooks input", crewai__hook__point="input")
    prefix = "run_hooks input: crewai.hook"
    assert check.findings == [
        f"{prefix}.{name} is missing" for name in ("count", "outcome", "duration", "chain")
    ]
    assert "hookspan.dispatch" not in check.unseen()
    assert "hookspan.dispatch: crewai.hook.point" not in check.unseen()
    assert "hookspan.dispatch: crewai.hook.count" in check.unseen()


def test_log_record_is_checked_and_remembered() -> None:
    wanted = {
        "crewai.hook.name": "a",
        "exception.type": "ValueError",
        "crewai.hook.effect": "raised",
    }
    record = LogRecord(
        event_name="crewai.hook.exception",
        severity_number=SeverityNumber.INFO,
        attributes={**POINT, **wanted},
    )
    check = logs_of("hookspan", record)
    assert check.findings == ["crewai.hook.exception: severity is INFO, not WARN or ERROR"]
    assert "crewai.hook.exception" not in check.unseen()
    assert "crewai.hook.effect=raised" not in check.unseen()
    assert "crewai.hook.effect=blocked" in check.unseen()


def test_other_scopes_are_not_looked_at() -> None:
    untouched = LiveCheck(SIGNALS).unseen()
    others = [
        spans_of("httpx", "GET", http__status=200),
        metrics_of("httpx", record_wrongly),
        logs_of("httpx", LogRecord(event_name="other", severity_number=SeverityNumber.INFO)),
    ]
    assert [(check.findings, check.unseen()) for check in others] == [([], untouched)] * 3


def test_nothing_collected_is_nothing_found() -> None:
    check = LiveCheck(SIGNALS)
    check.metrics(None)
    assert check.findings == []


def test_unseen_lists_signals_their_attributes_and_closed_values() -> None:
    unseen = LiveCheck(SIGNALS).unseen()
    assert unseen == sorted(set(unseen))
    assert {
        "hookspan.execution",
        "hookspan.execution: crewai.execution.kind",
        "crewai.execution.kind=runtime",
        "hookspan.errors",
        "exception: exception.message",
    } <= set(unseen)
    assert [item for item in unseen if item.startswith(("crewai.hook.point=", "error.type="))] == []

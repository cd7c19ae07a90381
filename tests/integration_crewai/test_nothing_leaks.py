"""No content leaves by default; switched on, each piece leaves at its one place, redacted."""

from __future__ import annotations

import io
import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import hookspan
from hookspan import InterceptionPoint
from tests.integration_crewai import canary
from tests.integration_crewai.canary import MARKS, MESSAGE, NEVER, PAYLOAD, REASON, redact
from tests.kit.exporters import exporters_to
from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - a fixture of this file
from tests.kit.receiver import Receiver

MARK = re.compile(r"zz(\w+?)zz")
REDACTED = re.compile(r"<(\w+?)>")
PLACES = {
    "crewai.hook.payload.content": PAYLOAD,
    "crewai.hook.abort.reason": REASON,
    "exception.message": MESSAGE,
}
EVERYTHING: dict[str, Any] = {
    "capture_abort_reason": True,
    "capture_exception_message": True,
    "capture_content": "span_and_event",
    "redactor": redact,
    "hook_spans": "always",
}


@pytest.fixture
def logged() -> Generator[io.StringIO]:
    """What hookspan's own loggers write, with tracebacks."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root = logging.getLogger("hookspan")
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.INFO)
    yield stream
    root.setLevel(before)
    root.removeHandler(handler)


def run_everything(receiver: Receiver, *, with_logs: bool = True, **settings: Any) -> None:
    """Run all that there is while everything is sent to a receiver."""
    MARKS.clear()
    with exporters_to(receiver, "http") as exporters:
        traces = TracerProvider(shutdown_on_exit=False)
        traces.add_span_processor(BatchSpanProcessor(exporters.spans, max_queue_size=20_000))
        reader = PeriodicExportingMetricReader(exporters.metrics, export_interval_millis=60_000)
        meters = MeterProvider([reader], shutdown_on_exit=False)
        logs = LoggerProvider(shutdown_on_exit=False)
        logs.add_log_record_processor(BatchLogRecordProcessor(exporters.logs, 60_000))
        hookspan.instrument(
            tracer_provider=traces,
            meter_provider=meters,
            logger_provider=logs if with_logs else None,
            **settings,
        )
        for _ in canary.run_all():
            assert logs.force_flush()
        for provider in (traces, meters, logs):
            assert provider.force_flush()
        hookspan.uninstrument()
        traces.shutdown()
        meters.shutdown()
        logs.shutdown()


def raw(receiver: Receiver) -> dict[str, bytes]:
    """Return all bytes that arrived, by path."""
    arrived: defaultdict[str, bytes] = defaultdict(bytes)
    for request in receiver.requests():
        assert request.accepted
        assert request.message is not None
        head = json.dumps(dict(request.headers)).encode()
        arrived[request.path] += head + request.message.SerializeToString()
    return dict(arrived)


def test_nothing_leaks_by_default(
    receiver: Receiver, switched_off: None, logged: io.StringIO
) -> None:
    run_everything(receiver, capture_abort_reason=False)
    arrived = raw(receiver)
    assert {*arrived} == {"/v1/traces", "/v1/metrics", "/v1/logs"}
    assert all(len(data) > 10_000 for data in arrived.values())
    found = {path: MARK.findall(data.decode("latin-1")) for path, data in arrived.items()}
    assert found == {"/v1/traces": [], "/v1/metrics": [], "/v1/logs": []}
    assert MARK.findall(logged.getvalue()) == []
    print(f"{len(MARKS)} marks:", ", ".join(sorted(MARKS)))  # noqa: T201 - what was checked


def test_nothing_leaks_into_our_own_loggers(
    receiver: Receiver, switched_off: None, logged: io.StringIO
) -> None:
    run_everything(receiver, with_logs=False, capture_abort_reason=False)
    text = logged.getvalue()
    assert "crewai.hook.aborted" in text
    assert "crewai.hook.exception" in text
    assert "crewai.execution.exception" in text
    assert MARK.findall(text) == []


def texts(receiver: Receiver) -> Iterator[tuple[str, str, str]]:
    """Return signal, key and text of everything that arrived, attributes one by one."""
    for span in receiver.spans():
        yield "name of a span", "", span.name
        yield "status", "", span.status_description
        yield from attributes_of("span", span.attributes)
        for event in span.events:
            yield "name of an event", "", event.name
            yield from attributes_of("event", event.attributes)
        yield from attributes_of("resource", span.scope.resource)
    for record in receiver.logs():
        yield "name of a record", "", record.event_name
        yield "body", "", str(record.body)
        yield from attributes_of("record", record.attributes)
        yield from attributes_of("resource", record.scope.resource)


def attributes_of(signal: str, attributes: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key, value in attributes.items():
        yield signal, key, f"{key} {value}"
        if key in PLACES:
            assert len(str(value).encode()) <= 1024


ALLOWED = {
    ("span", "crewai.hook.payload.content"),
    ("span", "crewai.hook.abort.reason"),
    ("event", "exception.message"),
    ("record", "crewai.hook.payload.content"),
    ("record", "crewai.hook.abort.reason"),
    ("record", "exception.message"),
}


def test_each_leaves_at_its_one_place_when_switched_on(
    receiver: Receiver, switched_off: None, logged: io.StringIO
) -> None:
    run_everything(receiver, **EVERYTHING)
    arrived = raw(receiver)
    assert [MARK.findall(data.decode("latin-1")) for data in arrived.values()] == [[]] * 3
    assert not any(f"<{place}>".encode() in arrived["/v1/metrics"] for place in MARKS)
    assert MARK.findall(logged.getvalue()) == []

    seen: defaultdict[str, set[str]] = defaultdict(set)
    misplaced: set[tuple[str, str, str]] = set()
    for signal, key, text in texts(receiver):
        for place in REDACTED.findall(text):
            if place not in MARKS:
                continue
            seen[place].add(PLACES.get(key, key))
            if (signal, key) not in ALLOWED:
                misplaced.add((signal, key, place))
    assert misplaced == set()
    assert dict(seen) == {place: {kind} for place, kind in MARKS.items() if kind != NEVER}


def without(**off: Any) -> dict[str, Any]:
    return {**EVERYTHING, **off}


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        (without(capture_abort_reason=False), {PAYLOAD, MESSAGE}),
        (without(capture_exception_message=False), {PAYLOAD, REASON}),
        (without(capture_content="no_content"), {REASON, MESSAGE}),
        (without(capture_content="span_only", content_points=["input"]), None),
    ],
)
def test_each_switch_by_itself(
    receiver: Receiver,
    switched_off: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    kinds: set[str] | None,
) -> None:
    only_the_input: Callable[[], Any] = canary.RUNS[0]
    monkeypatch.setattr(canary, "RUNS", (only_the_input,))
    monkeypatch.setattr(canary, "NATIVE", [InterceptionPoint.INPUT])
    run_everything(receiver, **settings)
    found = [
        (signal, key, place)
        for signal, key, text in texts(receiver)
        for place in REDACTED.findall(text)
        if place in MARKS
    ]
    if kinds is not None:
        assert {MARKS[place] for _, _, place in found} == kinds
        return
    payloads = [(signal, place) for signal, _, place in found if MARKS[place] == PAYLOAD]
    assert {signal for signal, _ in payloads} == {"span"}
    assert {place for _, place in payloads} == {
        "input_value",
        "input_key",
        "made_at_input",
        "input_value_of_copy",
    }


def test_standard_variable_switches_content_on(
    receiver: Receiver, switched_off: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY")
    monkeypatch.setattr(canary, "NATIVE", [InterceptionPoint.INPUT])
    run_everything(receiver, redactor=redact)
    found = {
        signal
        for signal, key, text in texts(receiver)
        if key == "crewai.hook.payload.content" and REDACTED.findall(text)
    }
    assert found == {"record"}

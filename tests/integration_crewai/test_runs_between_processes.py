"""A run in several processes: one trace where the context is carried, a link where it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry import baggage, propagate
from opentelemetry.context import Context

from tests.integration_crewai.processes import Program, run_all
from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - a fixture
from tests.kit.memory import Memory
from tests.kit.receiver import Receiver
from tests.kit.signals import Span


def carried(memory: Memory, receiver: Receiver) -> tuple[str, dict[str, str]]:
    """Return the trace of a request, and the environment that carries it to a process."""
    carrier: dict[str, str] = {}
    with memory.tracer_provider.get_tracer("app").start_as_current_span("request") as span:
        propagate.inject(carrier)
        propagate.inject(carrier, baggage.set_baggage("tenant", "acme"))
        trace_id = f"{span.get_span_context().trace_id:032x}"
    environment = {name.upper(): value for name, value in carrier.items()}
    return trace_id, {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint_http, **environment}


def said(span: Span) -> tuple[Any, ...]:
    """Return outcome, what closed it, and status of a run."""
    names = ("outcome", "closed_by")
    return (*(span.attributes[f"crewai.execution.{name}"] for name in names), span.status)


@pytest.mark.timeout(100)
def test_flow_pauses_in_one_process_and_goes_on_in_another(
    memory: Memory, receiver: Receiver, tmp_path: Path
) -> None:
    first, one = carried(memory, receiver)
    (paused,) = run_all(Program("carried_on", ("pause", str(tmp_path)), one))
    flow_id = paused.out.splitlines()[-1]
    second, other = carried(memory, receiver)
    (resumed,) = run_all(Program("carried_on", ("resume", str(tmp_path), flow_id), other))
    assert (paused.code, resumed.code) == (0, 0), resumed.err
    assert resumed.out.splitlines()[-1] == "draft published: fine for acme"

    receiver.wait_for(spans=3)
    spans = sorted(receiver.spans(), key=lambda span: span.start_ns)
    before, after, left = spans
    assert [before.trace_id, after.trace_id] == [first, second]
    assert said(before) == ("paused", "frame", "UNSET")
    assert said(after) == ("completed", "frame", "UNSET")
    assert said(left) == ("interrupted", "shutdown", "UNSET")
    assert [(link.trace_id, link.span_id) for link in after.links] == [(first, before.span_id)]
    for shared in ("crewai.flow.id", "crewai.execution_uuid"):
        assert before.attributes[shared] == after.attributes[shared]
    ends = {
        (point.attributes["crewai.execution.outcome"], point.value)
        for point in receiver.metrics("crewai.executions")
    }
    assert sorted(ends) == [("completed", 1), ("interrupted", 1), ("paused", 1)]


def test_nothing_is_made_up_where_a_context_names_no_span() -> None:
    assert propagate.extract({"traceparent": "00-0-0-00"}, Context()) == {}

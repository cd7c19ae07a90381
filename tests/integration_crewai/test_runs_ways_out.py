"""Whatever ends a run: one span, the truth about it, the caller's context, and nothing retained."""

from __future__ import annotations

import gc
import logging
import weakref
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from textwrap import dedent
from typing import Any

import pytest
from crewai.events.event_bus import crewai_event_bus
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach, get_current

from hookspan.telemetry.execution_span import ExecutionRecord
from hookspan.telemetry.recorder import LIVE
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.runs import Situation, watch
from tests.integration_crewai.runs_aborts import ABORTS
from tests.integration_crewai.runs_ends import ENDS
from tests.integration_crewai.runs_interrupts import INTERRUPTS
from tests.integration_crewai.runs_parts import PARTS
from tests.integration_crewai.seen_runs import runs_of, tree_text
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

Opened = list["weakref.ref[ExecutionRecord]"]


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let crewAI start its threads: those keep the context of whoever came first."""
    kickoff(crews.simple_crew())


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Every run that was opened, held weakly."""
    runs: Opened = []
    enter = ExecutionRecord.enter

    def noted(record: ExecutionRecord) -> Any:
        runs.append(weakref.ref(record))
        return enter(record)

    monkeypatch.setattr(ExecutionRecord, "enter", noted)
    return runs


def outcome(run: Callable[[], Any]) -> str:
    """Return what the caller gets as text, and let go of it."""
    try:
        return str(run())
    except BaseException as error:  # noqa: BLE001 - a run may raise an interrupt
        said = repr(error)
        _let_go(error)
        return said


def _let_go(error: BaseException | None) -> None:
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "situation", [*ENDS, *ABORTS, *INTERRUPTS, *PARTS], ids=lambda situation: situation.identifier
)
def test_way_out(
    instrumented: Memory, opened: Opened, caplog: pytest.LogCaptureFixture, situation: Situation
) -> None:
    for point in situation.watched:
        DISPATCH.register(DISPATCH.InterceptionPoint(point), watch)
    for point, hook in situation.hooks.items():
        DISPATCH.register(DISPATCH.InterceptionPoint(point), hook)
    with caplog.at_level(logging.WARNING, "opentelemetry"):
        # In a context of its own: crewAI leaves variables behind that the next run would read.
        copy_context().run(_check_caller, situation)
    assert crewai_event_bus.flush()

    seen = tree_text(instrumented, concurrent=situation.concurrent)
    assert seen == dedent(situation.tree).strip()
    _check_metrics(instrumented)
    assert [record.message for record in caplog.records if "etach" in record.message] == []
    assert LIVE.executions() == []
    assert len(opened) == len(runs_of(instrumented))
    instrumented.forget_logs()
    gc.collect()
    assert [run() for run in opened if run() is not None] == []


def _check_caller(situation: Situation) -> None:
    """Check what the caller gets, and that all that is current is as it was."""
    token = attach(baggage.set_baggage("tenant", "acme"))
    before = get_current()
    assert outcome(situation.run) == situation.caller
    assert get_current() is before
    assert baggage.get_all() == {"tenant": "acme"}
    assert not trace.get_current_span().is_recording()
    detach(token)


def _check_metrics(memory: Memory) -> None:
    """Check that the metrics say of the runs what the spans say."""
    runs = [node.attributes for node in runs_of(memory)]
    assert {run["crewai.execution.closed_by"] for run in runs} <= {"frame"}
    labels = ("kind", "outcome", "denied", "nested")
    names = [f"crewai.execution.{label}" for label in labels]
    counted: Counter[tuple[Any, ...]] = Counter()
    for key, value in memory.points("crewai.executions").items():
        counted[tuple(dict(key)[name] for name in names)] += value
    assert counted == Counter(tuple(run[name] for name in names) for run in runs)
    durations = [
        memory.points(f"gen_ai.invoke_{what}.duration").values() for what in ("workflow", "agent")
    ]
    assert sum(map(sum, durations)) == len(runs)
    assert set(memory.points("crewai.execution.active").values()) <= {0}
    assert set(memory.points("crewai.hook.dispatch.active").values()) <= {0}

"""A run that is still open when telemetry ends is told as cut off, once, and goes on untouched."""

from __future__ import annotations

from typing import Any

from opentelemetry.context import get_current

from hookspan.telemetry.recorder import LIVE, cut_off_executions
from tests.integration_crewai import flows
from tests.integration_crewai.seen_runs import runs_of
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, key


def test_cut_off_in_the_middle(instrumented: Memory) -> None:
    def cut_off(ctx: Any) -> None:
        if len(LIVE.executions()) == 2:
            cut_off_executions()

    DISPATCH.register(DISPATCH.InterceptionPoint.PRE_MODEL_CALL, cut_off)
    before = get_current()
    assert flows.flow(flows.OfCrew).kickoff() == "about tides"
    assert get_current() is before
    names = ("kind", "outcome", "closed_by", "nested")
    assert [
        tuple(run.attributes[f"crewai.execution.{name}"] for name in names)
        for run in runs_of(instrumented)
    ] == [("flow", "interrupted", "shutdown", False), ("crew", "interrupted", "shutdown", True)]
    assert [run.status for run in runs_of(instrumented)] == ["UNSET", "UNSET"]
    assert sum(instrumented.points("crewai.executions").values()) == 2
    assert instrumented.points("crewai.execution.active") == {
        key(crewai__execution__kind="crew"): 0,
        key(crewai__execution__kind="flow"): 0,
    }
    assert LIVE.executions() == []

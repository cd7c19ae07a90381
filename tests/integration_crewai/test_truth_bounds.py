"""However many reasons, sources, names and tools a process meets, the series have a bound."""

from __future__ import annotations

from typing import Any, cast

import crewai.hooks as crewai_hooks
from crewai.hooks.tool_hooks import run_before_tool_call_hooks

import hookspan
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.registering import on
from tests.integration_crewai.scripted import final
from tests.integration_crewai.seen import total
from tests.kit.memory import Memory


def test_series_are_bounded_whatever_aborts_say(instrumented: Memory) -> None:  # C25, G
    numbers = iter(range(5000))

    @on("pre_tool_call")
    def guard(ctx: Any) -> None:
        number = next(numbers)
        reason = f"denied user {number}"
        raise crewai_hooks.HookAborted(reason, f"source {number % 300}")

    blocked, context = 0, cast("Any", crewai_hooks.ToolCallHookContext)
    for number in range(5000):
        ctx = context(f"tool_{number}", {}, tool=None)
        blocked += run_before_tool_call_hooks(ctx)
    assert blocked == 5000

    aborts = instrumented.points("crewai.hook.aborts")
    labels = [dict(at)["crewai.hook.abort.source"] for at in aborts]
    assert sum(aborts.values()) == 5000
    assert len(aborts) == 65
    assert {*labels} == {*(f"source {number}" for number in range(64)), "_OTHER"}
    kept = [value for at, value in aborts.items() if "_OTHER" not in dict(at).values()]
    assert all(value in {16, 17} for value in kept)
    assert total(instrumented, "crewai.hook.dispatches", crewai__hook__outcome="aborted") == 5000
    for metric in ("dispatches", "dispatch.duration", "invocations", "invocation.duration"):
        assert len(instrumented.points(f"crewai.hook.{metric}")) == 1
    reasons = {node.attributes["crewai.hook.abort.reason"] for node in instrumented.trees()}
    assert len(reasons) == 5000
    assert len(instrumented.events()) == 5000


def test_names_of_crews_are_bounded_too(memory: Memory, switched_off: None) -> None:  # G
    hookspan.instrument(**memory.providers, max_workflow_names=2, max_hook_names=2)

    for number in range(4):

        @on("post_model_call")
        def passes(ctx: Any) -> None:
            pass

        passes.__qualname__ = f"passes_{number}"
        kickoff(crews.simple_crew(name=f"crew {number}", script=lambda call: final("a")))
    runs = memory.points("crewai.executions")
    names = {dict(at)["gen_ai.workflow.name"]: value for at, value in runs.items()}
    assert names == {"crew 0": 1, "crew 1": 1, "_OTHER": 2}
    dispatched = {
        dict(at)["gen_ai.workflow.name"]: value
        for at, value in memory.points("crewai.hook.dispatches").items()
        if value
    }
    assert dispatched == {"crew 0": 1, "crew 1": 1, "_OTHER": 2}
    hooks: dict[str, int] = {}
    for at, value in memory.points("crewai.hook.invocations").items():
        hooks[dict(at)["crewai.hook.name"].rpartition(".")[2]] = value
    assert hooks == {"passes_0": 4, "passes_1": 3, "_OTHER": 3}

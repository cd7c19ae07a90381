"""How many model and tool calls there were, beside how many of them a hook was asked about."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import crewai.hooks as crewai_hooks
import pytest
from crewai import Crew
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMCallStartedEvent
from crewai.events.types.tool_usage_events import ToolUsageStartedEvent

import hookspan
from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.registering import POINT, on
from tests.integration_crewai.scripted import ScriptedLLM
from tests.integration_crewai.seen import total
from tests.kit.memory import Memory, key

BUS: Any = crewai_event_bus


def operations(memory: Memory) -> tuple[float, float]:
    """Return how many model calls and tool calls were counted."""
    assert BUS.flush(timeout=10)
    found = memory.points("crewai.operations")
    points = ("pre_model_call", "pre_tool_call")
    assert {dict(at)["crewai.hook.point"] for at in found} <= {*points}
    model, tool = (found.get(key(crewai__hook__point=point), 0) for point in points)
    return model, tool


def asked(memory: Memory) -> tuple[float, float]:
    """Return how many dispatches there were before model calls and before tool calls."""
    model, tool = (
        total(memory, "crewai.hook.dispatches", crewai__hook__point=point)
        for point in ("pre_model_call", "pre_tool_call")
    )
    return model, tool


def passes(ctx: Any) -> None:
    """Let everything through."""


def blocks(ctx: Any) -> None:
    reason = "no"
    raise crewai_hooks.HookAborted(reason)


@pytest.mark.parametrize(
    ("build", "tools"),
    [
        (crews.simple_crew, 0),
        (crews.tool_crew, 2),
        (crews.native_tool_crew, 2),
        (crews.parallel_tools_crew, 2),
        (crews.hierarchical_crew, 1),
        (crews.async_tasks_crew, 0),
    ],
)
def test_every_call_is_counted(instrumented: Memory, build: Callable[[], Crew], tools: int) -> None:
    for point in (POINT.PRE_MODEL_CALL, POINT.PRE_TOOL_CALL):
        on(point)(passes)
    crew = build()
    kickoff(crew)
    models = {id(calls): calls for calls in map(calls_of, crew.agents)}
    happened = sum(map(len, models.values()))
    assert operations(instrumented) == asked(instrumented) == (happened, tools)


def calls_of(agent: Any) -> list[Any]:
    """Return the record of an agent's model; copies of a model share it."""
    calls: list[Any] = agent.llm._calls
    return calls


def test_calls_that_nobody_was_asked_about(instrumented: Memory) -> None:
    crew = crews.native_tool_crew()
    kickoff(crew)
    assert operations(instrumented) == (len(llm_of(crew).calls), 2) == (3, 2)
    assert asked(instrumented) == (0, 0)


def test_model_called_directly(instrumented: Memory) -> None:
    on("pre_model_call")(passes)
    ScriptedLLM(["hello"]).call("hi")
    assert operations(instrumented) == asked(instrumented) == (1, 0)


def test_calls_of_nested_runs(instrumented: Memory) -> None:
    flows.flow(flows.OfFlowCrewAndAgent).kickoff()
    assert operations(instrumented) == (2, 0)


@pytest.mark.parametrize("native", [True, False])
def test_blocked_tool_calls(instrumented: Memory, native: bool) -> None:
    on("pre_tool_call")(blocks)
    crew = crews.native_tool_crew() if native else crews.tool_crew()
    kickoff(crew)
    assert "Brest: high" not in llm_of(crew).calls[-1].prompt
    assert asked(instrumented) == (0, 2)
    # Called natively, crewAI says that it has begun before it asks; in the text protocol after.
    assert operations(instrumented) == (3, 2 if native else 0)


def test_blocked_model_calls(instrumented: Memory) -> None:
    on("pre_model_call")(blocks)
    with pytest.raises(crewai_hooks.HookAborted):
        kickoff(crews.simple_crew())
    assert (operations(instrumented), asked(instrumented)) == ((0, 0), (1, 0))
    llm = ScriptedLLM(["hello"])
    with pytest.raises(crewai_hooks.HookAborted):
        llm.call("hi")
    assert llm.calls == ()
    # The providers of crewAI say that they have begun before they ask.
    assert (operations(instrumented), asked(instrumented)) == ((1, 0), (2, 0))


def handlers() -> dict[type, Any]:
    """Return crewAI's handlers of the two events."""
    assert BUS.flush(timeout=10)
    return {
        event: list(BUS._sync_handlers.get(event, ()))
        for event in (LLMCallStartedEvent, ToolUsageStartedEvent)
    }


def test_bus_is_as_before(memory: Memory, switched_off: None) -> None:
    before = handlers()
    for _ in range(2):
        hookspan.instrument(**memory.providers)
        assert [len(held) - len(before[event]) for event, held in handlers().items()] == [1, 1]
        hookspan.uninstrument()
        assert handlers() == before
    kickoff(crews.native_tool_crew())
    assert operations(memory) == (0, 0)


def test_calls_of_other_threads(instrumented: Memory) -> None:
    threads = [threading.Thread(target=lambda: ScriptedLLM(["hello"]).call("hi")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert operations(instrumented) == (8, 0)

"""TOOL_SELECTION: what an agent may use is what the hooks leave, once per offer."""

from __future__ import annotations

from typing import Any

import pytest
from crewai import Crew

from hookspan import InterceptionPoint, ToolSelectionContext
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import Asked, deny, is_denied, outcome, told
from tests.integration_crewai.scripted import ScriptedLLM
from tests.kit.memory import Memory

POINT = InterceptionPoint.TOOL_SELECTION
BOTH = ["lookup", "measure"]


def crew_of_two_tools(tasks: int = 1) -> Crew:
    return crews.simple_crew(
        tasks,
        script=[f"done {number}" for number in range(tasks)],
        tools=[crews.lookup, crews.measure],
        native=True,
    )


def names(tools: list[Any]) -> list[str]:
    return [tool.name for tool in tools]


def without_lookup(ctx: Any) -> Any:
    return [tool for tool in ctx.payload if tool.name != "lookup"]


def drop_lookup(ctx: Any) -> None:
    ctx.tools[:] = without_lookup(ctx)


RUNS = {"sync": crews.kickoff, "async": crews.akickoff}


@pytest.mark.parametrize("run", RUNS)
def test_is_asked_once_for_each_task(instrumented: Memory, run: str) -> None:
    asked, crew = Asked(POINT), crew_of_two_tools(2)
    assert str(outcome(lambda: RUNS[run](crew))) == "done 1"
    assert [names(tools) for tools in asked.payloads] == [BOTH, BOTH]
    assert [(ctx.task, ctx.agent, ctx.agent_role, ctx.crew, ctx.flow) for ctx in asked] == [
        (task, crew.agents[0], "Researcher", crew, None) for task in crew.tasks
    ]
    assert all(type(ctx) is ToolSelectionContext for ctx in asked)
    assert [call.tools for call in crews.llm_of(crew).calls] == [("lookup", "measure")] * 2
    assert told(instrumented, POINT) == [("proceeded", "continued")] * 2


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("hook", [without_lookup, drop_lookup])
def test_a_tool_that_is_taken_out_is_not_offered(instrumented: Memory, hook: Any, run: str) -> None:
    Asked(POINT, hook)
    crew = crew_of_two_tools()
    outcome(lambda: RUNS[run](crew))
    assert [call.tools for call in crews.llm_of(crew).calls] == [("measure",)]
    assert names(crew.agents[0].tools or []) == BOTH
    assert told(instrumented, POINT) == [("modified", "replaced")]


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_leaves_the_run(instrumented: Memory, run: str) -> None:
    Asked(POINT, deny())
    crew = crew_of_two_tools()
    assert is_denied(outcome(lambda: RUNS[run](crew)))
    assert crews.llm_of(crew).calls == ()
    assert told(instrumented, POINT) == [("aborted", "raised")]


def test_an_agent_by_itself_is_asked_once(instrumented: Memory) -> None:
    asked, llm = Asked(POINT, without_lookup), ScriptedLLM(["alone"], native=True)
    agent = crews.agent(llm, tools=[crews.lookup, crews.measure])
    assert crews.ask(agent) == "alone"
    assert [names(tools) for tools in asked.payloads] == [BOTH]
    assert (asked[0].agent, asked[0].task, asked[0].crew) == (agent, None, None)
    assert [call.tools for call in llm.calls] == [("measure",)]

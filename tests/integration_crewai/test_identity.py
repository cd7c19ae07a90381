"""Every dispatch hangs under its run and says what it is about, in names that the code gives."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from crewai.flow.flow import Flow, start
from crewai.tools import tool

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.scenarios import SCENARIOS, outcome
from tests.integration_crewai.scripted import ScriptedLLM, final, use_tool
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, Node

Names = tuple[str, list[Any]]

TEXT = ("tides", "winds", "stars", "Brest", "Hull", "answer", "down", "fine", "do task", "think")
AGENT = "gen_ai.agent.name"
RUN_KEYS = (
    "crewai.crew.id",
    "crewai.crew.key",
    "crewai.crew.name",
    "crewai.execution.kind",
    "crewai.flow.id",
    "crewai.flow.name",
    "gen_ai.workflow.name",
)
METRICS = (
    "crewai.executions",
    "crewai.hook.dispatches",
    "gen_ai.invoke_agent.duration",
    "gen_ai.invoke_workflow.duration",
)
ROLES = {"Researcher", "Worker", "Worker 0", "Worker 1", "Worker 2", "Crew Manager", "Solo"}
BOUNDARY = {"execution_start", "input", "output", "execution_end"}
MODEL = Counter(["pre_model_call", "post_model_call"])


def watch(ctx: Any) -> None:
    """Change nothing."""


@pytest.fixture
def watched(instrumented: Memory) -> Memory:
    """Have a hook at each of the ten points."""
    for point in DISPATCH.InterceptionPoint:
        DISPATCH.register(point, watch)
    return instrumented


def dispatches(node: Node, *runs: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield each dispatch with the runs that it is in, the innermost one last."""
    if node.name.startswith("run_hooks"):
        yield node, runs
    inside = runs if node.name.startswith("run_hooks") else (*runs, node)
    for child in node.children:
        yield from dispatches(child, *inside)


def faults(dispatch: Node, runs: tuple[Node, ...]) -> list[str]:
    """Tell what a dispatch says wrongly of where it is."""
    own, run = dispatch.attributes, runs[-1].attributes
    point, kind = own["crewai.hook.point"], run["crewai.execution.kind"]
    found = [key for key in RUN_KEYS if key in run and own.get(key) != run[key]]
    in_crew = kind == "crew" and point not in BOUNDARY
    expected = {
        AGENT: in_crew or kind == "agent",
        "crewai.task.name": in_crew,
        "crewai.task.id": in_crew,
        "crewai.step.name": point.endswith("_step"),
        "crewai.step.kind": point.endswith("_step"),
        "gen_ai.tool.name": point.endswith("_tool_call"),
        "gen_ai.request.model": point.endswith("_model_call"),
        "crewai.execution.status": point == "execution_end",
        "crewai.execution_uuid": True,
    }
    found += [key for key, there in expected.items() if (key in own) != there]
    if own.get(AGENT, "Solo") not in ROLES:
        found.append(AGENT)
    return [f"{dispatch.name}: {key}" for key in found]


STEPS = Counter(["pre_step", "post_step"])
CREW_OF_ONE = Counter(BOUNDARY) + STEPS + MODEL
TOOL_CALL = Counter(["pre_tool_call", "post_tool_call"])
COUNTS: dict[str, list[Counter[str]]] = {
    "crew": [CREW_OF_ONE + STEPS + MODEL],
    "crew, akickoff": [CREW_OF_ONE + STEPS + MODEL],
    "crew, for each": [CREW_OF_ONE] * 3,
    "crew, streaming": [CREW_OF_ONE],
    "crews, two akickoffs": [CREW_OF_ONE] * 2,
    "async tasks": [CREW_OF_ONE + STEPS + STEPS + MODEL + MODEL],
    "async tasks, akickoff": [CREW_OF_ONE + STEPS + STEPS + MODEL + MODEL],
    # An answer that calls tools has no dispatch after the call of the model.
    "hierarchical": [CREW_OF_ONE + MODEL + Counter(["pre_model_call"]) + TOOL_CALL],
    "tools": [CREW_OF_ONE + MODEL + MODEL + TOOL_CALL + TOOL_CALL],
    "native tools": [CREW_OF_ONE + Counter(["pre_model_call"] * 2) + TOOL_CALL + TOOL_CALL],
    "parallel tools": [CREW_OF_ONE + Counter(["pre_model_call"]) + TOOL_CALL + TOOL_CALL],
    "failing": [
        Counter(["execution_start", "input", "pre_step", "pre_model_call", "execution_end"])
    ],
    "interrupted": [Counter(["execution_start", "input", "pre_step", "pre_model_call"])],
    "agent": [Counter(BOUNDARY) + MODEL],
    "flow": [Counter(BOUNDARY) + STEPS + STEPS],
    "flow of crew": [Counter(BOUNDARY) + STEPS, CREW_OF_ONE],
    "flow of failing crew": [
        Counter(BOUNDARY) + STEPS + STEPS,
        Counter(["execution_start", "input", "pre_step", "pre_model_call", "execution_end"]),
    ],
    "flow of flow, crew and agent": [
        Counter(BOUNDARY) + STEPS + STEPS + STEPS,
        Counter(BOUNDARY) + STEPS + STEPS,
        CREW_OF_ONE,
        MODEL,
    ],
    "flow, failing": [Counter(["execution_start", "input", "pre_step", "execution_end"])],
    "flow, paused and resumed": [
        Counter(["execution_start", "input", "pre_step"]),
        Counter(["output", "execution_end"]) + STEPS,
    ],
}


NAMELESS = {
    # The task that a manager hands to a worker has no name.
    "hierarchical": [f"run_hooks {point}: crewai.task.name" for point in MODEL],
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_dispatch_is_in_its_run_and_says_so(watched: Memory, name: str) -> None:
    run, expected = SCENARIOS[name]
    assert outcome(run) == expected
    found = [pair for root in watched.trees() for pair in dispatches(root)]
    assert [one for pair in found for one in faults(*pair)] == NAMELESS.get(name, [])
    by_run: dict[int, Counter[str]] = {}
    for dispatch, runs in found:
        counts = by_run.setdefault(id(runs[-1]), Counter())
        counts[dispatch.attributes["crewai.hook.point"]] += 1
    assert list(by_run.values()) == COUNTS[name]
    assert len(watched.spans()) == len(found) + len(by_run)  # no run beside those
    written = said(watched)
    assert [text for text in TEXT if text in written] == []


def said(memory: Memory) -> str:
    """Return all that is on any signal, as one text."""
    spans = [(span.name, dict(span.attributes or {})) for span in memory.spans()]
    return repr([spans, [memory.points(metric) for metric in METRICS], memory.events()])


@tool("ask")
def ask(city: str) -> str:
    """Ask an agent by itself."""
    return crews.ask(crews.solo_agent())


class Inner(Flow[dict[str, Any]]):
    """Runs a crew whose tool kicks an agent off."""

    @start()
    def research(self) -> str:
        """Run the crew."""
        answers = [use_tool("ask", city="Brest"), final("asked")]
        return str(kickoff(crews.simple_crew(script=answers, tools=[ask])))


class Outer(Flow[dict[str, Any]]):
    """Runs the inner flow."""

    @start()
    def delegate(self) -> str:
        """Run the flow."""
        return str(flows.flow(Inner).kickoff())


def test_flow_in_flow_of_crew_of_agent(instrumented: Memory) -> None:
    DISPATCH.register(DISPATCH.InterceptionPoint.POST_MODEL_CALL, watch)
    assert flows.flow(Outer).kickoff() == "asked"
    (outer,) = instrumented.trees()
    hooks: Names = ("run_hooks post_model_call", [])
    agent: Names = ("invoke_agent Solo", [hooks])
    crew: Names = ("invoke_workflow research", [hooks, agent, hooks])
    assert outer.names() == ("invoke_workflow Outer", [("invoke_workflow Inner", [crew])])
    said = [
        tuple(dispatch.attributes.get(key) for key in (*RUN_KEYS[2:4], *RUN_KEYS[5:], AGENT))
        for dispatch, _ in dispatches(outer)
    ]
    in_crew = ("research", "crew", "Inner", "research", "Researcher")
    assert said == [in_crew, ("research", "agent", "Inner", "research", "Solo"), in_crew]


@tool("nest")
def nest(city: str) -> str:
    """Run a crew without a name."""
    return str(kickoff(crews.echo_crew(name=None)))


def test_a_crew_without_a_name_is_not_called_as_the_one_around_it(instrumented: Memory) -> None:
    DISPATCH.register(DISPATCH.InterceptionPoint.EXECUTION_START, watch)
    kickoff(crews.simple_crew(script=[use_tool("nest", city="x"), final("ok")], tools=[nest]))
    (outer,) = instrumented.trees()
    _, inner = outer.children
    (start_of_inner,) = inner.children
    assert inner.name == "invoke_workflow"
    assert "crewai.crew.name" not in start_of_inner.attributes
    ids = [node.attributes["crewai.crew.id"] for node in (outer, inner, start_of_inner)]
    assert ids[0] != ids[1] == ids[2]


def test_a_crew_that_an_agent_runs_is_not_the_agents(instrumented: Memory) -> None:
    DISPATCH.register(DISPATCH.InterceptionPoint.EXECUTION_START, watch)
    llm = ScriptedLLM([use_tool("nest", city="x"), final("ok")])
    crews.ask(crews.agent(llm, "Solo", tools=[nest]))
    (agent,) = instrumented.trees()
    of_agent, crew = agent.children
    assert of_agent.attributes[AGENT] == "Solo"
    assert AGENT not in crew.children[0].attributes


@pytest.mark.filterwarnings("ignore:LiteAgent is deprecated:FutureWarning")
def test_lite_agent(watched: Memory) -> None:
    module: Any = importlib.import_module("crewai.lite_agent")
    llm = ScriptedLLM([final("light")])
    lite = module.LiteAgent(role="Solo", goal="g", backstory="b", llm=llm)
    lite.kickoff("think")
    (run,) = watched.trees()
    hooks: list[Names] = [("run_hooks pre_model_call", []), ("run_hooks post_model_call", [])]
    assert run.names() == ("invoke_agent Solo", hooks)
    # crewAI gives it no identifier of an execution.
    assert [one for pair in dispatches(run) for one in faults(*pair)] == [
        f"{hook}: crewai.execution_uuid" for hook, _ in hooks
    ]

"""Which hook ran and which a filter kept out, for every way in which crewAI registers hooks."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest
from crewai import Agent, Crew, Task
from crewai.project import CrewBase
from crewai.project import agent as agent_method
from crewai.project import crew as crew_method
from crewai.project import task as task_method

import hookspan
from hookspan.engine.hooks import hook_name
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of, lookup
from tests.integration_crewai.registering import (
    POINT,
    after_llm_call,
    after_tool_call,
    before_llm_call,
    before_tool_call,
    on,
    typed,
)
from tests.integration_crewai.scripted import ScriptedLLM, tool_calls
from tests.integration_crewai.seen import chain, dispatches, invocations, only
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory


@pytest.fixture
def ran() -> list[str]:
    """What the bodies of hooks have noted: the run's own truth."""
    return []


def noting(ran: list[str], name: str) -> Callable[[Any], None]:
    """Return a hook of that name that notes that it ran."""

    def hook(ctx: Any) -> None:
        ran.append(name)

    hook.__name__ = hook.__qualname__ = name
    return hook


def register_filtered(ran: list[str]) -> None:
    """Register hooks with every kind of filter that lets the crew's one tool through, or not."""
    ways: dict[str, Callable[..., Callable[[Any], Any]]] = {
        "on": functools.partial(on, "pre_tool_call"),
        "legacy": before_tool_call,
    }
    for kind, decorate in ways.items():
        decorate(tools=["Look Up", "lookup"])(noting(ran, f"{kind}_tool_in"))
        decorate(tools=["delete"])(noting(ran, f"{kind}_tool_out"))
        decorate(agents=["Researcher"])(noting(ran, f"{kind}_agent_in"))
        decorate(agents=["Other"])(noting(ran, f"{kind}_agent_out"))
        decorate(tools=["lookup"], agents=["Other"])(noting(ran, f"{kind}_both_out"))
        decorate(tools=["lookup"], agents=["Researcher"])(noting(ran, f"{kind}_both_in"))


def kept_out(memory: Memory, point: str) -> tuple[list[str], list[str]]:
    """Return who ran and who was kept out, by the first dispatch of a point."""
    results = chain(dispatches(memory, point)[0].attributes)
    return (
        [name for name, result in results if result == "passed"],
        [name for name, result in results if result == "filtered"],
    )


@pytest.mark.parametrize("native", [True, False])
def test_filters_of_tools_and_agents(instrumented: Memory, ran: list[str], native: bool) -> None:
    register_filtered(ran)
    crew = crews.native_tool_crew() if native else crews.tool_crew()
    assert str(kickoff(crew)) == "both"
    passed, filtered = kept_out(instrumented, "pre_tool_call")
    assert passed * 2 == ran
    assert filtered == [name.replace("_in", "_out") for name in passed if "both_out" not in name]
    counted = invocations(instrumented)
    assert counted == {(name, "passed"): 2 for name in passed} | {
        (name, "filtered"): 2 for name in filtered
    }
    timed = instrumented.points("crewai.hook.invocation.duration")
    assert len(timed) == len(passed)  # a hook that was not called took no time


def test_one_function_with_two_filters(instrumented: Memory, ran: list[str]) -> None:
    both = noting(ran, "both")
    on("pre_tool_call", tools=["delete"])(both)
    on("pre_tool_call", agents=["Researcher"])(both)
    kickoff(crews.native_tool_crew())
    results = chain(dispatches(instrumented, "pre_tool_call")[0].attributes)
    assert ran == ["both"] * 2
    assert results == [("both", "filtered"), ("both#2", "passed")]


def test_filters_at_the_model(instrumented: Memory, ran: list[str]) -> None:
    before_llm_call(agents=["Researcher"])(noting(ran, "before_in"))
    before_llm_call(agents=["Other"])(noting(ran, "before_out"))
    after_llm_call(agents=["Researcher"])(noting(ran, "after_in"))
    after_llm_call(agents=["Other"])(noting(ran, "after_out"))
    on("pre_model_call", tools=["delete"])(noting(ran, "no_tool_here"))
    kickoff(crews.simple_crew())
    assert ran == ["before_in", "no_tool_here", "after_in"]
    assert kept_out(instrumented, "pre_model_call") == (
        ["before_in", "no_tool_here"],
        ["before_out"],
    )
    assert kept_out(instrumented, "post_model_call") == (["after_in"], ["after_out"])


def test_filters_outside_of_every_agent(instrumented: Memory, ran: list[str]) -> None:
    before_llm_call(agents=["Other"])(noting(ran, "legacy"))
    on("pre_model_call", agents=["Other"])(noting(ran, "on"))
    ScriptedLLM(["hello"]).call("hi")
    assert kept_out(instrumented, "pre_model_call") == (ran, [])
    assert ran == ["legacy", "on"]


def test_scoped_hooks_stand_behind_global_ones(instrumented: Memory, ran: list[str]) -> None:
    on("pre_tool_call")(noting(ran, "everywhere"))
    with DISPATCH.scoped_hooks():
        DISPATCH.register_scoped(POINT.PRE_TOOL_CALL, noting(ran, "here"))
        DISPATCH.register_scoped(POINT.PRE_MODEL_CALL, noting(ran, "model"))
        kickoff(crews.native_tool_crew())
    kickoff(crews.native_tool_crew())
    assert [name for name in ran if name != "model"] == ["everywhere", "here"] * 2 + [
        "everywhere"
    ] * 2
    calls = [chain(node.attributes) for node in dispatches(instrumented, "pre_tool_call")]
    assert (
        calls
        == [[("everywhere", "passed"), ("here", "passed")]] * 2 + [[("everywhere", "passed")]] * 2
    )
    assert ran.count("model") == len(dispatches(instrumented, "pre_model_call")) == 3


BODIES: list[str] = []


def build_based_crew() -> Crew:  # noqa: C901 - each method is one kind of hook
    """Return a crew of a class whose methods are hooks of every kind."""

    @CrewBase
    class Based:
        agents: list[Agent]
        tasks: list[Task]

        @agent_method
        def worker(self) -> Agent:
            calls = tool_calls(("lookup", {"city": "Brest"}))
            return crews.agent(ScriptedLLM([calls, "done"], native=True), tools=[lookup])

        @task_method
        def look(self) -> Task:
            untyped: Any = self
            return crews.task("look", untyped.worker())

        @crew_method
        def crew(self) -> Crew:
            return Crew(name="based", agents=[*self.agents], tasks=self.tasks)

        @on("input")
        def plain(self, ctx: Any) -> None:
            BODIES.append("plain")

        @on("pre_tool_call", tools=["lookup"])
        def on_in(self, ctx: Any) -> None:
            BODIES.append("on_in")

        @on("pre_tool_call", agents=["Other"])
        def on_out(self, ctx: Any) -> None:
            BODIES.append("on_out")

        @before_tool_call()
        def legacy_plain(self, ctx: Any) -> None:
            BODIES.append("legacy_plain")

        @before_tool_call(tools=["lookup"])
        def legacy_in(self, ctx: Any) -> None:
            BODIES.append("legacy_in")

        @before_tool_call(tools=["delete"])
        def legacy_out(self, ctx: Any) -> None:
            BODIES.append("legacy_out")

        @after_tool_call(tools=["lookup"], agents=["Other"])
        def after_out(self, ctx: Any) -> None:
            BODIES.append("after_out")

        @before_llm_call(agents=["Other"])
        def model_out(self, ctx: Any) -> None:
            BODIES.append("model_out")

        @after_llm_call(agents=["Researcher"])
        def model_in(self, ctx: Any) -> None:
            BODIES.append("model_in")

    untyped: Any = Based
    crew: Crew = untyped().crew()
    return crew


def test_methods_of_a_crew_class(instrumented: Memory) -> None:
    BODIES.clear()
    kickoff(build_based_crew())
    counted = invocations(instrumented)
    assert sorted(BODIES) == sorted(name for name, result in counted if result == "passed")
    assert {name for name, result in counted if result == "filtered"} == {
        "on_out",
        "legacy_out",
        "after_out",
        "model_out",
    }
    assert set(BODIES) == {"plain", "on_in", "legacy_plain", "legacy_in", "model_in"}
    for hooks in DISPATCH._global_hooks.values():
        for hook in hooks:
            assert hook_name(hook).startswith(f"{__name__}.build_based_crew.<locals>.Based.")


def test_methods_fail_closed_by_their_name(
    memory: Memory, switched_off: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookspan.instrument(**memory.providers, fail_closed=["*.Based.legacy_in"])

    crew = build_based_crew()

    monkeypatch.setattr(sys.modules[__name__], "BODIES", None)  # each body now crashes
    kickoff(crew)
    assert "blocked by hook" in llm_of(crew).calls[-1].prompt
    attributes = only(memory, "pre_tool_call")
    assert attributes["crewai.hook.failed_closed"] is True
    assert attributes["crewai.hook.abort.source"].endswith(".Based.legacy_in")


def test_lambdas_with_filters_are_told_apart(instrumented: Memory) -> None:
    on("pre_tool_call", tools=["lookup"])(typed(lambda ctx: None))
    on("pre_tool_call", tools=["lookup"])(
        typed(lambda ctx: None),
    )
    kickoff(crews.native_tool_crew())
    names = [name for name, _ in chain(dispatches(instrumented, "pre_tool_call")[0].attributes)]
    assert all(name.startswith("<lambda>:") for name in names)
    first, second = (int(name.rpartition(":")[2]) for name in names)
    assert second - first == 2

"""Runs with a mark at every place where content of a user's can be.

A mark is a word that occurs nowhere else. Its kind says where it may go when everything that
captures content is switched on: `PAYLOAD`, `REASON`, `MESSAGE`, or `NEVER` anywhere.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import crewai.hooks as crewai_hooks
from crewai import Agent, Crew, Task
from crewai.flow.flow import Flow, listen, start
from crewai.tools import tool

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.registering import on, typed
from tests.integration_crewai.scripted import Answer, ModelCall, ScriptedLLM, tool_calls
from tests.integration_crewai.seen import NATIVE
from tests.integration_crewai.snapshot import DISPATCH

PAYLOAD, REASON, MESSAGE, NEVER = "payload", "reason", "message", "never"

MARKS: dict[str, str] = {}
"""The kind of each place that was marked."""


def mark(place: str, kind: str = PAYLOAD) -> str:
    """Return the mark of a place."""
    MARKS[place] = kind
    return f"zz{place}zz"


def redact(text: str) -> str:
    """Return a text in which every mark is one of a place that has been redacted."""
    return re.sub(r"zz(\w+?)zz", r"<\1>", text)


class Marked:
    """An object that shows a mark whichever way it is rendered."""

    def __init__(self, place: str) -> None:
        self.mark = mark(place, NEVER)

    def __repr__(self) -> str:
        return self.mark

    def __str__(self) -> str:
        return self.mark

    def __call__(self, ctx: Any) -> Any:
        """Be a hook that lets everything through."""
        return None


def passes(argument: Any, ctx: Any, *, local: str = "") -> None:
    """Let everything through, with an argument that a partial holds."""


def inputs() -> dict[str, Any]:
    """Return inputs with a mark in key and value."""
    return {"topic": mark("input_value"), mark("input_key"): "1"}


@tool("lookup")
def lookup(city: str) -> str:
    """Tell how high the tide is."""
    return f"{mark('tool_result')} {city}"


@tool("broken")
def broken(city: str) -> str:
    """Fail."""
    raise RuntimeError(mark("tool_error"))


def worker(script: Any, **settings: Any) -> Agent:
    """Return an agent with a mark in every text of its own."""
    return Agent(
        role="Researcher of {topic}",
        goal=f"{mark('goal')} {{topic}}",
        backstory=f"{mark('backstory')} {{topic}}",
        llm=ScriptedLLM(script, native=True),
        tools=[lookup, broken],
        **settings,
    )


def marked_crew(script: Any, **settings: Any) -> Crew:
    """Return a crew of two tasks, one without a name, that meets all native points."""
    agent = worker(script)
    texts: dict[str, Any] = {
        "description": f"{mark('description')} about {{topic}}",
        "expected_output": mark("expected_output"),
    }
    tasks = [Task(agent=agent, **texts), Task(agent=agent, name="second", **texts)]
    return Crew(name="research", agents=[agent], tasks=tasks, **settings)


def answers(call: ModelCall) -> Answer:
    """Call a tool, then one that fails, then one that there is not, then answer."""
    results = sum(role == "tool" for role, _ in call.messages)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("lookup", {"city": mark("tool_argument"), mark("tool_argument_name"): 1}),
        ("broken", {"city": "Brest"}),
        (mark("unknown_tool", NEVER), {"city": "Brest"}),
    ]
    return tool_calls(calls[results]) if results < len(calls) else mark("answer")


class Told(Flow[dict[str, Any]]):
    """A flow with a mark in its state and in what its methods return."""

    @start()
    def begin(self) -> str:
        """Run first."""
        self.state["secret"] = mark("flow_state", NEVER)
        return mark("flow_first_result")

    @listen(begin)
    def finish(self, before: str) -> str:
        """Run second."""
        return mark("flow_result")


class Broken(Flow[dict[str, Any]]):
    """A flow whose method raises."""

    @start()
    def begin(self) -> str:
        """Fail."""
        raise ValueError(mark("flow_error", MESSAGE))


def modifier(point: str) -> Callable[[Any], Any]:
    """Return a hook that changes what goes through a point."""
    made = mark(f"made_at_{point}")

    def modifies(ctx: Any) -> Any:
        if point in {"execution_start", "input"}:
            return dict(ctx.payload or {}, topic=made)
        if point == "pre_model_call":
            ctx.messages.insert(0, {"role": "user", "content": made})
            return Marked("ignored_return_value")
        if point == "pre_tool_call":
            ctx.tool_input["city"] = made
            return None
        if hasattr(ctx.__dict__.get("payload"), "raw"):
            return ctx.payload.model_copy(update={"raw": made})
        if hasattr(ctx.__dict__.get("payload"), "keys"):
            return {**ctx.payload, "_0": made} if ctx.payload else None
        return made

    return modifies


def aborter(point: str) -> Callable[[Any], Any]:
    """Return a hook that aborts at a point."""

    def aborts(ctx: Any) -> None:
        raise crewai_hooks.HookAborted(
            mark(f"reason_at_{point}", REASON), Marked("source_of_abort")
        )

    return aborts


def crasher(point: str) -> Callable[[Any], Any]:
    """Return a hook that crashes at a point."""

    def crashes(ctx: Any) -> None:
        cause = KeyError(mark("cause_of_crash", NEVER))
        raise ValueError(mark(f"message_at_{point}", MESSAGE)) from cause

    return crashes


RUNS: tuple[Callable[[], Any], ...] = (
    lambda: kickoff(marked_crew(answers), inputs()),
    lambda: flows.flow(Told).kickoff(inputs=inputs()),
)


def run_all() -> Iterator[None]:
    """Run everything, with a hook of each kind at each point in turn."""
    for kind in (modifier, aborter, crasher):
        for point in NATIVE:
            DISPATCH.clear_all()
            at = point.value
            on(at)(functools.partial(passes, mark("argument_of_partial", NEVER)))
            on(at)(Marked("hook_object"))
            on(at)(kind(point.value))
            for run in RUNS:
                with suppress(crewai_hooks.HookAborted):
                    run()
            yield
    DISPATCH.clear_all()
    run_others()
    yield


def run_others() -> None:
    """Run what fails by itself, what is copied, and what has no crew around it."""
    for point in NATIVE:
        on(point.value)(typed(lambda ctx: None))
    with suppress(RuntimeError):
        kickoff(marked_crew(raises), inputs())
    with suppress(ValueError):
        flows.flow(Broken).kickoff(inputs=inputs())
    crew: Any = marked_crew(answers_at_once)
    kickoff(crew, inputs())
    crew.kickoff_for_each(inputs=[inputs(), {"topic": mark("input_value_of_copy")}])
    alone: Any = crews.solo_agent()
    alone.kickoff(mark("message_to_agent"))
    ScriptedLLM([mark("answer_of_model")]).call(mark("message_to_model"))


def answers_at_once(call: ModelCall) -> Answer:
    """Answer."""
    return mark("answer")


def raises(call: ModelCall) -> Answer:
    """Fail as a provider does that quotes the prompt."""
    return RuntimeError(mark("model_error", MESSAGE))

"""Each way to change what goes through a native point, beside what the run then did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import crewai.hooks as crewai_hooks
import pytest
from crewai import Crew
from crewai.flow.flow import Flow, listen, start

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff, llm_of, lookup
from tests.integration_crewai.scripted import Answer, ModelCall, ScriptedLLM, final, tool_calls
from tests.integration_crewai.seen import chain, dispatches, verdict
from tests.kit.memory import Memory

Edit = Callable[[Any], Any]


def one_tool_crew() -> Crew:
    """Return a crew that meets all ten native points: its answer says topic and tool result."""

    def answer(call: ModelCall) -> Answer:
        if not call.has_tool_result:
            return tool_calls(("lookup", {"city": "Brest"}))
        found = call.messages[-1][1]
        return final(f"{crews.about_the_topic(call)} {found}".replace("\n", " "))

    return crews.simple_crew(script=answer, tools=[lookup], native=True)


def assign(field: str, value: Any) -> Edit:
    """Return a hook that gives a field another value."""
    return lambda ctx: setattr(ctx, field, value)


def put(field: str, key: Any, value: Any) -> Edit:
    """Return a hook that puts a value into a dict."""

    def edit(ctx: Any) -> None:
        getattr(ctx, field)[key] = value

    return edit


def set_raw(ctx: Any) -> None:
    ctx.payload.raw = "CHANGED"


def say_more(ctx: Any) -> None:
    ctx.messages.append({"role": "user", "content": "CHANGED"})


def reword(ctx: Any) -> None:
    ctx.messages[0]["content"] = "CHANGED"


def reply(value: Any) -> Edit:
    """Return a hook that returns a value."""
    return lambda ctx: value


def replay_tool_call(ctx: Any) -> Any:
    return ctx.payload.model_copy(update={"raw": "CHANGED"})


def prompts(crew: Crew) -> str:
    """Return everything that the model was asked."""
    return "\n".join(call.prompt for call in llm_of(crew).calls)


@dataclass(frozen=True)
class Case:
    """A change: where, how, how it is told, and whether the run took it over."""

    point: str
    edit: Edit
    change: str | None
    took: bool = True


CHANGED = "CHANGED"
CASES = {
    "start, inputs": Case("execution_start", put("payload", "topic", CHANGED), "in_place"),
    "start, alias": Case("execution_start", put("inputs", "topic", CHANGED), "in_place"),
    "start, another": Case("execution_start", reply({"topic": CHANGED}), "replaced"),
    "start, assigned": Case("execution_start", assign("payload", {"topic": CHANGED}), "in_place"),
    "input, inputs": Case("input", put("payload", "topic", CHANGED), "in_place"),
    "input, another": Case("input", reply({"topic": CHANGED}), "replaced"),
    "pre_step, another": Case("pre_step", reply(CHANGED), "replaced"),
    "pre_step, assigned": Case("pre_step", assign("payload", CHANGED), "in_place"),
    "messages, one more": Case("pre_model_call", say_more, "in_place"),
    "messages, one reworded": Case("pre_model_call", reword, "in_place"),
    "messages, another list": Case(
        "pre_model_call",
        assign("messages", [{"role": "user", "content": CHANGED}]),
        "in_place",
        took=False,
    ),
    "messages, returned": Case("pre_model_call", reply([CHANGED]), None, took=False),
    "response, another": Case("post_model_call", reply(final(CHANGED)), "replaced"),
    "response, assigned": Case("post_model_call", assign("response", final(CHANGED)), "in_place"),
    "response, no text": Case("post_model_call", reply([CHANGED]), None, took=False),
    "arguments": Case("pre_tool_call", put("tool_input", "city", CHANGED), "in_place"),
    "arguments, another dict": Case(
        "pre_tool_call", assign("tool_input", {"city": CHANGED}), "in_place", took=False
    ),
    "arguments, returned": Case("pre_tool_call", reply({"city": CHANGED}), None, took=False),
    "result, another": Case("post_tool_call", reply(CHANGED), "replaced"),
    "result, assigned": Case("post_tool_call", assign("tool_result", CHANGED), "in_place"),
    "result, no text": Case("post_tool_call", reply([CHANGED]), None, took=False),
    "arguments, afterwards": Case(
        "post_tool_call", assign("tool_input", {"city": CHANGED}), "in_place", took=False
    ),
    "task output": Case("post_step", set_raw, "in_place"),
    "task output, another": Case("post_step", replay_tool_call, "replaced"),
    "output": Case("output", set_raw, "in_place"),
    "output, another": Case("output", replay_tool_call, "replaced"),
    "output, at the end": Case("execution_end", set_raw, "in_place"),
    "output, another at the end": Case("execution_end", reply(CHANGED), "replaced"),
}


def told(case: Case) -> tuple[Any, ...]:
    """Return outcome, change and effect of the dispatch that a case leads to."""
    if case.change is None:
        return ("proceeded", None, "continued")
    return ("modified", case.change, "replaced" if case.took else "ignored")


@pytest.mark.parametrize("name", CASES)
def test_change_is_told_as_the_run_took_it(instrumented: Memory, name: str) -> None:
    case = CASES[name]

    def edits(ctx: Any) -> Any:
        return case.edit(ctx)

    def reads(ctx: Any) -> None:
        pass

    for hook in (edits, reads):
        crewai_hooks.on(crewai_hooks.InterceptionPoint(case.point))(hook)
    crew = one_tool_crew()
    result = str(kickoff(crew))
    assert (CHANGED in result + prompts(crew)) is case.took

    first = dispatches(instrumented, case.point)[0].attributes
    assert verdict(first) == told(case)
    result_of_it = "passed" if case.change is None else "modified"
    assert chain(first) == [("edits", result_of_it), ("reads", "passed")]


@pytest.mark.parametrize(
    ("edit", "took"),
    [(say_more, True), (assign("messages", [{"role": "user", "content": CHANGED}]), False)],
)
def test_messages_of_a_model_called_directly(instrumented: Memory, edit: Edit, took: bool) -> None:
    crewai_hooks.on(crewai_hooks.InterceptionPoint.PRE_MODEL_CALL)(edit)
    llm = ScriptedLLM(["hello"])
    llm.call([{"role": "user", "content": "hi"}])
    assert (CHANGED in llm.calls[0].prompt) is took
    (attributes,) = [node.attributes for node in dispatches(instrumented, "pre_model_call")]
    assert verdict(attributes) == ("modified", "in_place", "replaced" if took else "ignored")


def test_change_of_the_end_of_a_failed_run_is_ignored(instrumented: Memory) -> None:
    crewai_hooks.on(crewai_hooks.InterceptionPoint.EXECUTION_END)(reply(CHANGED))
    with pytest.raises(RuntimeError, match="model down"):
        kickoff(crews.failing_crew())
    (node,) = dispatches(instrumented, "execution_end")
    assert verdict(node.attributes) == ("modified", "replaced", "ignored")


class Passing(Flow[dict[str, Any]]):
    """Hands a list from its first method to its second."""

    @start()
    def begin(self) -> list[str]:
        """Run first."""
        return [str(self.state.get("topic"))]

    @listen(begin)
    def finish(self, before: list[str]) -> list[str]:
        """Run second."""
        return [*before, "finished"]


def put_first(ctx: Any) -> None:
    if isinstance(ctx.payload, dict) and "_0" in ctx.payload:
        ctx.payload["_0"] = [CHANGED]


def add(ctx: Any) -> None:
    ctx.payload.append(CHANGED)


FLOW_CASES = {
    "start": Case("execution_start", put("payload", "topic", CHANGED), "in_place"),
    "input": Case("input", put("payload", "topic", CHANGED), "in_place"),
    "arguments": Case("pre_step", put_first, "in_place"),
    "result of a method": Case("post_step", add, "in_place"),
    "result of a method, another": Case("post_step", reply([CHANGED]), "replaced"),
    "output": Case("output", add, "in_place"),
    "output, another": Case("output", reply(CHANGED), "replaced"),
    "end": Case("execution_end", add, "in_place"),
    "end, another": Case("execution_end", reply(CHANGED), "replaced"),
}


@pytest.mark.parametrize("name", FLOW_CASES)
def test_change_in_a_flow(instrumented: Memory, name: str) -> None:
    case = FLOW_CASES[name]
    crewai_hooks.on(crewai_hooks.InterceptionPoint(case.point))(case.edit)
    result = flows.flow(Passing).kickoff(inputs={"topic": "tides"})
    assert CHANGED in str(result)
    last = dispatches(instrumented, case.point)[-1].attributes
    assert verdict(last) == told(case)
    if case.point == "pre_step":
        first = dispatches(instrumented, case.point)[0].attributes
        assert verdict(first) == ("proceeded", None, "continued")

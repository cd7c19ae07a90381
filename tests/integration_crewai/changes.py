"""Ways to change what goes through the native points, and a crew that meets all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crewai import Crew

from tests.integration_crewai import crews
from tests.integration_crewai.crews import llm_of, lookup
from tests.integration_crewai.scripted import Answer, ModelCall, final, tool_calls

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


def copied_with_raw(ctx: Any) -> Any:
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
    "task output, another": Case("post_step", copied_with_raw, "replaced"),
    "output": Case("output", set_raw, "in_place"),
    "output, another": Case("output", copied_with_raw, "replaced"),
    "output, at the end": Case("execution_end", set_raw, "in_place"),
    "output, another at the end": Case("execution_end", reply(CHANGED), "replaced"),
}

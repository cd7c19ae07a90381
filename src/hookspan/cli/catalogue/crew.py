"""One small crew that comes to eleven of the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crewai import Agent, Crew, Task
from crewai.tools import BaseTool

from hookspan.cli.catalogue.evidence import MARK, REASON, Evidence, Scene, assign, give
from hookspan.cli.catalogue.model import call_tool, model
from hookspan.cli.demo.model import final, use_tool
from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint as Point
from hookspan.engine.api import register_hook, unregister_hook

ANSWER = "high at noon"
_TOPIC = {"topic": "tides"}


class Note(BaseTool):
    """Notes a text."""

    name: str = "note"
    description: str = "Note a text."
    note: Any = None

    def _run(self, text: str) -> str:
        self.note(f"noted {text}")
        return "it is noted"


class Whisper(BaseTool):
    """Is there to be offered in another tool's place."""

    name: str = "whisper"
    description: str = "Whisper a text."

    def _run(self, text: str) -> str:
        return text


def make_agent(llm: Any, **settings: Any) -> Agent:
    """Make an agent that has nothing but a model."""
    fields: dict[str, Any] = {
        "role": "Researcher",
        "goal": "find out",
        "backstory": "curious",
        **settings,
    }
    return Agent(llm=llm, **fields)


def make_crew(agent: Agent, **settings: Any) -> Crew:
    """Make a crew of one task about a topic."""
    fields: dict[str, Any] = {"name": "look_up", "expected_output": "a line"}
    fields["description"] = "Look up {topic}."
    return Crew(name="research", agents=[agent], tasks=[Task(agent=agent, **fields, **settings)])


def kickoff(crew: Crew) -> str:
    """Kick a crew off."""
    untyped: Any = crew  # crewAI leaves parameters of it without types
    return str(untyped.kickoff(inputs=dict(_TOPIC)))


def run(evidence: Evidence) -> str:
    """Use a tool once, then answer."""
    llm = model(evidence, use_tool("note", text="tides"), final(ANSWER))
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))


def run_natively(evidence: Evidence) -> str:
    """Use a tool once, then answer, in the protocol of models that call tools themselves."""
    llm = model(evidence, call_tool("note", text="tides"), ANSWER, native=True)
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))


def answer(evidence: Evidence) -> str:
    """Answer at once."""
    return kickoff(make_crew(make_agent(model(evidence, final(ANSWER)))))


def offer(evidence: Evidence) -> str:
    """Answer at once, with a tool on offer."""
    llm = model(evidence, final(ANSWER))
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))


def _answered(evidence: Evidence) -> bool:
    return evidence.result == ANSWER


def _answer_is_mark(evidence: Evidence) -> bool:
    return evidence.result == MARK


def _no_model(evidence: Evidence) -> bool:
    return evidence.read == []


def _model_only(evidence: Evidence) -> bool:
    return evidence.read != [] and evidence.result == ""


def _topic_in_prompt(evidence: Evidence) -> bool:
    return "tides" in evidence.prompts and MARK not in evidence.prompts


def _mark_in_prompt(evidence: Evidence) -> bool:
    return MARK in evidence.prompts


def _mark_raw(ctx: Any) -> None:
    ctx.payload.raw = MARK


def _raw_is_mark(ctx: Any) -> Any:
    return ctx.payload.model_copy(update={"raw": MARK})


def _inputs(point: Point) -> Scene:
    return Scene(
        point,
        answer,
        mutate=lambda ctx: ctx.payload.update(topic=MARK),
        replace=give({"topic": MARK}),
        untouched=_topic_in_prompt,
        changed=lambda seen: _mark_in_prompt(seen) and "tides" not in seen.prompts,
        stopped=_no_model,
        proof="the model's prompt",
    )


def _result(point: Point, **more: Any) -> Scene:
    return Scene(
        point,
        answer,
        mutate=_mark_raw,
        replace=_raw_is_mark,
        untouched=_answered,
        changed=_answer_is_mark,
        stopped=_model_only,
        proof="kickoff()'s result",
        **more,
    )


def _own_error_wins() -> bool:
    """Tell whether the error of a run that fails leaves it, whatever a hook at its end says."""
    down = RuntimeError("model down")

    def deny(_ctx: Any) -> None:
        raise HookAborted(REASON)

    register_hook(Point.EXECUTION_END, deny)
    try:
        kickoff(make_crew(make_agent(model(Evidence(), down), max_retry_limit=0)))
    except RuntimeError as error:
        return error is down
    finally:
        unregister_hook(Point.EXECUTION_END, deny)
    return False


def _other_is_dropped(point: Point) -> bool:
    """Tell whether a value that is no text changes nothing."""
    evidence = Evidence()
    hook = give({"no": "text"})
    register_hook(point, hook)
    try:
        return run_natively(evidence) == ANSWER and "'no'" not in evidence.prompts
    finally:
        unregister_hook(point, hook)


def _change_messages(ctx: Any) -> None:
    for message in ctx.messages:
        message["content"] = str(message["content"]).replace("tides", MARK)


def _set(name: str, value: str) -> Callable[[Any], None]:
    return lambda ctx: setattr(ctx, name, value)


_FAILED_RUN = "an abort is ignored where the run has failed: its own error wins"
_NO_TEXT = "a returned value that is no text is ignored"

SCENES = (
    _inputs(Point.EXECUTION_START),
    _inputs(Point.INPUT),
    _result(Point.OUTPUT),
    _result(Point.EXECUTION_END, more={"abort": (_FAILED_RUN, _own_error_wins)}),
    Scene(
        Point.PRE_MODEL_CALL,
        answer,
        mutate=_change_messages,
        replace=give(MARK),
        untouched=_topic_in_prompt,
        changed=_mark_in_prompt,
        stopped=_no_model,
        proof="the model's prompt",
        refuses=frozenset({"replace"}),
    ),
    Scene(
        Point.POST_MODEL_CALL,
        answer,
        mutate=_set("response", final(MARK)),
        replace=give(final(MARK)),
        untouched=_answered,
        changed=_answer_is_mark,
        stopped=_model_only,
        proof="kickoff()'s result",
        more={"replace": (_NO_TEXT, lambda: _other_is_dropped(Point.POST_MODEL_CALL))},
    ),
    Scene(
        Point.PRE_TOOL_CALL,
        run,
        mutate=lambda ctx: ctx.tool_input.update(text=MARK),
        replace=give({"text": MARK}),
        untouched=lambda seen: seen.done == ["noted tides"],
        changed=lambda seen: seen.done == [f"noted {MARK}"],
        stopped=lambda seen: seen.done == [] and "blocked by hook" in seen.read[-1],
        proof="what the tool did",
        refuses=frozenset({"replace"}),
        blocked=True,
    ),
    Scene(
        Point.POST_TOOL_CALL,
        run_natively,
        mutate=_set("tool_result", MARK),
        replace=give(MARK),
        untouched=lambda seen: "it is noted" in seen.read[-1],
        changed=_mark_in_prompt,
        stopped=lambda seen: len(seen.read) == 1,
        proof="the model's prompt",
        more={"replace": (_NO_TEXT, lambda: _other_is_dropped(Point.POST_TOOL_CALL))},
    ),
    Scene(
        Point.PRE_STEP,
        answer,
        mutate=assign(MARK),
        replace=give(MARK),
        untouched=_topic_in_prompt,
        changed=_mark_in_prompt,
        stopped=_no_model,
        proof="the model's prompt",
    ),
    _result(Point.POST_STEP),
    Scene(
        Point.TOOL_SELECTION,
        offer,
        mutate=lambda ctx: ctx.payload.clear(),
        replace=give([Whisper()]),
        untouched=lambda seen: "Tool Name: note" in seen.prompts,
        changed=lambda seen: seen.read != [] and "Tool Name: note" not in seen.prompts,
        stopped=_no_model,
        proof="the tools in the prompt",
    ),
)

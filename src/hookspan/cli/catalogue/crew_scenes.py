"""The eleven points that the small crew comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookspan.cli.catalogue.crew import (
    ANSWER,
    Whisper,
    answer,
    kickoff,
    make_agent,
    make_crew,
    offer,
    run,
    run_natively,
)
from hookspan.cli.catalogue.evidence import MARK, REASON, Evidence, Scene, assign, give
from hookspan.cli.catalogue.model import model
from hookspan.cli.demo.model import final
from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint as Point
from hookspan.engine.api import register_hook, unregister_hook


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

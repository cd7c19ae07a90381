"""The four legacy decorators and what their hooks' return values mean."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hookspan.contract.contexts import LLMCallHookContext, ToolCallHookContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import dispatch, get_hooks, register_hook, scoped_hooks
from hookspan.engine.decorators import (
    after_llm_call,
    after_tool_call,
    before_llm_call,
    before_tool_call,
    on,
)
from tests.engine.specimens import returning

POINTS = {
    "before_llm_call": InterceptionPoint.PRE_MODEL_CALL,
    "after_llm_call": InterceptionPoint.POST_MODEL_CALL,
    "before_tool_call": InterceptionPoint.PRE_TOOL_CALL,
    "after_tool_call": InterceptionPoint.POST_TOOL_CALL,
}
DECORATORS: dict[str, Any] = {
    "before_llm_call": before_llm_call,
    "after_llm_call": after_llm_call,
    "before_tool_call": before_tool_call,
    "after_tool_call": after_tool_call,
}
BEFORE = ["before_llm_call", "before_tool_call"]
AFTER: dict[str, tuple[Any, str]] = {
    "after_llm_call": (LLMCallHookContext, "response"),
    "after_tool_call": (ToolCallHookContext, "tool_result"),
}


def context(name: str) -> Any:
    return LLMCallHookContext() if "llm" in name else ToolCallHookContext("search")


@pytest.mark.parametrize("name", POINTS)
def test_bare_and_called_register_at_the_point_of_the_name(name: str) -> None:
    """'Their existing decorators (`@before_llm_call`, `@before_tool_call`, ...)'."""
    decorator, first, second = DECORATORS[name], returning(None), returning(None)

    assert (decorator(first), decorator()(second)) == (first, second)

    assert get_hooks(POINTS[name]) == [first, second]
    assert (decorator.__name__, POINTS[name].name in decorator.__doc__) == (name, True)


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("filters", [{"tools": ["search"]}, {"agents": ["Editor"]}])
def test_legacy_filters_count(name: str, filters: Any) -> None:
    DECORATORS[name](**filters)(returning(False))

    other = SimpleNamespace(tool_name="other", agent=SimpleNamespace(role="Writer"))
    assert dispatch(POINTS[name], other) is other
    matching = SimpleNamespace(tool_name="search", agent=SimpleNamespace(role="Editor"))
    with pytest.raises(HookAborted):
        dispatch(POINTS[name], matching)


@pytest.mark.parametrize("name", BEFORE)
def test_false_blocks_with_reason_and_source(name: str) -> None:
    """'`return False` semantics keep working unchanged'."""
    hook = DECORATORS[name](returning(False))
    reached: list[Any] = []
    register_hook(POINTS[name], reached.append)

    with pytest.raises(HookAborted) as caught:
        dispatch(POINTS[name], context(name))

    assert (caught.value.reason, caught.value.source) == (f"{name} hook returned False", hook)
    assert reached == []


@pytest.mark.parametrize("name", BEFORE)
def test_false_blocks_whichever_way_the_hook_came(name: str) -> None:
    """'Interception hooks generalize the same engine'; 'are the same mechanism'."""
    on(POINTS[name])(returning(False))
    with pytest.raises(HookAborted):
        dispatch(POINTS[name], context(name))


@pytest.mark.parametrize("name", BEFORE)
def test_false_blocks_from_a_scope_too(name: str) -> None:
    hook = returning(False)
    with scoped_hooks({POINTS[name]: [hook]}), pytest.raises(HookAborted) as caught:
        dispatch(POINTS[name], context(name))
    assert caught.value.source is hook


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("result", [None, True, 0, "", [], "text", {"a": 1}])
def test_before_a_call_every_other_value_is_ignored(name: str, result: Any) -> None:
    DECORATORS[name](returning(result))
    ctx = dispatch(POINTS[name], context(name))
    assert ctx == context(name)


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("text", ["redacted", ""])
def test_after_a_call_a_string_replaces_the_text(name: str, text: str) -> None:
    """'`POST_MODEL_CALL` | After an LLM call | response', '... | tool result'."""
    kind, attribute = AFTER[name]
    DECORATORS[name](returning(text))
    ctx = dispatch(POINTS[name], kind(**{attribute: "original"}))
    assert ctx == kind(**{attribute: text})


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("result", [None, False, True, 0, 7, ["text"], {"a": 1}])
def test_after_a_call_every_other_value_is_ignored(name: str, result: Any) -> None:
    kind, attribute = AFTER[name]
    DECORATORS[name](returning(result))
    ctx = dispatch(POINTS[name], kind(**{attribute: "original"}))
    assert ctx == kind(**{attribute: "original"})


@pytest.mark.parametrize("name", AFTER)
def test_after_a_call_the_payload_may_be_assigned(name: str) -> None:
    kind, attribute = AFTER[name]

    def redact(ctx: Any) -> None:
        ctx.payload = f"<{ctx.payload}>"

    DECORATORS[name](redact)
    ctx = dispatch(POINTS[name], kind(**{attribute: "original"}))
    assert getattr(ctx, attribute) == "<original>"


def test_messages_and_tool_input_are_edited_in_place() -> None:
    register_hook(POINTS["before_llm_call"], lambda ctx: ctx.messages.append("be brief"))
    register_hook(POINTS["before_tool_call"], lambda ctx: ctx.payload.tool_input.update(limit=1))

    model = dispatch(InterceptionPoint.PRE_MODEL_CALL, LLMCallHookContext(["hello"]))
    tool = dispatch(InterceptionPoint.PRE_TOOL_CALL, ToolCallHookContext("search", {"q": "x"}))

    assert model.messages == ["hello", "be brief"]
    assert tool.tool_input == {"q": "x", "limit": 1}

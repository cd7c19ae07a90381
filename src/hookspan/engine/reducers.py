"""What a hook's return value does to the context, per point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint

Reducer = Callable[[Any, Any], bool]
"""Applies what a hook returned to the context; tells whether that changed it; may abort."""


def replace_payload(ctx: Any, result: Any) -> bool:
    """Put a hook's return value, unless it is None, in the place of ``ctx.payload``."""
    if result is None or not hasattr(ctx, "payload"):
        return False
    ctx.payload = result
    return True


def block_on_false(legacy_name: str) -> Reducer:
    """Make the rule of the legacy ``before_*`` hooks: False blocks, anything else is ignored.

    Args:
        legacy_name: The decorator's name, for the reason of the abort.
    """

    def reduce(_ctx: Any, result: Any) -> bool:
        if result is False:
            reason = f"{legacy_name} hook returned False"
            raise HookAborted(reason)
        return False

    return reduce


def replace_text(attribute: str) -> Reducer:
    """Make the rule of the legacy ``after_*`` hooks: a string replaces the text, the rest nothing.

    Args:
        attribute: The attribute of the context that holds the text.
    """

    def reduce(ctx: Any, result: Any) -> bool:
        if not isinstance(result, str):
            return False
        setattr(ctx, attribute, result)
        return True

    return reduce


_LEGACY: dict[InterceptionPoint, Reducer] = {
    InterceptionPoint.PRE_MODEL_CALL: block_on_false("before_llm_call"),
    InterceptionPoint.POST_MODEL_CALL: replace_text("response"),
    InterceptionPoint.PRE_TOOL_CALL: block_on_false("before_tool_call"),
    InterceptionPoint.POST_TOOL_CALL: replace_text("tool_result"),
}


def reducer_of(point: InterceptionPoint) -> Reducer:
    """Return the rule of a point for runtimes that bring none of their own."""
    return _LEGACY.get(point, replace_payload)

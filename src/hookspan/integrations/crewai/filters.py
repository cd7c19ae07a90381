"""Telling that a filter of crewAI's own has kept a hook out."""

from __future__ import annotations

from types import FunctionType
from typing import Any

_WRAPPERS = frozenset({"filtered", "filtered_hook"})
"""Names of the functions that crewAI's decorators put around a hook that has filters."""


def keeps_out(hook: Any, ctx: Any) -> bool:
    """Tell whether the filter that crewAI has put around a hook will not let a context through.

    Args:
        hook: A hook from one of crewAI's lists.
        ctx: The context it is about to be called with.
    """
    if type(hook) is not FunctionType or hook.__code__.co_name not in _WRAPPERS:
        return False
    if not hook.__globals__.get("__name__", "").startswith("crewai.hooks"):
        return False
    filters = hook.__dict__
    return _misses(filters.get("_filter_tools"), getattr(ctx, "tool_name", None)) or _misses(
        filters.get("_filter_agents"), _role(ctx)
    )


def _misses(names: Any, name: Any) -> bool:
    return bool(names) and name is not None and name not in names


def _role(ctx: Any) -> Any:
    agent = getattr(ctx, "agent", None)
    role = getattr(agent, "role", None) if agent is not None else None
    return role if role is not None else getattr(ctx, "agent_role", None)

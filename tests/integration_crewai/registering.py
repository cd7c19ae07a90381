"""crewAI's own decorators, with types that fit every hook: its stubs know no methods, no Any."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

HookT = TypeVar("HookT", bound=Callable[..., Any])

HOOKS: Any = importlib.import_module("crewai.hooks")
POINT: Any = HOOKS.InterceptionPoint
"""crewAI's own points."""


def typed(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a hook, for type checkers: they know no type of a lambda's argument."""
    return hook


def on(point: Any, **filters: list[str]) -> Callable[[HookT], HookT]:
    """Register a hook at a point of ours or of crewAI's, with crewAI's `on`."""
    decorate: Callable[[HookT], HookT] = HOOKS.on(POINT(getattr(point, "value", point)), **filters)
    return decorate


def before_llm_call(**filters: list[str]) -> Callable[[HookT], HookT]:
    """Register a hook with crewAI's decorator of that name."""
    decorate: Callable[[HookT], HookT] = HOOKS.before_llm_call(**filters)
    return decorate


def after_llm_call(**filters: list[str]) -> Callable[[HookT], HookT]:
    """Register a hook with crewAI's decorator of that name."""
    decorate: Callable[[HookT], HookT] = HOOKS.after_llm_call(**filters)
    return decorate


def before_tool_call(**filters: list[str]) -> Callable[[HookT], HookT]:
    """Register a hook with crewAI's decorator of that name."""
    decorate: Callable[[HookT], HookT] = HOOKS.before_tool_call(**filters)
    return decorate


def after_tool_call(**filters: list[str]) -> Callable[[HookT], HookT]:
    """Register a hook with crewAI's decorator of that name."""
    decorate: Callable[[HookT], HookT] = HOOKS.after_tool_call(**filters)
    return decorate

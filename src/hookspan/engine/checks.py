"""What may be registered: everything else is refused with words, where it is registered."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import Any

from hookspan.contract.errors import (
    EmptyFilterError,
    HookOptionError,
    NotAHookError,
    UnknownPointError,
)
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.hooks import Hook, class_of, hook_name


def checked_point(point: object) -> InterceptionPoint:
    """Return the member of our enum for a point given as ours, as crewAI's, or as its value.

    Raises:
        UnknownPointError: It is none of the twenty.
    """
    try:
        return InterceptionPoint(point)
    except ValueError:
        known = ", ".join(member.name for member in InterceptionPoint)
        message = f"{point!r} is not an interception point; use one of InterceptionPoint: {known}"
        raise UnknownPointError(message, point) from None


def checked_hook(hook: object) -> Hook:
    """Return a hook if it can be one.

    Raises:
        NotAHookError: It is not callable, a coroutine or generator function, or cannot be called
            with one context.
    """
    if not callable(hook):
        message = f"a hook is a callable that takes one context, got {type(hook).__name__}"
        raise NotAHookError(message, hook)
    if _is_asynchronous(hook):
        message = (
            f"{hook_name(hook)} is asynchronous, and nothing would await it: a hook is a plain "
            "`def`. Move the awaiting part out of the hook."
        )
        raise NotAHookError(message, hook)
    _check_signature(hook)
    return hook


def _is_asynchronous(hook: object) -> bool:
    function: Any = hook
    while isinstance(function, (functools.partial, staticmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    call = getattr(class_of(function), "__call__", None)  # noqa: B004 - the method is inspected
    return any(is_kind(code) for code in (function, call) for is_kind in _NEVER_AWAITED)


_NEVER_AWAITED = (
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
    inspect.isgeneratorfunction,
)
"""Calling one of these runs none of its code; it only makes something that is to be driven."""


def _check_signature(hook: Hook) -> None:
    """Refuse a callable that could only ever crash: it would do so silently, at every dispatch."""
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):  # a builtin without one
        return
    try:
        signature.bind(None)
    except TypeError as error:
        message = (
            f"{hook_name(hook)}{signature} cannot be called with one context ({error}). A method "
            "is registered bound: register_hook(point, instance.method)."
        )
        raise NotAHookError(message, hook) from None


def checked_names(kind: str, names: Iterable[str] | None) -> frozenset[str] | None:
    """Return the names of a filter.

    Args:
        kind: The argument's name, for the message.
        names: What was passed; None for no filter.

    Raises:
        EmptyFilterError: The filter holds no name, or something that is not a name.
    """
    if names is None:
        return None
    if isinstance(names, str):
        message = f"{kind}= takes a list of names; write {kind}=[{names!r}]"
        raise EmptyFilterError(message, names)
    try:
        given: list[object] = list(names)
    except TypeError:
        message = f"{kind}= takes a list of names, got {type(names).__name__}"
        raise EmptyFilterError(message, names) from None
    found = [name for name in given if isinstance(name, str) and name]
    if not given or len(found) != len(given):
        message = (
            f"{kind}={given!r} could never match: give names, or leave {kind}= out for all of them"
        )
        raise EmptyFilterError(message, names)
    return frozenset(found)


def checked_choice(option: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return an option that is one of a few words.

    Raises:
        HookOptionError: It is none of them.
    """
    if value not in allowed:
        message = f"{option}={value!r} means nothing: use one of {', '.join(map(repr, allowed))}"
        raise HookOptionError(message, value)
    return str(value)


def checked_budget(value: object) -> float | None:
    """Return a budget in seconds.

    Raises:
        HookOptionError: It is not a number of seconds above zero.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        message = f"budget={value!r} means nothing: give seconds, as in budget=0.05"
        raise HookOptionError(message, value)
    return float(value)


def checked_text(option: str, value: object) -> str | None:
    """Return an option that is a word of the user's.

    Raises:
        HookOptionError: It is empty or no text.
    """
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        message = f"{option}={value!r} means nothing: give a short text, or leave {option}= out"
        raise HookOptionError(message, value)
    return value

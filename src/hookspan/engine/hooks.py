"""What may be a hook, what it is called, and a hook with its filters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from hookspan.contract.errors import EmptyFilterError, NotAHookError, UnknownPointError
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.tool_names import normalize_tool_name

Hook = Callable[[Any], Any]
"""A synchronous callable that takes one context and returns None or a replacement."""


class ConfiguredHook:
    """A hook together with the filters it was registered with.

    It stands for the user's function wherever hooks are kept, also in a list that another runtime
    owns: it is equal to the function, called it filters, and its name is the function's.

    Args:
        function: The user's hook.
        agents: Agent roles it is for; None for all.
        tools: Tool names it is for, in any spelling; None for all.
    """

    def __init__(
        self,
        function: Hook,
        *,
        agents: frozenset[str] | None = None,
        tools: frozenset[str] | None = None,
    ) -> None:
        self.function = function
        self.agents = agents
        self.tools = tools
        functools.update_wrapper(self, function, updated=())

    def __call__(self, ctx: Any) -> Any:
        """Call the function, or return None when a filter keeps it out."""
        return self.function(ctx) if self.matches(ctx) else None

    def __eq__(self, other: object) -> bool:
        """Equal to the function it stands for, so that a list can be searched for it."""
        return self is other or self.function is other or bool(self.function == other)

    def __hash__(self) -> int:
        """Hash as the function does."""
        return hash(self.function)

    def matches(self, ctx: Any) -> bool:
        """Tell whether the filters let a context through.

        A context that names no tool (or no agent) passes that filter, as in crewAI.
        """
        if self.tools is not None:
            tool = getattr(ctx, "tool_name", None)
            if tool is not None and normalize_tool_name(tool) not in self.tools:
                return False
        if self.agents is not None:
            role = _role(ctx)
            if role is not None and role not in self.agents:
                return False
        return True


def _role(ctx: Any) -> Any:
    """Return the role of the agent that a context is about, or None."""
    agent = getattr(ctx, "agent", None)
    role = getattr(agent, "role", None) if agent is not None else None
    return role if role is not None else getattr(ctx, "agent_role", None)


def function_of(hook: Any) -> Any:
    """Return the user's own callable behind an entry of a hook table.

    As everywhere here the type is asked, not the object: a ``__class__`` of a user's may raise.
    """
    return hook.function if type(hook) is ConfiguredHook else hook


def hook_name(hook: Any) -> str:
    """Return the stable name of a hook: ``module.qualname`` of the function behind it.

    A partial is named after its function, a callable object after its class. It never raises and
    never renders the object.
    """
    function: Any = function_of(hook)
    if _class_of(function) is FunctionType and type(function.__module__) is str:
        return (
            f"{function.__module__}.{function.__qualname__}"  # most hooks, in a third of the time
        )
    while issubclass(_class_of(function), functools.partial):
        function = function.func
    named: Any = function if _text(function, "__qualname__") else _class_of(function)
    module = _text(named, "__module__")
    qualname = _text(named, "__qualname__") or "unknown"
    return f"{module}.{qualname}" if module else qualname


def _class_of(subject: object) -> type[object]:
    return type(subject)


def _text(subject: Any, attribute: str) -> str | None:
    """Return an attribute if it can be read and is a string."""
    try:
        value = getattr(subject, attribute, None)
    except Exception:  # noqa: BLE001 - a hostile property must not break naming
        return None
    return value if issubclass(type(value), str) else None


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
    call = getattr(_class_of(function), "__call__", None)  # noqa: B004 - the method is inspected
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

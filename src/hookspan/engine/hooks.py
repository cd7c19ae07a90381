"""What a hook is called, and a hook together with what it was registered with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from hookspan.contract.errors import HookAborted
from hookspan.engine.policy import PLAIN, POLICIES, Policy, closed
from hookspan.engine.reducers import replace_payload
from hookspan.engine.shadow import run_shadow
from hookspan.engine.tool_names import normalize_tool_name

Hook = Callable[[Any], Any]
"""A synchronous callable that takes one context and returns None or a replacement."""


def _unwrapped(function: Any) -> Any:
    return function.__dict__.get("__wrapped__", function)


BEHIND: dict[str, Callable[[FunctionType], Any]] = {"<lambda>": _unwrapped}
"""What finds the hook behind a function whose own name does not say which one it is.

By that name. A runtime adds what it puts around hooks.
"""


class ConfiguredHook:
    """A hook together with what it was registered with.

    It stands for the user's function wherever hooks are kept, also in a list that another runtime
    owns: it is equal to the function, and called it filters, fails closed or works in shadow as it
    was told to.

    Args:
        function: The user's hook.
        agents: Agent roles it is for; None for all.
        tools: Tool names it is for, in any spelling; None for all.
        name: What it is called in telemetry; None for where it is defined.
        version: Which version of it this is, for telemetry.
        policy: How it is treated.
    """

    def __init__(  # noqa: PLR0913 - one argument for each option of `on`
        self,
        function: Hook,
        *,
        agents: frozenset[str] | None = None,
        tools: frozenset[str] | None = None,
        name: str | None = None,
        version: str | None = None,
        policy: Policy = PLAIN,
    ) -> None:
        self.function = function
        self.agents = agents
        self.tools = tools
        self.name = name
        self.version = version
        self.policy = policy
        functools.update_wrapper(self, function, updated=())

    def __call__(self, ctx: Any) -> Any:
        """Call the function as it is to be treated; None where a filter keeps it out."""
        try:
            if not self.matches(ctx):
                return None
            if not self.policy.shadow:
                return self.function(ctx)
        except Exception as error:
            if not self.policy.fail_closed or is_abort(error):
                raise
            raise closed(hook_name(self), self.function, error) from error
        run_shadow(self.function, ctx, replace_payload, HookAborted)
        return None

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


def is_abort(error: BaseException) -> bool:
    """Tell whether an error is an abort, ours or crewAI's, which this layer knows by name only."""
    return any(kind.__name__ == HookAborted.__name__ for kind in type(error).__mro__)


def policy_of(hook: Any) -> Policy:
    """Return how a hook is treated, by what it was registered with and by configuration."""
    own = hook.policy if type(hook) is ConfiguredHook else PLAIN
    return POLICIES.of(own, lambda: hook_name(hook))


def hook_name(hook: Any) -> str:
    """Return the stable name of a hook: ``name=``, or where the function behind it is defined.

    That is ``module.qualname``; of a lambda with its line, of a partial that of its function, of a
    callable object that of its class. It never raises and never renders the object.
    """
    if type(hook) is ConfiguredHook and hook.name is not None:
        return hook.name
    function: Any = function_of(hook)
    if class_of(function) is FunctionType and function.__name__ in BEHIND:
        function = BEHIND[function.__name__](function)
    if class_of(function) is FunctionType and type(function.__module__) is str:
        # Most hooks, in a third of the time.
        line = f":{function.__code__.co_firstlineno}" if function.__name__ == "<lambda>" else ""
        return f"{function.__module__}.{function.__qualname__}{line}"
    while issubclass(class_of(function), functools.partial):
        function = function.func
    named: Any = function if _text(function, "__qualname__") else class_of(function)
    module = _text(named, "__module__")
    qualname = _text(named, "__qualname__") or "unknown"
    return f"{module}.{qualname}" if module else qualname


def class_of(subject: object) -> type[object]:
    """Return the class of an object, for type checkers too: they take ``type(Any)`` for unknown."""
    return type(subject)


def _text(subject: Any, attribute: str) -> str | None:
    """Return an attribute if it can be read and is a string."""
    try:
        value = getattr(subject, attribute, None)
    except Exception:  # noqa: BLE001 - a hostile property must not break naming
        return None
    return value if issubclass(type(value), str) else None

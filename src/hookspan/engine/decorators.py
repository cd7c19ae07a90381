"""Registering hooks by decoration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar, overload

from hookspan.contract.points import InterceptionPoint, PointLike
from hookspan.engine.api import REGISTRY
from hookspan.engine.checks import (
    checked_budget,
    checked_choice,
    checked_hook,
    checked_names,
    checked_point,
    checked_text,
)
from hookspan.engine.hooks import ConfiguredHook, Hook
from hookspan.engine.policy import PLAIN, Policy
from hookspan.engine.tool_names import normalize_tool_name

HookT = TypeVar("HookT", bound=Hook)


def on(  # noqa: PLR0913 - one keyword for each option of a hook
    point: PointLike,
    *,
    agents: Iterable[str] | None = None,
    tools: Iterable[str] | None = None,
    name: str | None = None,
    version: str | None = None,
    on_error: Literal["continue", "abort"] = "continue",
    mode: Literal["enforce", "shadow"] = "enforce",
    budget: float | None = None,
) -> Callable[[HookT], HookT]:
    """Register the decorated function as a global hook of a point.

    Args:
        point: The point, ours or crewAI's.
        agents: Roles of the agents that it is for; None for all. A context without an agent
            passes.
        tools: Names of the tools that it is for, in any spelling; None for all. A context without
            a tool passes.
        name: What it is called in telemetry; by default where it is defined.
        version: Which version of the policy it is, for telemetry.
        on_error: What its crash does: ``continue`` lets the operation go on, as the contract says;
            ``abort`` makes it a `HookAborted` (the guard fails closed).
        mode: ``enforce``, or ``shadow`` to run it on a copy and only record what it decides.
        budget: How long it may take before that is reported, in seconds. It is never stopped.

    Returns:
        A decorator that returns the function unchanged.

    Raises:
        RegistrationError: The point is unknown, a filter is empty, an option means nothing, or the
            decorated object cannot be a hook. Nothing is registered.
    """
    point = checked_point(point)
    roles, names = checked_names("agents", agents), checked_names("tools", tools)
    spelled = None if names is None else frozenset(map(normalize_tool_name, names))
    policy = Policy(
        fail_closed=checked_choice("on_error", on_error, ("continue", "abort")) == "abort",
        shadow=checked_choice("mode", mode, ("enforce", "shadow")) == "shadow",
        budget=checked_budget(budget),
    )
    label, release = checked_text("name", name), checked_text("version", version)
    is_plain = (roles, spelled, policy, label, release) == (None, None, PLAIN, None, None)

    def decorate(function: HookT) -> HookT:
        checked_hook(function)
        hook: Hook = function
        if not is_plain:
            hook = ConfiguredHook(
                function, agents=roles, tools=spelled, name=label, version=release, policy=policy
            )
        REGISTRY.register(point, hook)
        return function

    return decorate


class _LegacyDecorator:
    """A decorator for one point, used bare (``@before_llm_call``) or with filters."""

    def __init__(self, name: str, point: InterceptionPoint) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"Register a hook of {point.name}; see `on`."
        self._point = point

    @overload
    def __call__(self, function: HookT) -> HookT: ...

    @overload
    def __call__(
        self, *, agents: Iterable[str] | None = None, tools: Iterable[str] | None = None
    ) -> Callable[[HookT], HookT]: ...

    def __call__(
        self,
        function: HookT | None = None,
        *,
        agents: Iterable[str] | None = None,
        tools: Iterable[str] | None = None,
    ) -> HookT | Callable[[HookT], HookT]:
        """Register the function, or return a decorator that does, with filters."""
        decorate: Callable[[HookT], HookT] = on(self._point, agents=agents, tools=tools)
        return decorate if function is None else decorate(function)


before_llm_call = _LegacyDecorator("before_llm_call", InterceptionPoint.PRE_MODEL_CALL)
after_llm_call = _LegacyDecorator("after_llm_call", InterceptionPoint.POST_MODEL_CALL)
before_tool_call = _LegacyDecorator("before_tool_call", InterceptionPoint.PRE_TOOL_CALL)
after_tool_call = _LegacyDecorator("after_tool_call", InterceptionPoint.POST_TOOL_CALL)

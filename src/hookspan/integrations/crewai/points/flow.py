"""FLOW_TRANSITION and ROUTER_DECISION: a flow has found what to run next, a router has decided.

crewAI's own flows (an agent's executor, memory) are machinery, and ask nobody.
"""

from __future__ import annotations

import enum
import functools
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import FlowTransitionContext, RouterDecisionContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring

_FROM: ContextVar[tuple[Any, str | None] | None] = ContextVar("hookspan-from", default=None)
"""The flow that goes on, and its method that has ended, where it is known."""

_STARTED: ContextVar[str | None] = ContextVar("hookspan-started", default=None)
"""The start method that runs: where it is a router, its route is followed like a method."""


def _go_on(_gate: Gate, original: Any) -> Any:
    """Know which method has ended while the flow looks for what it triggers."""

    @functools.wraps(original)
    async def execute_listeners(flow: Any, trigger_method: Any, *args: Any, **kwargs: Any) -> Any:
        if flow.is_crewai_internal:
            return await original(flow, trigger_method, *args, **kwargs)
        is_method = trigger_method in getattr(flow, "_methods", ())  # a route is none
        ended = str(trigger_method) if is_method else _STARTED.get()
        token = _FROM.set((flow, ended))
        try:
            return await original(flow, trigger_method, *args, **kwargs)
        finally:
            _FROM.reset(token)

    return execute_listeners


def _find(gate: Gate, original: Any) -> Any:
    """Ask about the methods, routers or listeners, that a trigger has found."""

    @functools.wraps(original)
    def find(flow: Any, trigger_method: Any, router_only: Any) -> Any:
        found = original(flow, trigger_method, router_only)
        if not found or not gate.wanted() or flow.is_crewai_internal:
            return found
        none: list[Any] = []
        done = gate.read(lambda: [name for name in found if _is_replayed(flow, name)], none)
        new = [name for name in found if name not in done]
        if not new:
            return found
        kept = _asked(gate, flow, str(trigger_method), new)
        gate.read(lambda: _release(flow, [name for name in new if name not in kept]), None)
        return [*done, *kept]

    return find


def _start(gate: Gate, original: Any) -> Any:
    """Ask about a start method that is triggered again by what a router has decided."""

    @functools.wraps(original)
    async def execute_start(flow: Any, start_method_name: Any, *args: Any, **kwargs: Any) -> Any:
        if _goes_on(flow) and gate.wanted():
            kept = _asked(gate, flow, None, [start_method_name])
            if start_method_name not in kept:
                return None
        token = _STARTED.set(str(start_method_name))
        try:
            return await original(flow, start_method_name, *args, **kwargs)
        finally:
            _STARTED.reset(token)

    return execute_start


def _asked(gate: Gate, flow: Any, trigger: str | None, names: list[Any]) -> list[Any]:
    """Return the targets as the hooks have left them."""
    ctx = gate.dispatch(
        lambda: FlowTransitionContext(
            [str(name) for name in names],
            **{**identity(), "flow": flow},
            from_method=_came_from(flow),
            trigger=trigger,
        )
    )
    return names if ctx is None else list(ctx.payload)


def _goes_on(flow: Any) -> bool:
    """Tell whether it is this flow that looks for what a method of it triggers."""
    around = _FROM.get()
    return around is not None and around[0] is flow


def _came_from(flow: Any) -> str | None:
    """Return the method that has ended, None where that is not known."""
    around = _FROM.get()
    return around[1] if around is not None and around[0] is flow else None


def _is_replayed(flow: Any, name: Any) -> bool:
    """Tell whether a resumed flow only passes a method that had ended before the pause."""
    return bool(flow._is_execution_resuming and name in flow._completed_methods)  # noqa: SLF001


def _release(flow: Any, dropped: list[Any]) -> None:
    """Let a listener to one of several events hear the next of them: this one did not reach it."""
    flow._fired_or_listeners.difference_update(dropped)  # noqa: SLF001 - where crewAI keeps it


def _decide(gate: Gate, original: Any) -> Any:
    """Ask about what a router has returned, before the flow follows it."""

    @functools.wraps(original)
    async def execute(flow: Any, method_name: Any, *args: Any, **kwargs: Any) -> Any:
        result = await original(flow, method_name, *args, **kwargs)
        if flow.is_crewai_internal or not gate.wanted() or not flow._is_router(method_name):  # noqa: SLF001
            return result
        route, *rest = result
        label = route.value if isinstance(route, enum.Enum) else route
        if label is None:  # it has picked none
            return result
        ctx = gate.dispatch(
            lambda: RouterDecisionContext(
                label, **{**identity(), "flow": flow}, router_name=str(method_name)
            )
        )
        return result if ctx is None or ctx.payload is label else (ctx.payload, *rest)

    return execute


_RUNTIME = "crewai.flow.runtime"

TRANSITION = Wiring(
    InterceptionPoint.FLOW_TRANSITION,
    (
        Seam(_RUNTIME, "Flow._find_triggered_methods", ("trigger_method", "router_only"), _find),
        Seam(_RUNTIME, "Flow._execute_listeners", ("trigger_method",), _go_on, is_async=True),
        Seam(_RUNTIME, "Flow._execute_start_method", (), _start, is_async=True),
    ),
)
DECISION = Wiring(
    InterceptionPoint.ROUTER_DECISION,
    (
        Seam(_RUNTIME, "Flow._execute_method", ("method_name",), _decide, is_async=True),
        Seam(_RUNTIME, "Flow._is_router", ("method_name",)),
    ),
)

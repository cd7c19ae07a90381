"""Dispatches a context to the hooks of a point."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint, PointLike
from hookspan.engine.checks import checked_point
from hookspan.engine.hooks import Hook, function_of, hook_name, is_abort, policy_of
from hookspan.engine.loop import Loop
from hookspan.engine.observe import DISPATCHES, Run, observed
from hookspan.engine.probe import probed_hook
from hookspan.engine.reducers import Reducer, reducer_of
from hookspan.engine.registry import HookRegistry

logger = logging.getLogger("hookspan")

_MEMBERS: dict[str, InterceptionPoint] = {point: point for point in InterceptionPoint}
"""Our member for a point of ours, of crewAI's, or a bare value: all three hash alike."""


_OWN_LOOP = Loop()


class Dispatcher:
    """Runs the hooks of a registry.

    What it costs: with no hook at the point one table look-up (and one context variable once a
    scope was used in this process); with hooks, the call of each and nothing else. While somebody
    observes, each hook is called through a probe, in a loop that is swapped in for that time.
    ``benchmarks/`` holds it to that.

    Args:
        registry: Where the hooks are.
    """

    __slots__ = ("_run", "_scope", "_scoped", "_table", "registry")

    def __init__(self, registry: HookRegistry) -> None:
        self.registry = registry
        self._table: Mapping[Any, Sequence[Hook]]
        self._scope: ContextVar[Any]
        self._run: Run  # set by `_swap`, which `on_change` calls at once
        registry.on_change(self._reload)
        DISPATCHES.on_change(self._swap)
        if not DISPATCHES.active:
            self._run = self._first_run

    def dispatch(
        self,
        point: PointLike,
        ctx: Any,
        reducer: Reducer | None = None,
        verbose: bool = True,  # noqa: FBT001, FBT002 - keyword-only costs 0.05 us at every miss
    ) -> Any:
        """Run the hooks of a point, global ones first, then those of the open scope.

        Args:
            point: The point.
            ctx: The context that each hook is called with.
            reducer: What a hook's return value does; None for the rule of the point.
            verbose: Whether a swallowed error is logged.

        Returns:
            The context, as the hooks have left it.

        Raises:
            HookAborted: A hook stopped the operation; ``source`` says who.
            UnknownPointError: The point is none of the twenty.
        """
        try:
            hooks: Sequence[Hook] = self._table[point]
        except (KeyError, TypeError):
            hooks = self._table[checked_point(point)]
        if self._scoped:
            scope = self._scope.get()
            if scope:
                hooks = (*hooks, *scope.get(point, ()))
        if not hooks:
            return ctx
        return self._run(_MEMBERS[point], ctx, tuple(hooks), reducer=reducer, verbose=verbose)

    def _first_run(self, *args: Any, **kwargs: Any) -> Any:
        """Note that hooks are asked; the loop itself is called from then on."""
        self.registry.attended = True
        self._swap()
        return self._run(*args, **kwargs)

    def _reload(self) -> None:
        """Look hooks up where the registry now keeps them."""
        self._table = self.registry.store.table
        self._scope = self.registry.store.scope
        self._scoped = self.registry.scopes_used

    def _swap(self) -> None:
        """Put the probed loop in when somebody observes, the bare one when nobody does."""
        self._run = observed(run_hooks, _OWN_LOOP) if DISPATCHES.active else run_hooks


def run_hooks(
    point: InterceptionPoint,
    ctx: Any,
    hooks: Sequence[Hook],
    *,
    reducer: Reducer | None = None,
    verbose: bool = True,
) -> Any:
    """Call hooks one after another, each seeing what those before it have done.

    A `HookAborted` stops the chain and propagates, and from a hook that fails closed another
    runtime's abort too. Any other `Exception` of a hook is swallowed and the chain goes on
    (fail-open, as the contract says); a `BaseException` propagates.

    Args:
        point: The point.
        ctx: The context that each hook is called with.
        hooks: The hooks, in order; the sequence must not change meanwhile.
        reducer: What a hook's return value does; None for the rule of the point.
        verbose: Whether a swallowed error is logged.

    Returns:
        The context.

    Raises:
        HookAborted: A hook stopped the operation; ``source`` is the hook where it named none.
    """
    if reducer is None:
        reducer = reducer_of(point)
    for hook in hooks:
        try:
            reducer(ctx, hook(ctx))
        except HookAborted as aborted:
            if aborted.source is None:
                aborted.source = function_of(hook)
            raise
        except Exception as error:
            if is_abort(error) and policy_of(probed_hook(hook)).fail_closed:
                raise  # another runtime's abort: not ours to swallow where a guard fails closed
            if verbose:
                _log_swallowed(point, hook, error)
    return ctx


def _log_swallowed(point: InterceptionPoint, hook: Hook, error: Exception) -> None:
    """Log that a hook crashed; what it said may hold content and goes to the debug level only."""
    name = hook_name(probed_hook(hook))
    logger.warning("%s at %s raised %s, ignored", name, point.value, type(error).__name__)
    logger.debug("%s at %s raised", name, point.value, exc_info=error)

"""Watches the hooks of one dispatch from inside the loop that calls them.

The loop, ours or crewAI's, is handed probes in the place of the hooks and of the reducer. It keeps
its own order, its own handling of errors and its own abort rule; a probe only looks, and hands on
the same result or the same exception object. Per-hook truth is therefore written once.

Cost: two clock readings, one bound method and one tuple per hook.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Effect, HookOutcome, HookResult, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.hooks import ConfiguredHook, Hook, function_of
from hookspan.engine.reducers import Reducer, reducer_of

_now = time.perf_counter_ns
_PASSED, _MODIFIED = HookOutcome.PASSED, HookOutcome.MODIFIED
_ABORTED, _ERRORED, _FILTERED = HookOutcome.ABORTED, HookOutcome.ERRORED, HookOutcome.FILTERED

Entry = tuple[Hook, HookOutcome, int, "BaseException | None"]
"""What became of one hook, in the shape of `HookResult`, which costs more to make."""


def effect_of(point: Any, outcome: Outcome, ctx: Any) -> Effect:
    """Return what becomes of a verdict where the contract alone decides.

    An abort is raised, a replaced payload taken over; at the end of a run that has already failed
    neither changes anything.
    """
    if point == InterceptionPoint.EXECUTION_END and getattr(ctx, "status", None) == "failed":
        return Effect.IGNORED if outcome is not Outcome.PROCEEDED else Effect.CONTINUED
    return _EFFECTS[outcome]


_EFFECTS = {
    Outcome.PROCEEDED: Effect.CONTINUED,
    Outcome.MODIFIED: Effect.REPLACED,
    Outcome.ABORTED: Effect.RAISED,
}


class Loop(NamedTuple):
    """What the loop that is being watched does by itself.

    Attributes:
        default_reducer: Returns the reducer it uses at a point when it is given none.
        abort_type: What it lets out as an abort.
        convert: Makes one of those from a `HookAborted` that is not one; None where it always is.
        effect: Returns what becomes of a verdict: of a point, an outcome and a context.
    """

    default_reducer: Callable[[Any], Reducer] = reducer_of
    abort_type: type[BaseException] = HookAborted
    convert: Callable[[HookAborted], BaseException] | None = None
    effect: Callable[[Any, Outcome, Any], Effect] = effect_of


class Chain(list[Entry]):
    """The hooks of one dispatch: the list of what became of those that were reached, in order.

    Attributes:
        point: The point, as the caller gave it.
        ctx: The context that the hooks are called with.
        hooks: The hooks that were resolved for this dispatch, in order.
        reducer: What a hook's return value does.
        loop: What the loop around them does by itself.
    """

    __slots__ = ("ctx", "hooks", "loop", "point", "reducer")

    point: Any
    ctx: Any
    hooks: tuple[Hook, ...]
    reducer: Reducer
    loop: Loop

    def probes(self) -> list[Hook]:
        """Return the hooks, each in a probe."""
        probes: list[Hook] = []
        for hook in self.hooks:  # a comprehension costs half as much again before Python 3.12
            probes.append(MethodType(_call, (hook, self)))  # noqa: PERF401 - see above
        return probes

    def reduce(self, ctx: Any, result: Any) -> bool:
        """Do what the reducer does, and credit it to the hook that ran last.

        Raises:
            BaseException: What the reducer raises, the same object.
        """
        try:
            changed = self.reducer(ctx, result)
        except BaseException as error:
            hook, _, duration, _ = self[-1]
            aborted = isinstance(error, self.loop.abort_type)
            self[-1] = (hook, _ABORTED if aborted else _ERRORED, duration, error)
            if aborted:
                _name_source(error, hook)
            raise
        if changed:
            hook, _, duration, _ = self[-1]
            self[-1] = (hook, _MODIFIED, duration, None)
        return changed

    @property
    def abort(self) -> BaseException | None:
        """The exception that aborted the dispatch, or None."""
        return self[-1][3] if self and self[-1][1] is _ABORTED else None

    @property
    def outcome(self) -> Outcome:
        """What the dispatch as a whole has come to."""
        if self.abort is not None:
            return Outcome.ABORTED
        for _, outcome, _, _ in self:  # any() and a generator would cost twice as much
            if outcome is _MODIFIED:
                return Outcome.MODIFIED
        return Outcome.PROCEEDED

    @property
    def effect(self) -> Effect:
        """What becomes of the verdict."""
        return self.loop.effect(self.point, self.outcome, self.ctx)

    def results(self) -> list[HookResult]:
        """Return what became of every hook, in order, those that were not reached included."""
        reached = [HookResult(*entry) for entry in self]
        rest = self.hooks[len(reached) :]
        return reached + [HookResult(hook, HookOutcome.NOT_REACHED) for hook in rest]


def _call(probe: tuple[Any, Chain], ctx: Any) -> Any:
    """Call a hook and note what became of it."""
    hook, chain = probe
    function = hook
    started = _now()
    try:
        if type(hook) is ConfiguredHook:
            if not hook.matches(ctx):
                chain.append((hook, _FILTERED, 0, None))
                return None
            function = hook.function
        result = function(ctx)
    except BaseException as error:
        duration = _now() - started
        loop = chain.loop
        if isinstance(error, loop.abort_type):
            chain.append((hook, _ABORTED, duration, error))
            _name_source(error, hook)
        elif loop.convert is not None and isinstance(error, HookAborted):
            converted = loop.convert(error)
            chain.append((hook, _ABORTED, duration, converted))
            _name_source(converted, hook)
            raise converted from error
        else:
            chain.append((hook, _ERRORED, duration, error))
        raise
    chain.append((hook, _PASSED, _now() - started, None))
    return result


def is_probed(hook: Any) -> bool:
    """Tell whether a hook is a probe; the hook itself is not asked."""
    return type(hook) is MethodType and hook.__func__ is _call


def probed_hook(hook: Any) -> Any:
    """Return the hook that is in a probe, or the argument when it is no probe."""
    return hook.__self__[0] if is_probed(hook) else hook


def _name_source(aborted: BaseException, hook: Hook) -> None:
    """Name the hook as the source of its abort, where it named none."""
    if getattr(aborted, "source", None) is None:
        aborted.source = function_of(hook)  # type: ignore[attr-defined]  # both HookAborted have it

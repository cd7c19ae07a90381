"""What a loop that calls hooks does by itself, ours or another runtime's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Effect, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.reducers import Reducer, reducer_of


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
        keeps_out: Tells whether a filter of its own keeps a hook from a context.
        by_reference: Fields of a context whose object its caller holds and goes on with: a hook may
            change that object, and changes nothing by putting another one into the field.
    """

    default_reducer: Callable[[Any], Reducer] = reducer_of
    abort_type: type[BaseException] = HookAborted
    convert: Callable[[HookAborted], BaseException] | None = None
    effect: Callable[[Any, Outcome, Any], Effect] = effect_of
    keeps_out: Callable[[Any, Any], bool] | None = None
    by_reference: tuple[str, ...] = ()

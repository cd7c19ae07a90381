"""What each native seam of crewAI does with a verdict."""

from __future__ import annotations

from typing import Any

from hookspan.contract.outcomes import Effect, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.loop import effect_of as contract_effect_of

_DIFFERENT = {
    # crewAI goes on with "Tool execution blocked by hook" as the result of the call.
    (InterceptionPoint.PRE_TOOL_CALL, Outcome.ABORTED): Effect.BLOCKED,
}


def effect_of(point: Any, outcome: Outcome, ctx: Any) -> Effect:
    """Return what crewAI does with a verdict.

    Args:
        point: The point.
        outcome: The verdict.
        ctx: The context of the dispatch.
    """
    return _DIFFERENT.get((point, outcome)) or contract_effect_of(point, outcome, ctx)

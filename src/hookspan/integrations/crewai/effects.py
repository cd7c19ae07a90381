"""What each native seam of crewAI does with a verdict."""

from __future__ import annotations

from typing import Any

from hookspan.contract.outcomes import Effect, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.loop import effect_of as contract_effect_of

_RESULTS = (InterceptionPoint.OUTPUT, InterceptionPoint.EXECUTION_END)
_ANSWERED = (InterceptionPoint.PRE_TOOL_CALL, InterceptionPoint.PRE_DELEGATION)
_TOOL_RETRIES = ("tool", "tool_call")
_ASKED_BY_TOOLS = (
    InterceptionPoint.MEMORY_WRITE,
    InterceptionPoint.MEMORY_READ,
    InterceptionPoint.MCP_CONNECT,
)


def effect_of(point: Any, outcome: Outcome, ctx: Any) -> Effect:
    """Return what crewAI does with a verdict.

    Args:
        point: The point.
        outcome: The verdict.
        ctx: The context of the dispatch.
    """
    if outcome is Outcome.ABORTED and _is_answered(point, ctx):
        return Effect.BLOCKED
    if outcome is Outcome.MODIFIED and _is_dropped(point, ctx):
        return Effect.IGNORED
    return contract_effect_of(point, outcome, ctx)


def _is_answered(point: Any, ctx: Any) -> bool:
    """Tell whether the abort becomes the result of a tool, with which the run goes on.

    So it does at a tool call, at a delegation, before a tool is read or run again, and where a tool
    of an agent's would have connected to a server or used the memory.
    """
    if point in _ANSWERED:
        return True
    if point == InterceptionPoint.RETRY_ATTEMPT:
        return getattr(ctx, "operation", None) in _TOOL_RETRIES
    return point in _ASKED_BY_TOOLS and getattr(ctx, "tool_name", None) is not None


def _is_dropped(point: Any, ctx: Any) -> bool:
    """Tell whether crewAI does not read the payload back.

    It takes the arguments of a flow's method from a dict only, and the answer of an agent that was
    kicked off by itself from the agent's own state, not from the flow that it runs.
    """
    if point == InterceptionPoint.PRE_STEP:
        return getattr(ctx, "kind", None) == "flow_method" and not isinstance(ctx.payload, dict)
    if point not in _RESULTS:
        return False
    flow: object = getattr(ctx, "flow", None)
    return bool(getattr(type(flow), "is_crewai_internal", False))

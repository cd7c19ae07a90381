"""TOOL_SELECTION: the tools of an agent are settled, before its prompt is made."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from hookspan.contract.contexts import ToolSelectionContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring


def _select(gate: Gate, original: Any) -> Any:
    """Ask when crewAI has put an agent's tools together; what it returns is a list of its own."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def settle(*args: Any, **kwargs: Any) -> Any:
        settled = original(*args, **kwargs)
        if not gate.wanted():
            return settled
        given = signature.bind(*args, **kwargs).arguments
        if _is_set_up(given):
            return settled
        who = identity(given["self"], given.get("task"))
        ctx = gate.dispatch(lambda: ToolSelectionContext(settled, **who))
        return settled if ctx is None else list(ctx.payload)

    return settle


def _is_set_up(given: dict[str, Any]) -> bool:
    """Tell whether a crew only makes its executors: nothing is offered to a model by that.

    A crew does so once before its first task, and passes no task; an agent by itself passes
    nothing at all.
    """
    return "task" in given and given["task"] is None


WIRING = Wiring(
    InterceptionPoint.TOOL_SELECTION,
    (Seam("crewai.agent.core", "Agent._add_skill_loader_tool", ("tools", "task"), _select),),
)

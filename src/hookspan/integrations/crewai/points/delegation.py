"""PRE_DELEGATION: an agent hands a task or a question to a coworker."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from hookspan.contract.contexts import PreDelegationContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring


def _delegate(gate: Gate, original: Any) -> Any:
    """Ask before the coworker gets its task.

    An abort becomes the answer of the delegation. Raised here it would be tried again, as an error
    of the tool: crewAI's text protocol would ask six times, and still go on.
    """
    signature = inspect.signature(original)

    @functools.wraps(original)
    def execute(*args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        given = call.arguments
        name = given["agent_name"]
        coworker = gate.read(lambda: _find(given["self"], name), None)
        if coworker is None:  # crewAI answers that there is no such coworker
            return original(*args, **kwargs)
        try:
            ctx = gate.dispatch(
                lambda: PreDelegationContext(
                    given["task"],
                    **identity(),
                    coworker=name,
                    delegate_to=coworker,
                    context=given.get("context"),
                )
            )
        except gate.abort_type as aborted:
            return f"Delegation to {name} was blocked by a hook: {aborted}"
        if ctx is not None:
            given["task"], given["context"] = ctx.payload, ctx.context
        return original(*call.args, **call.kwargs)

    return execute


def _find(tool: Any, name: Any) -> Any:
    """Return the coworker of that name, found as crewAI finds it, or None."""
    wanted = tool.sanitize_agent_name(name or "")
    found = (agent for agent in tool.agents if tool.sanitize_agent_name(agent.role) == wanted)
    return next(found, None)


WIRING = Wiring(
    InterceptionPoint.PRE_DELEGATION,
    (
        Seam(
            "crewai.tools.agent_tools.base_agent_tools",
            "BaseAgentTool._execute",
            ("agent_name", "task", "context"),
            _delegate,
        ),
    ),
)

"""PRE_CODE_EXECUTION: the script of a declared flow is about to run."""

from __future__ import annotations

import copy
import functools
from typing import Any

from hookspan.contract.contexts import PreCodeExecutionContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import running_method
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring


def _run(gate: Gate, original: Any) -> Any:
    """Ask before a script runs.

    crewAI has compiled it when the flow was made; code that a hook has put in its place is compiled
    in a copy of the action, so that the next run begins with the script that was declared.
    """

    @functools.wraps(original)
    def run(action: Any, *args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(action, *args, **kwargs)
        code = action.definition.code
        ctx = gate.dispatch(
            lambda: PreCodeExecutionContext(
                code, flow=action.flow, language="python", step_name=running_method()
            )
        )
        if ctx is not None and ctx.payload != code:
            action = _recompiled(action, ctx.payload)
        return original(action, *args, **kwargs)

    return run


def _recompiled(action: Any, code: Any) -> Any:
    other = copy.copy(action)
    other.definition = action.definition.model_copy(update={"code": code})
    other.handler = other._compile_handler()  # noqa: SLF001 - what the constructor does
    return other


_ACTION = "crewai.flow.runtime._actions"

WIRING = Wiring(
    InterceptionPoint.PRE_CODE_EXECUTION,
    (
        Seam(_ACTION, "ScriptAction.run", (), _run),
        Seam(_ACTION, "ScriptAction._compile_handler", ()),
    ),
)

"""Ten hooks of the kind that people write, registered when this module is imported.

Some come through crewAI's own API, as in any project that has never heard of hookspan, and some
through hookspan's. All of them stand in one queue per point, in the order in which they were
registered, and all are traced.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from crewai.hooks import InterceptionPoint as Point
from crewai.hooks import before_tool_call
from crewai.hooks import on as crewai_on

import hookspan

logger = logging.getLogger(__name__)

STAFF = {"ada", "grace"}
QUOTAS = {"Billing agent": 20}
_SECRET = re.compile(r"sk-\w+")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.\w+")


# Through crewAI: `from crewai.hooks import on, before_tool_call`.


@crewai_on(Point.EXECUTION_START)
def authorize(ctx: Any) -> None:
    """Let nobody but the staff start a run. The payload of a run without inputs is None."""
    inputs: dict[str, Any] = ctx.payload or {}
    if inputs.get("requested_by") not in STAFF:
        raise hookspan.HookAborted(reason="unauthorized execution", source="access-control")


@crewai_on(Point.INPUT)
def default_language(ctx: Any) -> dict[str, Any] | None:
    """Fill in an input that is missing: what a hook returns replaces the payload."""
    inputs: dict[str, Any] = ctx.payload or {}
    return None if "language" in inputs else {**inputs, "language": "English"}


@crewai_on(Point.PRE_MODEL_CALL)
def strip_secrets(ctx: Any) -> None:
    """Keep keys out of what the model sees: messages are changed in place."""
    for message in ctx.messages:
        if isinstance(message.get("content"), str):
            message["content"] = _SECRET.sub("[secret]", message["content"])


@crewai_on(Point.PRE_TOOL_CALL)
def check_quota(ctx: Any) -> None:
    """Crash: no quota is known for this agent. In crewAI that looks like a guard that agreed."""
    if QUOTAS[ctx.agent.role] <= 0:
        raise hookspan.HookAborted(reason="quota is used up", source="quota")


@before_tool_call(tools=["look_up_order"])
def require_order_number(ctx: Any) -> bool | None:
    """Block a call without an order number, as hooks did before there was `HookAborted`."""
    return None if ctx.tool_input.get("order") else False


# Through hookspan: `from hookspan import on`. The points of either enum are equal.


@hookspan.on(Point.PRE_TOOL_CALL, tools=["delete_file"])
def guard_deletes(_ctx: Any) -> None:
    """Deny a tool. crewAI tells the agent that the call was blocked, and the run goes on."""
    raise hookspan.HookAborted(reason="file deletion is not allowed", source="policy")


@hookspan.on(Point.PRE_TOOL_CALL)
def log_tool_call(ctx: Any) -> None:
    """Note each call that no hook before has denied."""
    logger.info("%s calls %s", ctx.agent.role, ctx.tool_name)


@hookspan.on(Point.POST_STEP)
def log_step(ctx: Any) -> None:
    """Note each step: a task of a crew or a method of a flow."""
    logger.info("%s %s is done", ctx.kind, ctx.step_name)


@hookspan.on(Point.OUTPUT)
def redact_email(ctx: Any) -> Any:
    """Take e-mail addresses out of an answer, a crew's output or a flow's text."""
    output = ctx.payload
    of_crew = hasattr(output, "raw")
    text: str = output.raw if of_crew else output
    redacted = _EMAIL.sub("[e-mail]", text)
    if redacted == text:
        return None
    return output.model_copy(update={"raw": redacted}) if of_crew else redacted


@hookspan.on(Point.EXECUTION_END)
def report(ctx: Any) -> None:
    """Note how a run ended, either way."""
    logger.info("the run has %s", ctx.status)

"""RETRY_ATTEMPT of an agent by itself: its guardrail has refused the answer."""

from __future__ import annotations

import functools
import inspect
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import RetryAttemptContext
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam

_REFUSED: ContextVar[int | None] = ContextVar("hookspan-refused", default=None)
"""How many answers have been refused before the one that a guardrail looks at."""


def _guarded(_gate: Gate, original: Any) -> Any:
    """Know each attempt that begins in here for one after a refusal."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def process(*args: Any, **kwargs: Any) -> Any:
        count = signature.bind(*args, **kwargs).arguments.get("retry_count", 0)
        token = _REFUSED.set(count)
        try:
            return original(*args, **kwargs)
        finally:
            _REFUSED.reset(token)

    return process


def _again(gate: Gate, original: Any) -> Any:
    """Ask before an attempt that follows a refusal; a first attempt is none."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def execute(*args: Any, **kwargs: Any) -> Any:
        refused = _REFUSED.get()
        if refused is None:
            return original(*args, **kwargs)
        token = _REFUSED.set(None)
        try:
            call = signature.bind(*args, **kwargs)
            if gate.wanted():
                _ask(gate, call.arguments, refused)
            return original(*call.args, **call.kwargs)
        finally:
            _REFUSED.reset(token)

    return execute


def _ask(gate: Gate, given: dict[str, Any], refused: int) -> None:
    """Let hooks change what the agent is asked this time.

    crewAI adds the refusal to the messages, and then begins them anew: the model is asked the same
    again, unless a hook says otherwise.
    """
    agent, inputs = given["self"], given["inputs"]
    ctx = gate.dispatch(
        lambda: RetryAttemptContext(
            inputs["input"],
            **identity(agent),
            attempt=refused + 2,
            max_attempts=agent.guardrail_max_retries + 1,
            error=ValueError(given["executor"].state.messages[-1]["content"]),
            operation="guardrail",
        )
    )
    if ctx is not None:
        given["inputs"] = {**inputs, "input": ctx.payload}


SEAMS = (
    Seam("crewai.agent.core", "Agent._process_kickoff_guardrail", ("retry_count",), _guarded),
    Seam("crewai.agent.core", "Agent._execute_and_build_output", ("executor", "inputs"), _again),
)

"""RETRY_ATTEMPT: a task, a refused output, a tool call or a tool is about to be tried again.

What crewAI tries again outside of these (a connection, a conversion, a provider's request) has no
seam here; `hookspan points` names it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from hookspan.contract.contexts import RetryAttemptContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points import kickoff_retry, tool_retry
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring


@dataclass
class Failed:
    """An attempt of an agent at its task that has failed, and will be followed by another.

    Attributes:
        task: The task.
        operation: Why there is another: ``task`` after an error, ``guardrail`` after a refusal.
        error: What was wrong; None until it is known.
    """

    task: Any
    operation: str
    error: BaseException | None = None


_FAILED: ContextVar[Failed | None] = ContextVar("hookspan-failed", default=None)
"""Set from the moment that an attempt has failed until the next one begins."""


def _note_error(_gate: Gate, original: Any) -> Any:
    """Note an error that the agent will try again after: only then the original returns."""

    @functools.wraps(original)
    def check(agent: Any, error: Any, task: Any) -> None:
        original(agent, error, task)
        _FAILED.set(Failed(task, "task", error))

    return check


def _note_refusal(_gate: Gate, original: Any) -> Any:
    """Note what a guardrail of a task said against its output."""

    @functools.wraps(original)
    def process(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        failed = _FAILED.get()
        if failed is not None and failed.operation == "guardrail" and not result.success:
            failed.error = ValueError(str(result.error))
        return result

    return process


def _guarded(_gate: Gate, original: Any) -> Any:
    """Know each attempt that begins in here for one after a refusal."""

    @functools.wraps(original)
    def invoke(task: Any, *args: Any, **kwargs: Any) -> Any:
        token = _FAILED.set(Failed(task, "guardrail"))
        try:
            return original(task, *args, **kwargs)
        finally:
            _FAILED.reset(token)

    return invoke


def _aguarded(_gate: Gate, original: Any) -> Any:
    @functools.wraps(original)
    async def invoke(task: Any, *args: Any, **kwargs: Any) -> Any:
        token = _FAILED.set(Failed(task, "guardrail"))
        try:
            return await original(task, *args, **kwargs)
        finally:
            _FAILED.reset(token)

    return invoke


class _Begun:
    """An attempt that has begun: what fails inside it is another matter.

    Args:
        failed: The attempt before it. A guardrail may refuse several in turn; an error is over
            once it was tried again.
    """

    __slots__ = ("_failed",)

    def __init__(self, failed: Failed) -> None:
        self._failed = failed

    def __enter__(self) -> None:
        _FAILED.set(None)

    def __exit__(self, *_error: object) -> None:
        if self._failed.operation == "guardrail":
            _FAILED.set(self._failed)


def _asked(gate: Gate, failed: Failed, call: inspect.BoundArguments) -> inspect.BoundArguments:
    """Return the call of an attempt with the context as the hooks have left it."""
    given = call.arguments
    agent, task = given["self"], given["task"]
    if failed.task is task and gate.wanted():
        ctx = gate.dispatch(
            lambda: RetryAttemptContext(
                given.get("context"),
                **identity(agent, task),
                **_number(agent, task, failed),
                error=failed.error,
                operation=failed.operation,
            )
        )
        if ctx is not None:
            given["context"] = ctx.payload
    return call


def _number(agent: Any, task: Any, failed: Failed) -> dict[str, Any]:
    """Return the fields that say which attempt this is, and how many there may be."""
    if failed.operation == "guardrail":
        counts = [task.retry_count, *task._guardrail_retry_counts.values()]  # noqa: SLF001
        return {"attempt": max(counts) + 1, "max_attempts": task.guardrail_max_retries + 1}
    failures: int = agent._times_executed  # noqa: SLF001 - there is no other way
    return {"attempt": failures + 1, "max_attempts": agent.max_retry_limit + 1}


def _attempt(gate: Gate, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def execute_task(*args: Any, **kwargs: Any) -> Any:
        failed = _FAILED.get()
        if failed is None:
            return original(*args, **kwargs)
        with _Begun(failed):
            call = _asked(gate, failed, signature.bind(*args, **kwargs))
            return original(*call.args, **call.kwargs)

    return execute_task


def _aattempt(gate: Gate, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    async def execute_task(*args: Any, **kwargs: Any) -> Any:
        failed = _FAILED.get()
        if failed is None:
            return await original(*args, **kwargs)
        with _Begun(failed):
            call = _asked(gate, failed, signature.bind(*args, **kwargs))
            return await original(*call.args, **call.kwargs)

    return execute_task


def _agent(name: str, wrap: Callable[[Gate, Any], Any], *, is_async: bool = False) -> Seam:
    return Seam("crewai.agent.core", f"Agent.{name}", ("task", "context"), wrap, is_async)


_GUARDRAIL = ("task_output", "agent", "guardrail_index")

WIRING = Wiring(
    InterceptionPoint.RETRY_ATTEMPT,
    (
        Seam("crewai.agent.core", "Agent._check_execution_error", ("e", "task"), _note_error),
        Seam("crewai.task", "process_guardrail", ("output", "guardrail"), _note_refusal),
        Seam("crewai.task", "Task._invoke_guardrail_function", _GUARDRAIL, _guarded),
        Seam(
            "crewai.task",
            "Task._ainvoke_guardrail_function",
            _GUARDRAIL,
            _aguarded,
            is_async=True,
        ),
        _agent("execute_task", _attempt),
        _agent("aexecute_task", _aattempt, is_async=True),
        *kickoff_retry.SEAMS,
        *tool_retry.SEAMS,
    ),
)

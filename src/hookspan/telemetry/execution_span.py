"""One run as a span: opened by the frame of the run, ended by it, exactly once."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, create_key, get_current, get_value, set_value
from opentelemetry.trace import Link, Span, Status, StatusCode

from hookspan.contract.errors import HookAborted
from hookspan.telemetry import semconv
from hookspan.telemetry.names import type_name

Attributes = Mapping[str, "str | bool | int | float | list[str]"]

_KEY = create_key("hookspan-execution")

_REPLACED = {
    semconv.CREWAI_EXECUTION_KIND_CREW: (
        semconv.CREWAI_CREW_ID,
        semconv.CREWAI_CREW_KEY,
        semconv.CREWAI_CREW_NAME,
        semconv.GEN_AI_AGENT_NAME,
    ),
    semconv.CREWAI_EXECUTION_KIND_FLOW: (
        semconv.CREWAI_FLOW_ID,
        semconv.CREWAI_FLOW_NAME,
        semconv.GEN_AI_AGENT_NAME,
    ),
}
"""What a run of a kind never takes over from the run around it, also where it has none itself."""


@dataclass(frozen=True)
class Run:
    """What is known of a run when it begins.

    Attributes:
        kind: ``crew``, ``flow``, ``agent`` or ``runtime``.
        name: Name of the crew or flow, role of the agent; None where there is none.
        attributes: Identity (ids, keys, names) for its span and for the spans in it.
        execution_uuid: crewAI's own id of the outermost run, where it is known before it begins.
        links: What its span points at: the run that it goes on from.
    """

    kind: str
    name: str | None = None
    attributes: Attributes = field(default_factory=dict[str, Any])
    execution_uuid: str | None = None
    links: tuple[Link, ...] = ()

    @property
    def operation(self) -> str:
        """The GenAI operation that the run is."""
        if self.kind == semconv.CREWAI_EXECUTION_KIND_AGENT:
            return semconv.GEN_AI_OPERATION_NAME_INVOKE_AGENT
        return semconv.GEN_AI_OPERATION_NAME_INVOKE_WORKFLOW

    @property
    def span_name(self) -> str:
        """Name of the span of the run."""
        return self.operation if self.name is None else f"{self.operation} {self.name}"

    @property
    def workflow(self) -> str | None:
        """Name of the crew or flow, None for an agent by itself."""
        return None if self.kind == semconv.CREWAI_EXECUTION_KIND_AGENT else self.name

    @property
    def identity(self) -> dict[str, Any]:
        """What each span of the run carries to say which run it belongs to."""
        identity = {semconv.CREWAI_EXECUTION_KIND: self.kind, **self.attributes}
        if self.name is not None and self.kind == semconv.CREWAI_EXECUTION_KIND_AGENT:
            identity[semconv.GEN_AI_AGENT_NAME] = self.name
        elif self.name is not None:
            identity[semconv.GEN_AI_WORKFLOW_NAME] = self.name
        return identity


class ExecutionRecord:
    """An open run. It lives in the OpenTelemetry context, so that whatever runs inside inherits it.

    Attributes:
        run: What is known of it.
        span: Its span; one that records nothing when runs get no span.
        outer: The record of the run it is nested in, or None.
        identity: What spans inside it carry: its own identity over that of the runs around it.
        workflow: Name of the innermost crew or flow, for metrics.
        status: What EXECUTION_END said, None until it has.
        execution_uuid: crewAI's own id of the outermost run, once it is known.
        abort_count: Aborted dispatches in it, those of nested runs included.
        exception_count: Hooks that crashed in it, those of nested runs included.
        started: Reading of the monotonic clock, in seconds.
    """

    def __init__(self, run: Run, span: Span, outer: ExecutionRecord | None) -> None:
        self.run = run
        self.span = span
        self.outer = outer
        self.identity: dict[str, Any] = {**_inherited(run, outer), **run.identity}
        self.workflow: str | None = self.identity.get(semconv.GEN_AI_WORKFLOW_NAME)
        self.status: str | None = None
        self.execution_uuid: str | None = outer.execution_uuid if outer else run.execution_uuid
        self.abort_count = 0
        self.exception_count = 0
        self.started = time.monotonic()
        self._first_attempts: dict[tuple[str | None, str], int] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._open = True
        self._before = get_current()

    @property
    def nested(self) -> bool:
        """Whether it runs inside another run."""
        return self.outer is not None

    def enter(self) -> Context:
        """Make it, and its span, current."""
        span_context = trace.set_span_in_context(self.span, self._before)
        context = set_value(_KEY, self, span_context)
        attach(context)
        return context

    def leave(self) -> bool:
        """Give the caller's context back; tell whether this was the one time it could end here.

        A second call and a call in a forked child end nothing. The context is given back only
        where the current one is still ours; values that others attached meanwhile and took away
        again are not touched.
        """
        if os.getpid() != self._pid:
            return False
        if current_execution(get_current()) is self:
            attach(self._before)
        return self.close()

    def close(self) -> bool:
        """Let nothing end it any more; tell whether this was the one time it could end."""
        with self._lock:
            was_open, self._open = self._open, False
        return was_open and os.getpid() == self._pid

    def count(self, *, aborts: int = 0, exceptions: int = 0) -> None:
        """Add to the counts of this run and of those around it."""
        with self._lock:
            self.abort_count += aborts
            self.exception_count += exceptions
        if self.outer is not None:
            self.outer.count(aborts=aborts, exceptions=exceptions)

    def relate_attempt(self, identity: dict[str, Any]) -> None:
        """Number an agent's attempt from the first at this task that this run has seen.

        crewAI's own number, which comes with the identity, goes on over tasks and runs.
        """
        task = identity.get(semconv.CREWAI_TASK_ID)
        if task is None:
            return
        number = identity.pop(semconv.CREWAI_AGENT_ATTEMPT, 1)
        key = (identity.get(semconv.GEN_AI_AGENT_NAME), task)
        first = self._first_attempts.setdefault(key, number)
        if number > first:
            identity[semconv.CREWAI_AGENT_ATTEMPT] = number - first + 1

    def end_span(self, outcome: str, error: BaseException | None, closed_by: str) -> None:
        """Say on the span how the run ended, and end it."""
        span = self.span
        attributes: dict[str, Any] = {
            semconv.CREWAI_EXECUTION_OUTCOME: outcome,
            semconv.CREWAI_EXECUTION_CLOSED_BY: closed_by,
            semconv.CREWAI_EXECUTION_DENIED: self.abort_count > 0,
            semconv.CREWAI_EXECUTION_ABORT_COUNT: self.abort_count,
            semconv.CREWAI_EXECUTION_EXCEPTION_COUNT: self.exception_count,
        }
        if self.status is not None:
            attributes[semconv.CREWAI_EXECUTION_STATUS] = self.status
        if self.execution_uuid is not None:
            attributes[semconv.CREWAI_EXECUTION_UUID] = self.execution_uuid
        if error is not None:
            attributes[semconv.ERROR_TYPE] = type_name(type(error))
            span.set_status(Status(StatusCode.ERROR))
        span.set_attributes(attributes)
        span.end()


def _inherited(run: Run, outer: ExecutionRecord | None) -> dict[str, Any]:
    """Return what a run is called after those around it: nothing that it could be itself."""
    replaced = _REPLACED.get(run.kind, ())
    identity = outer.identity if outer else {}
    return {key: value for key, value in identity.items() if key not in replaced}


def start_attributes(run: Run, *, nested: bool) -> dict[str, Any]:
    """Return what the span of a run carries from its start, for samplers to see."""
    return {
        semconv.GEN_AI_OPERATION_NAME: run.operation,
        semconv.CREWAI_EXECUTION_NESTED: nested,
        **run.identity,
    }


def current_execution(context: Context) -> ExecutionRecord | None:
    """Return the innermost open run that a context is in, or None."""
    record = get_value(_KEY, context)
    return record if isinstance(record, ExecutionRecord) else None


def outcome_of(error: BaseException | None, blocked: tuple[type[BaseException], ...] = ()) -> str:
    """Return the outcome of a run from what left it.

    An abort counts as one also where another error was raised from it.

    Args:
        error: What left the run, or None.
        blocked: Further types that stand for an abort.
    """
    if error is None:
        return semconv.CREWAI_EXECUTION_OUTCOME_COMPLETED
    if is_abort(error, blocked):
        return semconv.CREWAI_EXECUTION_OUTCOME_ABORTED
    if isinstance(error, asyncio.CancelledError):
        return semconv.CREWAI_EXECUTION_OUTCOME_CANCELLED
    if not isinstance(error, Exception):
        return semconv.CREWAI_EXECUTION_OUTCOME_INTERRUPTED
    return semconv.CREWAI_EXECUTION_OUTCOME_FAILED


def is_abort(error: BaseException, blocked: tuple[type[BaseException], ...] = ()) -> bool:
    """Tell whether an error is an abort or was raised from one."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, (HookAborted, *blocked)):
            return True
        seen.add(id(cause))
        cause = cause.__cause__
    return False

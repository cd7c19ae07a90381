"""What a flow that pauses leaves behind, so that its resumption can point back at it.

crewAI keeps a `PendingFeedbackContext` for a paused flow, in memory or, by its ``to_dict``, in the
flow's persistence, where another process finds it days later. The W3C ``traceparent`` of the paused
run goes with it: as one more key of that dictionary, which a process without hookspan passes over.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from opentelemetry.context import Context, get_current
from opentelemetry.trace import (
    Link,
    Span,
    SpanContext,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.identity import flow_run
from hookspan.integrations.crewai.patching import Patch
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run, current_execution

KEY = "hookspan.traceparent"
"""Where the paused run is found in what crewAI keeps."""

_OPERATION = "execution.pause"
_PROPAGATOR = TraceContextTextMapPropagator()


def patches(active: Callable[[], bool]) -> Iterator[Patch]:
    """Make the patches that carry the paused run through crewAI's serialisation.

    Args:
        active: Tells whether the instrumentation is still on.
    """
    try:
        module = importlib.import_module("crewai.flow.async_feedback.types")
        kept = module.PendingFeedbackContext
    except (ImportError, AttributeError):  # a crewAI whose flows do not pause
        return
    yield Patch(kept, "to_dict", lambda original: _saving(original, active))
    yield Patch(kept, "from_dict", lambda original: _loading(original, active))


def remember(pending: Any, span: Span) -> None:
    """Note on what a paused flow has returned which run paused; for a resumption in this process.

    Args:
        pending: crewAI's `HumanFeedbackPending`.
        span: The span of the run.
    """
    try:
        context = getattr(pending, "context", None)
        if context is not None and KEY not in vars(context):
            vars(context)[KEY] = _traceparent(span)
    except Exception as error:  # noqa: BLE001 - telemetry must not break a run
        GUARD.failed(_OPERATION, error)


def execution_uuid_of(pending: Any) -> str | None:
    """Return crewAI's id of the outermost run, which a paused flow keeps for its resumption.

    Args:
        pending: What the flow returned, or holds while it is paused.
    """
    context = getattr(pending, "context", pending)
    uuid = getattr(context, "execution_uuid", None)
    return uuid if type(uuid) is str else None


def resumed_flow_run(flow: Any) -> Run:
    """Describe the run of a flow that goes on: as a flow, with a link to the run that paused."""
    run = flow_run(flow)
    pending = getattr(flow, "_pending_feedback_context", None)
    if pending is None:
        return run
    paused = _span_context(getattr(pending, KEY, None))
    return replace(
        run,
        execution_uuid=execution_uuid_of(pending),
        links=() if paused is None else (Link(paused),),
    )


def _saving(original: Any, active: Callable[[], bool]) -> Any:
    def to_dict(context: Any) -> Any:
        kept = original(context)
        if active():
            try:
                _add(kept, context)
            except Exception as error:  # noqa: BLE001 - telemetry must not break a run
                GUARD.failed(_OPERATION, error)
        return kept

    return to_dict


def _add(kept: dict[str, Any], context: Any) -> None:
    paused: str | None = getattr(context, KEY, None)
    if paused is None:
        record = current_execution(get_current())
        if record is None or record.run.kind != semconv.CREWAI_EXECUTION_KIND_FLOW:
            return
        paused = _traceparent(record.span)
    if paused:
        kept[KEY] = paused


def _loading(original: Any, active: Callable[[], bool]) -> Any:
    def from_dict(cls: Any, data: Any) -> Any:
        context = original.__func__(cls, data)
        if active():
            try:
                paused = data.get(KEY)
                if paused is not None:
                    vars(context)[KEY] = paused
            except Exception as error:  # noqa: BLE001 - telemetry must not break a run
                GUARD.failed(_OPERATION, error)
        return context

    return classmethod(from_dict)


def _traceparent(span: Span) -> str | None:
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, set_span_in_context(span))
    return carrier.get("traceparent")


def _span_context(traceparent: Any) -> SpanContext | None:
    """Return the span that a traceparent names, None where it names none."""
    if type(traceparent) is not str:
        return None
    # Into an empty context: where it names none, the current span must not be taken for it.
    context = _PROPAGATOR.extract({"traceparent": traceparent}, Context())
    found = get_current_span(context).get_span_context()
    return found if found.is_valid else None

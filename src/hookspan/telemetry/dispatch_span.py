"""One dispatch as a span, a count and a duration: the hot path.

Started with what samplers may want to see, current while the hooks run, so that whatever they do
is below it, and finished in one go. Attributes are built only for a span that records.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import NonRecordingSpan, Span, Status, StatusCode, Tracer

from hookspan.contract.outcomes import HookOutcome, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.telemetry import semconv
from hookspan.telemetry.names import bounded_text, hook_label, source_label, type_name

if TYPE_CHECKING:
    from hookspan.engine.probe import Chain
    from hookspan.telemetry.execution_span import ExecutionRecord
    from hookspan.telemetry.settings import Settings

_CHAIN_LIMIT = 32
_VALUES = {point: point.value for point in InterceptionPoint}
_MORE = "_OTHER"
_NOT_REACHED = HookOutcome.NOT_REACHED.value

Identify = Callable[[Any], dict[str, Any]]
"""Returns what a context says of the agent, task, tool, step, crew and flow at work."""


class DispatchSpan:
    """One running dispatch.

    Attributes:
        point: The point's value.
        chain: Its hooks and what became of them.
        record: The run it belongs to, or None.
        context: The context that its hooks run in: its span is current there.
        duration: How long it took, in seconds; set by `close`, as the next two.
        outcome: What it came to.
        crashes: Name and error of each hook that crashed.
    """

    __slots__ = (
        "_span",
        "_started",
        "_token",
        "chain",
        "context",
        "crashes",
        "duration",
        "outcome",
        "point",
        "record",
    )

    def __init__(
        self,
        tracer: Tracer | None,
        chain: Chain,
        record: ExecutionRecord | None,
        identity: dict[str, Any],
        current: Context,
    ) -> None:
        self.chain = chain
        self.record = record
        self.point = point_value(chain.point)
        self.duration = 0.0
        self.outcome = Outcome.PROCEEDED
        self.crashes: list[tuple[str, BaseException]] = []
        attributes = {
            semconv.CREWAI_HOOK_POINT: self.point,
            semconv.CREWAI_HOOK_COUNT: len(chain.hooks),
            **identity,
        }
        self._span = start_span(tracer, f"run_hooks {self.point}", current, attributes)
        self.context = trace.set_span_in_context(self._span, current)
        self._token = attach(self.context)
        self._started = time.perf_counter()

    def close(self) -> None:
        """Give the context back, take the time, and read once what all signals then say."""
        self.duration = time.perf_counter() - self._started
        detach(self._token)
        self.outcome = self.chain.outcome
        self.crashes = crashed(self.chain)

    def end(self, settings: Settings) -> None:
        """Say on the span what became of the dispatch, and end it."""
        span, chain = self._span, self.chain
        if span.is_recording():
            names, results = hooks_shown(chain)
            attributes: dict[str, Any] = {
                semconv.CREWAI_HOOK_OUTCOME: self.outcome.value,
                semconv.CREWAI_HOOK_DURATION: self.duration,
                semconv.CREWAI_HOOK_EFFECT: self.effect,
                semconv.CREWAI_HOOK_CHAIN: chain_text(names, results, len(chain.hooks)),
            }
            if len(names) == 1:
                attributes[semconv.CREWAI_HOOK_NAME] = names[0]
                attributes[semconv.CREWAI_HOOK_RESULT] = results[0]
            if self.outcome is Outcome.MODIFIED:
                attributes[semconv.CREWAI_HOOK_CHANGE] = semconv.CREWAI_HOOK_CHANGE_REPLACED
            if self.crashes or self.outcome is Outcome.ABORTED:
                self._add_failures(span, attributes, settings)
            if self.point == semconv.CREWAI_HOOK_POINT_EXECUTION_END:
                attributes[semconv.CREWAI_EXECUTION_STATUS] = end_status(chain.ctx)
            span.set_attributes(attributes)
        span.end()

    @property
    def effect(self) -> str:
        """What becomes of the verdict."""
        chain = self.chain
        return chain.loop.effect(chain.point, self.outcome, chain.ctx).value

    def _add_failures(self, span: Span, attributes: dict[str, Any], settings: Settings) -> None:
        abort = self.chain.abort
        if abort is not None:
            attributes.update(abort_attributes(abort, settings))
            if settings.abort_status == "error":
                attributes[semconv.ERROR_TYPE] = type_name(type(abort))
                span.set_status(Status(StatusCode.ERROR))
        if self.crashes:
            attributes[semconv.CREWAI_HOOK_EXCEPTION_COUNT] = len(self.crashes)
        for name, error in self.crashes:
            event = {semconv.CREWAI_HOOK_NAME: name, **error_attributes(error, settings)}
            span.add_event(semconv.EVENT_EXCEPTION, event)


def start_span(
    tracer: Tracer | None, name: str, context: Context, attributes: dict[str, Any]
) -> Span:
    """Start a span; without a tracer one that records nothing and hands its parent on."""
    if tracer is None:
        return NonRecordingSpan(trace.get_current_span(context).get_span_context())
    return tracer.start_span(name, context, attributes=attributes)


def point_value(point: Any) -> str:
    """Return the value of a point, ours or crewAI's, as a plain string."""
    return _VALUES.get(point) or str(getattr(point, "value", point))


def end_status(ctx: Any) -> str:
    """Return what an EXECUTION_END context says of the run."""
    failed = getattr(ctx, "status", None) == semconv.CREWAI_EXECUTION_STATUS_FAILED
    return (
        semconv.CREWAI_EXECUTION_STATUS_FAILED
        if failed
        else semconv.CREWAI_EXECUTION_STATUS_COMPLETED
    )


def hooks_shown(chain: Chain) -> tuple[list[str], list[str]]:
    """Return the names of the hooks, in order, and what became of each; of the first 32 only."""
    names = [hook_label(hook) for hook in chain.hooks[:_CHAIN_LIMIT]]
    results = [entry[1].value for entry in chain[:_CHAIN_LIMIT]]
    results += [_NOT_REACHED] * (len(names) - len(results))
    return names, results


def chain_text(names: list[str], results: list[str], count: int) -> list[str]:
    """Return ``name=result`` of each hook; with more than 32 of 31 and how many more there are.

    Args:
        names: Names of the hooks, of 32 at most.
        results: What became of each.
        count: How many hooks there are.
    """
    texts = [f"{name}={result}" for name, result in zip(names, results, strict=True)]
    if count > _CHAIN_LIMIT:
        texts[-1] = f"{_MORE}={count - _CHAIN_LIMIT + 1}"
    return texts


def crashed(chain: Chain) -> list[tuple[str, BaseException]]:
    """Return the name and the error of each hook that crashed."""
    return [
        (hook_label(hook), error)
        for hook, outcome, _, error in chain
        if outcome is HookOutcome.ERRORED and error is not None
    ]


def abort_attributes(abort: BaseException, settings: Settings) -> dict[str, Any]:
    """Return who aborted and, unless that is switched off, why."""
    attributes: dict[str, Any] = {
        semconv.CREWAI_HOOK_ABORT_SOURCE: source_label(getattr(abort, "source", None))
    }
    if settings.capture_abort_reason:
        reason, cut = bounded_text(getattr(abort, "reason", ""))
        attributes[semconv.CREWAI_HOOK_ABORT_REASON] = reason
        if cut:
            attributes[semconv.CREWAI_HOOK_ABORT_REASON_TRUNCATED] = True
    return attributes


def error_attributes(error: BaseException, settings: Settings) -> dict[str, Any]:
    """Return the class of an error and, only when that is switched on, its message."""
    attributes: dict[str, Any] = {semconv.EXCEPTION_TYPE: type_name(type(error))}
    if settings.capture_exception_message:
        attributes[semconv.EXCEPTION_MESSAGE] = message_of(error)
    return attributes


def message_of(error: BaseException) -> str:
    """Return the message of an error, bounded; nothing when it cannot be rendered."""
    try:
        return bounded_text(str(error))[0]
    except Exception:  # noqa: BLE001 - a hostile __str__ says nothing
        return ""

"""One dispatch as a span: the hot path.

Started with what samplers may want to see, current while the hooks run, so that whatever they do
is below it, and finished in one go. Attributes are built only for a span that records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Link, NonRecordingSpan, Span, Status, StatusCode, Tracer

from hookspan.contract.outcomes import HookOutcome, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.telemetry import content, semconv
from hookspan.telemetry.failures import abort_attributes, error_attributes
from hookspan.telemetry.hook_facts import HookFacts, facts_of, names_of
from hookspan.telemetry.hook_span import HookSpans, options_of
from hookspan.telemetry.names import type_name

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
        about: Who and what it is about, the point included, as attributes.
        chain: Its hooks and what became of them.
        record: The run it belongs to, or None.
        context: The context that its hooks run in: its span is current there.
        duration: How long it took, in seconds; set by `close`, as all that follows.
        outcome: What it came to.
        facts: What became of each hook that was reached.
        crashes: Those of them that crashed.
    """

    __slots__ = (
        "_duplicates",
        "_hook_spans",
        "_names",
        "_span",
        "_started",
        "_token",
        "about",
        "chain",
        "context",
        "crashes",
        "duration",
        "facts",
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
        self.facts: list[HookFacts] = []
        self.crashes: list[HookFacts] = []
        self._names: list[str] = []
        self._duplicates = 0
        self._hook_spans: HookSpans | None = None
        about = self.about = {**identity, semconv.CREWAI_HOOK_POINT: self.point}
        attributes = {**about, semconv.CREWAI_HOOK_COUNT: len(chain.hooks)}
        self._span = start_span(tracer, f"run_hooks {self.point}", current, attributes)
        self.context = trace.set_span_in_context(self._span, current)
        self._token = attach(self.context)
        self._started = time.perf_counter()

    def open_hook_spans(self, tracer: Tracer, mode: str) -> None:
        """Give each hook a span of its own, where the mode and the number of hooks ask for it."""
        wanted = mode == "always" or (mode == "auto" and len(self.chain.hooks) > 1)
        if wanted and self._span.is_recording():
            self._hook_spans = HookSpans(tracer, self.chain, self.point)
            self.chain.around = self._hook_spans.around

    def close(self) -> None:
        """Give the context back, take the time, and read once what all signals then say."""
        self.duration = time.perf_counter() - self._started
        detach(self._token)
        chain = self.chain
        self._names, self._duplicates = names_of(chain.hooks)
        self.outcome = chain.outcome
        self.facts = facts_of(chain, self._names)
        self.crashes = [fact for fact in self.facts if fact.outcome is HookOutcome.ERRORED]

    def end(self, settings: Settings) -> None:
        """Say on the span, and on those of its hooks, what became of them, and end them."""
        if self._hook_spans is not None:
            self._hook_spans.end(self.facts, failed_closed=self.chain.failed_closed)
        if self._span.is_recording():
            self._describe(settings)
        self._span.end()

    @property
    def effect(self) -> str:
        """What becomes of the verdict."""
        return self.chain.effect_of(self.outcome).value

    def _describe(self, settings: Settings) -> None:
        chain = self.chain
        attributes: dict[str, Any] = {
            semconv.CREWAI_HOOK_OUTCOME: self.outcome.value,
            semconv.CREWAI_HOOK_DURATION: self.duration,
            semconv.CREWAI_HOOK_EFFECT: self.effect,
            semconv.CREWAI_HOOK_CHAIN: chain_text(self._names, self.facts),
            **content.on_span(self.point, chain.ctx, settings),
        }
        if len(chain.hooks) == 1 and self.facts:
            (only,) = self.facts
            attributes[semconv.CREWAI_HOOK_NAME] = only.name
            attributes[semconv.CREWAI_HOOK_RESULT] = only.outcome.value
            attributes.update(options_of(only))
        elif any(fact.over_budget for fact in self.facts):
            attributes[semconv.CREWAI_HOOK_OVER_BUDGET] = True
        if chain.change is not None:
            attributes[semconv.CREWAI_HOOK_CHANGE] = chain.change.value
        if self._duplicates:
            attributes[semconv.CREWAI_HOOK_DUPLICATE_COUNT] = self._duplicates
        if self.point == semconv.CREWAI_HOOK_POINT_EXECUTION_END:
            attributes[semconv.CREWAI_EXECUTION_STATUS] = end_status(chain.ctx)
        if self.crashes or chain.abort is not None:
            attributes.update(self._failures(settings))
        self._span.set_attributes(attributes)

    def _failures(self, settings: Settings) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        abort = self.chain.abort
        if abort is not None:
            attributes.update(abort_attributes(abort, settings))
            if settings.abort_status == "error":
                attributes[semconv.ERROR_TYPE] = type_name(type(abort))
                self._span.set_status(Status(StatusCode.ERROR))
        if self.chain.failed_closed:
            attributes[semconv.CREWAI_HOOK_FAILED_CLOSED] = True
        if self.crashes:
            attributes[semconv.CREWAI_HOOK_EXCEPTION_COUNT] = len(self.crashes)
        for fact in self.crashes:
            if fact.error is not None:
                said = error_attributes(fact.error, settings)
                event = {semconv.CREWAI_HOOK_NAME: fact.name, **said}
                self._span.add_event(semconv.EVENT_EXCEPTION, event)
        return attributes


def start_span(
    tracer: Tracer | None,
    name: str,
    context: Context,
    attributes: dict[str, Any],
    links: Sequence[Link] = (),
) -> Span:
    """Start a span; without a tracer one that records nothing and hands its parent on."""
    if tracer is None:
        return NonRecordingSpan(trace.get_current_span(context).get_span_context())
    return tracer.start_span(name, context, attributes=attributes, links=links)


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


def chain_text(names: list[str], facts: list[HookFacts]) -> list[str]:
    """Return ``name=result`` of each hook; with more than 32 of 31 and how many more there are.

    Args:
        names: Names of the hooks, in order.
        facts: What became of those that were reached.
    """
    texts = [f"{fact.name}={fact.outcome.value}" for fact in facts[:_CHAIN_LIMIT]]
    texts += [f"{name}={_NOT_REACHED}" for name in names[len(texts) : _CHAIN_LIMIT]]
    if len(names) > _CHAIN_LIMIT:
        texts[-1] = f"{_MORE}={len(names) - _CHAIN_LIMIT + 1}"
    return texts

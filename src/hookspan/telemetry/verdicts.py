"""A dispatch that has ended, as metrics and audit records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookspan.contract.outcomes import HookOutcome, Outcome
from hookspan.telemetry import content, semconv
from hookspan.telemetry.dispatch_span import DispatchSpan, end_status
from hookspan.telemetry.failures import abort_attributes, error_attributes
from hookspan.telemetry.names import type_name

if TYPE_CHECKING:
    from hookspan.telemetry.hook_facts import HookFacts
    from hookspan.telemetry.instruments import Instruments
    from hookspan.telemetry.records import Records
    from hookspan.telemetry.settings import Settings


def count(span: DispatchSpan, instruments: Instruments) -> None:
    """Put a dispatch into the metrics, and into the counts of the run it belongs to."""
    record, context, point = span.record, span.context, span.point
    workflow = record.workflow if record else None
    instruments.dispatch(point, span.outcome.value, workflow, span.duration, context)
    for fact in span.facts:
        instruments.invocation(point, fact, context)
        if fact.outcome is HookOutcome.ERRORED and fact.error is not None:
            instruments.exception(point, fact.name, type_name(type(fact.error)), context)
    aborted = span.outcome is Outcome.ABORTED
    if record is None:
        return
    if point == semconv.CREWAI_HOOK_POINT_EXECUTION_END:
        record.status = end_status(span.chain.ctx)
    if span.crashes or aborted:
        record.count(aborts=int(aborted), exceptions=len(span.crashes))


def report(
    span: DispatchSpan, instruments: Instruments, records: Records, settings: Settings
) -> None:
    """Write the audit records of a dispatch: of each crash, each shadow decision, the abort."""
    enforced = {
        **span.about,
        semconv.CREWAI_HOOK_EFFECT: span.effect,
        **content.on_record(span.point, span.chain.ctx, settings),
    }
    if span.chain.failed_closed:
        enforced[semconv.CREWAI_HOOK_FAILED_CLOSED] = True
    for fact in span.facts:
        if fact.over_budget and fact.duration is not None:
            records.warn_of_budget(span.point, fact.name, fact.duration)
        if fact.outcome is HookOutcome.ERRORED and fact.error is not None:
            attributes = {**enforced, **_named(fact), **error_attributes(fact.error, settings)}
            closed = span.chain.failed_closed and fact is span.facts[-1]
            if not closed:
                attributes.pop(semconv.CREWAI_HOOK_FAILED_CLOSED, None)
            event = semconv.EVENT_CREWAI_HOOK_EXCEPTION
            records.emit(event, attributes, span.context, severe=closed)
        elif fact.outcome is HookOutcome.WOULD_ABORT and fact.error is not None:
            attributes = {**span.about, **_named(fact), **abort_attributes(fact.error, settings)}
            records.emit(semconv.EVENT_CREWAI_HOOK_WOULD_ABORT, attributes, span.context)
    abort = span.chain.abort
    if abort is not None:
        attributes = abort_attributes(abort, settings)
        source = attributes[semconv.CREWAI_HOOK_ABORT_SOURCE]
        instruments.abort(span.point, source, span.context)
        attributes = {**enforced, **_named(span.facts[-1]), **attributes}
        records.emit(semconv.EVENT_CREWAI_HOOK_ABORTED, attributes, span.context)


def _named(fact: HookFacts) -> dict[str, Any]:
    named: dict[str, Any] = {semconv.CREWAI_HOOK_NAME: fact.name}
    if fact.version is not None:
        named[semconv.CREWAI_HOOK_VERSION] = fact.version
    return named

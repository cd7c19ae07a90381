"""What the integrations call: turns dispatches and runs into spans, metrics and log records."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from opentelemetry import _logs, metrics, trace
from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context, get_current
from opentelemetry.instrumentation.utils import is_instrumentation_enabled
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, TracerProvider

from hookspan.contract.outcomes import HookOutcome
from hookspan.engine.api import REGISTRY
from hookspan.engine.guard import GUARD
from hookspan.engine.observe import Finish
from hookspan.engine.probe import Chain
from hookspan.telemetry import semconv, verdicts
from hookspan.telemetry.dispatch_span import DispatchSpan, Identify, point_value, start_span
from hookspan.telemetry.execution_span import (
    ExecutionRecord,
    Run,
    current_execution,
    outcome_of,
    start_attributes,
)
from hookspan.telemetry.failures import message_of
from hookspan.telemetry.hook_facts import HookFacts
from hookspan.telemetry.instruments import Instruments
from hookspan.telemetry.listening import is_stand_in
from hookspan.telemetry.live import Live
from hookspan.telemetry.names import type_name
from hookspan.telemetry.records import Records
from hookspan.telemetry.settings import Settings

LIVE = Live()
"""What is running in this process."""

_LOOK_EVERY = 0.1


def _is_reported(fact: HookFacts) -> bool:
    return fact.over_budget or fact.outcome in (HookOutcome.ERRORED, HookOutcome.WOULD_ABORT)


def _nothing(_error: BaseException | None) -> None:
    """Finish what was not begun."""


class Recorder:
    """Records dispatches and runs.

    Args:
        version: Version of the package, for the instrumentation scope.
        settings: What it may do.
        identify: Returns what a context says of the agent, task, tool, step and model.
        identify_run: Returns what it says of the crew or flow; asked outside of every run.
        execution_uuid: Returns the runtime's own id of the outermost run, or None.
        blocked: Exception types that stand for an abort when they leave a run.
        tracer_provider: None for the global one, whenever it is set.
        meter_provider: The same.
        logger_provider: The same.
    """

    def __init__(  # noqa: PLR0913 - one argument for each thing that it ties together
        self,
        version: str,
        settings: Settings,
        *,
        identify: Identify,
        identify_run: Identify,
        execution_uuid: Callable[[], str | None] = lambda: None,
        blocked: tuple[type[BaseException], ...] = (),
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        tracer = trace.get_tracer(semconv.SCOPE, version, tracer_provider)
        meter = metrics.get_meter(semconv.SCOPE, version, meter_provider)
        logger = _logs.get_logger(semconv.SCOPE, version, logger_provider)
        self._records = Records(
            logger, lambda: not is_stand_in(logger_provider or _logs.get_logger_provider())
        )
        self._settings = settings
        self._identify = identify
        self._identify_run = identify_run
        self._execution_uuid = execution_uuid
        self._blocked = blocked
        self._dispatch_tracer = tracer if settings.spans == "all" else None
        self._execution_tracer = tracer if settings.execution_span else None
        self._instruments = Instruments(meter, settings, LIVE)
        self._given = (tracer_provider, meter_provider, logger_provider)
        self._listening = False
        self._look_at = 0.0
        self.look()

    def look(self) -> bool:
        """Tell whether anybody takes what is recorded, now that providers may have been set."""
        givens = zip(
            self._given,
            (trace.get_tracer_provider, metrics.get_meter_provider, _logs.get_logger_provider),
            strict=True,
        )
        providers = [given or get() for given, get in givens]
        self._listening = not all(map(is_stand_in, providers))
        return self._listening

    def wanted(self) -> bool:
        """Tell whether a dispatch is worth watching.

        Providers may be set at any time. Once one is, the answer stays; until then they are looked
        for at the start of each run and ten times a second.
        """
        if self._listening:
            return True
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + _LOOK_EVERY
        return self.look()

    def operation(self, point: str) -> None:
        """Count an operation that the runtime has begun, whether or not a hook was asked.

        Args:
            point: The value of the point that stands before such operations.
        """
        self._instruments.operation(point)

    def failed(self, operation: str, error: BaseException) -> None:
        """Count a failure of our own."""
        self._instruments.error(operation, type_name(type(error)))

    def begin_dispatch(self, chain: Chain) -> Finish:
        """Record a dispatch that begins; return what records its end."""
        settings = self._settings
        points = settings.points
        if (points and point_value(chain.point) not in points) or not is_instrumentation_enabled():
            return _nothing
        current = get_current()
        record = current_execution(current)
        identity = self._identity(chain.ctx, record)
        chain.watch()  # before there is a span: should it fail, none is left open and current
        span = DispatchSpan(self._dispatch_tracer, chain, record, identity, current)
        LIVE.open_dispatch(span, span.point)
        if self._dispatch_tracer is not None:
            span.open_hook_spans(self._dispatch_tracer, settings.hook_spans)

        def finish(_error: BaseException | None) -> None:
            span.close()
            LIVE.close_dispatch(span)
            try:
                span.end(settings)
            finally:
                verdicts.count(span, self._instruments)
                if span.chain.abort is not None or any(map(_is_reported, span.facts)):
                    verdicts.report(span, self._instruments, self._records, settings)

        return finish

    def _identity(self, ctx: Any, record: ExecutionRecord | None) -> dict[str, Any]:
        """Say what a dispatch is about: what the context says, then what the run around it is."""
        identity = dict(record.identity) if record else self._identify_run(ctx)
        identity.update(self._identify(ctx))
        if record is not None:
            record.relate_attempt(identity)
        uuid = self._execution_uuid()
        if uuid is not None:
            identity[semconv.CREWAI_EXECUTION_UUID] = uuid
            if record is not None:
                record.execution_uuid = uuid
        return identity

    def begin_execution(self, run: Run) -> Frame | None:
        """Record a run that begins and make it current.

        Args:
            run: What is known of it.

        Returns:
            The frame, which records its end, or None when nobody listens or it is suppressed.
        """
        if not self.look() or not is_instrumentation_enabled():
            return None
        context = get_current()
        outer = current_execution(context)
        workflow = run.workflow or (outer.workflow if outer else None)
        self._instruments.announce(workflow, REGISTRY.points_in_use())
        attributes = start_attributes(run, nested=outer is not None)
        span = start_span(self._execution_tracer, run.span_name, context, attributes, run.links)
        record = ExecutionRecord(run, span, outer)
        inside = record.enter()
        frame = Frame(self, record, inside)
        LIVE.open_execution(frame, run.kind)
        return frame

    def end_execution(
        self,
        record: ExecutionRecord,
        context: Context,
        outcome: str,
        error: BaseException | None = None,
        closed_by: str = semconv.CREWAI_EXECUTION_CLOSED_BY_FRAME,
    ) -> None:
        """Record how a run ended."""
        duration = time.monotonic() - record.started
        record.end_span(outcome, error, closed_by)
        run = record.run
        self._instruments.execution(
            kind=run.kind,
            outcome=outcome,
            denied=record.abort_count > 0,
            nested=record.nested,
            name=run.name,
            error_type=None if error is None else type_name(type(error)),
            duration=duration,
            context=context,
        )
        if outcome == semconv.CREWAI_EXECUTION_OUTCOME_FAILED and not record.nested:
            self._emit_failure(record, context, outcome, error)

    def _emit_failure(
        self, record: ExecutionRecord, context: Context, outcome: str, error: BaseException | None
    ) -> None:
        attributes: dict[str, Any] = {
            **record.identity,
            semconv.CREWAI_EXECUTION_OUTCOME: outcome,
            semconv.ERROR_TYPE: type_name(type(error)),
        }
        if record.execution_uuid is not None:
            attributes[semconv.CREWAI_EXECUTION_UUID] = record.execution_uuid
        if self._settings.capture_exception_message and error is not None:
            attributes[semconv.EXCEPTION_MESSAGE] = message_of(error, self._settings)
        self._records.emit(semconv.EVENT_CREWAI_EXECUTION_EXCEPTION, attributes, context)

    def outcome(self, error: BaseException | None) -> str:
        """Return the outcome of a run from what left it."""
        return outcome_of(error, self._blocked)


class Frame:
    """An open run and what ends it."""

    __slots__ = ("__weakref__", "_context", "_record", "_recorder")

    def __init__(self, recorder: Recorder, record: ExecutionRecord, context: Context) -> None:
        self._recorder = recorder
        self._record = record
        self._context = context

    @property
    def span(self) -> Span:
        """The span of the run."""
        return self._record.span

    def finish(
        self,
        error: BaseException | None,
        outcome: str | None = None,
        execution_uuid: str | None = None,
    ) -> None:
        """End the run, the first time only.

        Args:
            error: What left it, or None.
            outcome: What the caller saw, where the error alone does not say.
            execution_uuid: crewAI's own id of the outermost run, where it is known by now.
        """
        record = self._record
        if not record.leave():
            return
        LIVE.close_execution(self)
        record.execution_uuid = record.execution_uuid or execution_uuid
        outcome = outcome or self._recorder.outcome(error)
        self._recorder.end_execution(record, self._context, outcome, error)

    def cut_off(self) -> None:
        """End the record of a run that goes on, since nobody will take the rest of it."""
        if not self._record.close():
            return
        LIVE.close_execution(self)
        self._recorder.end_execution(
            self._record,
            self._context,
            semconv.CREWAI_EXECUTION_OUTCOME_INTERRUPTED,
            closed_by=semconv.CREWAI_EXECUTION_CLOSED_BY_SHUTDOWN,
        )


def cut_off_executions() -> None:
    """End the records of all runs that are open in this process, nested ones first."""
    for frame in reversed(LIVE.executions()):
        try:
            frame.cut_off()
        except Exception as error:  # noqa: BLE001 - the others have their turn
            GUARD.failed("execution.cut_off", error)

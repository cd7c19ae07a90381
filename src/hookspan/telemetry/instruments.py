"""Every instrument of ours, made once, with the attributes that each may have."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, Observation

from hookspan.contract.outcomes import Outcome
from hookspan.telemetry import semconv
from hookspan.telemetry.names import BoundedNames
from hookspan.telemetry.tally import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookspan.telemetry.hook_facts import HookFacts
    from hookspan.telemetry.live import Live
    from hookspan.telemetry.semconv import Metric
    from hookspan.telemetry.settings import Settings

Attributes = dict[str, "str | bool"]

MAX_SERIES = 1000
"""How many attribute sets an instrument may have, far below the SDK's own bound of 2,000."""

OVERFLOW = "otel.metric.overflow"
"""The one attribute of what lies beyond, as the metrics SDK itself marks it."""


class Series:
    """Keeps the attribute sets of an instrument to a number; what is further is recorded as one."""

    def __init__(self, limit: int = MAX_SERIES) -> None:
        self._limit = limit
        self._known: set[tuple[tuple[str, str | bool], ...]] = set()

    def __call__(self, attributes: Attributes) -> Attributes:
        """Return the attributes, or the mark of an overflow when as many others came before."""
        key = tuple(attributes.items())
        if key not in self._known:
            if len(self._known) >= self._limit:
                return {OVERFLOW: True}
            self._known.add(key)
        return attributes


class Instruments:
    """The instruments of one meter.

    Attribute sets are made once per combination and shared; every label that a user's text could
    reach is capped.

    Args:
        meter: Makes the instruments.
        settings: Holds the caps.
        live: What is running now, for the observable instruments.
    """

    def __init__(self, meter: Meter, settings: Settings, live: Live) -> None:
        self._dispatches = live.dispatch_counts
        self._aborts = _counter(meter, semconv.METRIC_CREWAI_HOOK_ABORTS)
        self._exceptions = _counter(meter, semconv.METRIC_CREWAI_HOOK_EXCEPTIONS)
        self._executions = _counter(meter, semconv.METRIC_CREWAI_EXECUTIONS)
        self._errors = _counter(meter, semconv.METRIC_HOOKSPAN_ERRORS)
        self._invocations = live.invocation_counts
        self._over_budget = _counter(meter, semconv.METRIC_CREWAI_HOOK_BUDGET_EXCEEDED)
        self._operations = _counter(meter, semconv.METRIC_CREWAI_OPERATIONS)
        self._duration = _histogram(meter, semconv.METRIC_CREWAI_HOOK_DISPATCH_DURATION)
        self._invocation = _histogram(meter, semconv.METRIC_CREWAI_HOOK_INVOCATION_DURATION)
        self._workflow = _histogram(meter, semconv.METRIC_GEN_AI_INVOKE_WORKFLOW_DURATION)
        self._agent = _histogram(meter, semconv.METRIC_GEN_AI_INVOKE_AGENT_DURATION)
        self._workflow_names = BoundedNames(settings.max_workflow_names)
        self._agent_names = BoundedNames(settings.max_workflow_names)
        self._sources = BoundedNames(settings.max_sources)
        self._hook_names = BoundedNames(settings.max_hook_names)
        self._error_types = BoundedNames(32)
        self._sets: dict[tuple[str, str, str | None], tuple[Cell, Attributes]] = {}
        self._hook_sets: dict[tuple[str, str, str], tuple[Cell, Attributes]] = {}
        self._series: defaultdict[str, Series] = defaultdict(Series)
        _observe(meter, live, self._hook_names)

    def dispatch(
        self, point: str, outcome: str, workflow: str | None, duration: float, context: Context
    ) -> None:
        """Count one dispatch.

        Args:
            point: The point's value.
            outcome: The outcome's value.
            workflow: Name of the enclosing crew or flow, None outside of one.
            duration: In seconds.
            context: Holds the dispatch's span, for exemplars.
        """
        key = (point, outcome, workflow)
        count, timed = self._sets.get(key) or self._attribute_sets(*key)
        count.add()
        self._duration.record(duration, timed, context)

    def _attribute_sets(
        self, point: str, outcome: str, workflow: str | None
    ) -> tuple[Cell, Attributes]:
        duration: Attributes = {
            semconv.CREWAI_HOOK_POINT: point,
            semconv.CREWAI_HOOK_OUTCOME: outcome,
        }
        count = dict(duration)
        name = None if workflow is None else self._workflow_names(workflow)
        if name is not None:
            count[semconv.GEN_AI_WORKFLOW_NAME] = name
        count = self._series["dispatches"](count)
        cell = self._dispatches.cell(count)
        if name == workflow and OVERFLOW not in count:  # what is folded has no bound: not kept
            self._sets[point, outcome, workflow] = (cell, duration)
        return cell, duration

    def announce(self, workflow: str | None, points: Iterable[str]) -> None:
        """Let the outcomes of points be known as 0 before there is one.

        A series that is born at 1 shows no increase: an alert on the first abort would stay silent.

        Args:
            workflow: Name of the crew or flow that is about to run, None for an agent by itself.
            points: The points that have hooks.
        """
        for point, outcome in itertools.product(points, Outcome):
            if (point, outcome.value, workflow) not in self._sets:
                self._attribute_sets(point, outcome.value, workflow)

    def invocation(self, point: str, fact: HookFacts, context: Context) -> None:
        """Count what became of one hook, and how long it ran.

        Args:
            point: The point's value.
            fact: What became of it.
            context: Holds the dispatch's span, for exemplars.
        """
        key = (point, fact.name, fact.outcome.value)
        count, timed = self._hook_sets.get(key) or self._sets_of_hook(*key)
        count.add()
        if fact.duration is not None:
            self._invocation.record(fact.duration, timed, context)
        if fact.over_budget:
            self._over_budget.add(1, timed, context)

    def _sets_of_hook(self, point: str, hook: str, result: str) -> tuple[Cell, Attributes]:
        name = self._hook_names(hook)
        named: Attributes = {semconv.CREWAI_HOOK_POINT: point, semconv.CREWAI_HOOK_NAME: name}
        counted = self._series["invocations"]({**named, semconv.CREWAI_HOOK_RESULT: result})
        timed = self._series["hooks"](named)
        cell = self._invocations.cell(counted)
        if name == hook and OVERFLOW not in {**counted, **timed}:
            self._hook_sets[point, hook, result] = (cell, timed)
        return cell, timed

    def operation(self, point: str) -> None:
        """Count one operation that the runtime has begun."""
        self._operations.add(1, {semconv.CREWAI_HOOK_POINT: point})

    def abort(self, point: str, source: str, context: Context) -> None:
        """Count one abort by who stopped it."""
        attributes: Attributes = {
            semconv.CREWAI_HOOK_POINT: point,
            semconv.CREWAI_HOOK_ABORT_SOURCE: self._sources(source),
        }
        self._aborts.add(1, self._series["aborts"](attributes), context)

    def exception(self, point: str, hook: str, error_type: str, context: Context) -> None:
        """Count one hook that crashed."""
        attributes: Attributes = {
            semconv.CREWAI_HOOK_POINT: point,
            semconv.CREWAI_HOOK_NAME: self._hook_names(hook),
            semconv.ERROR_TYPE: self._error_types(error_type),
        }
        self._exceptions.add(1, self._series["exceptions"](attributes), context)

    def execution(  # noqa: PLR0913 - one keyword for each attribute of the metric
        self,
        *,
        kind: str,
        outcome: str,
        denied: bool,
        nested: bool,
        name: str | None,
        error_type: str | None,
        duration: float,
        context: Context,
    ) -> None:
        """Count one run that has ended.

        Args:
            kind: Crew, flow, agent or runtime.
            outcome: What the caller saw.
            denied: Whether a dispatch in it was aborted.
            nested: Whether it ran inside another run.
            name: Name of the crew or flow, role of the agent; None where there is none.
            error_type: Class of what left the run, None when nothing did.
            duration: In seconds.
            context: Holds the run's span, for exemplars.
        """
        is_agent = kind == semconv.CREWAI_EXECUTION_KIND_AGENT
        count: Attributes = {
            semconv.CREWAI_EXECUTION_KIND: kind,
            semconv.CREWAI_EXECUTION_OUTCOME: outcome,
            semconv.CREWAI_EXECUTION_DENIED: denied,
            semconv.CREWAI_EXECUTION_NESTED: nested,
        }
        timed: Attributes = {semconv.CREWAI_EXECUTION_NESTED: nested}
        if error_type is not None:
            timed[semconv.ERROR_TYPE] = self._error_types(error_type)
        if name is not None and is_agent:
            timed[semconv.GEN_AI_AGENT_NAME] = self._agent_names(name)
        elif name is not None:
            label = self._workflow_names(name)
            timed[semconv.GEN_AI_WORKFLOW_NAME] = count[semconv.GEN_AI_WORKFLOW_NAME] = label
        self._executions.add(1, self._series["executions"](count), context)
        series = self._series["agents" if is_agent else "workflows"]
        (self._agent if is_agent else self._workflow).record(duration, series(timed), context)

    def error(self, operation: str, error_type: str) -> None:
        """Count one failure of our own."""
        attributes: Attributes = {
            semconv.HOOKSPAN_OPERATION: operation,
            semconv.ERROR_TYPE: self._error_types(error_type),
        }
        self._errors.add(1, attributes)


def _counter(meter: Meter, metric: Metric) -> Counter:
    return meter.create_counter(metric.name, unit=metric.unit, description=metric.description)


def _histogram(meter: Meter, metric: Metric) -> Histogram:
    return meter.create_histogram(
        metric.name,
        unit=metric.unit,
        description=metric.description,
        explicit_bucket_boundaries_advisory=metric.boundaries,
    )


def _observe(meter: Meter, live: Live, hook_names: BoundedNames) -> None:
    """Make the instruments that are read when metrics are collected."""
    registrations = functools.partial(live.registrations, hook_names, Series())
    for create, metric, read in (
        (
            meter.create_observable_counter,
            semconv.METRIC_CREWAI_HOOK_DISPATCHES,
            live.dispatch_counts.reader(),
        ),
        (
            meter.create_observable_counter,
            semconv.METRIC_CREWAI_HOOK_INVOCATIONS,
            live.invocation_counts.reader(),
        ),
        (
            meter.create_observable_up_down_counter,
            semconv.METRIC_CREWAI_HOOK_DISPATCH_ACTIVE,
            live.dispatches_active,
        ),
        (
            meter.create_observable_gauge,
            semconv.METRIC_CREWAI_HOOK_DISPATCH_OLDEST,
            live.dispatches_oldest,
        ),
        (
            meter.create_observable_up_down_counter,
            semconv.METRIC_CREWAI_EXECUTION_ACTIVE,
            live.executions_active,
        ),
        (
            meter.create_observable_gauge,
            semconv.METRIC_HOOKSPAN_POINT_INSTRUMENTED,
            live.points_instrumented,
        ),
        (
            meter.create_observable_up_down_counter,
            semconv.METRIC_CREWAI_HOOK_REGISTRATION_COUNT,
            registrations,
        ),
    ):
        create(
            metric.name,
            callbacks=[_callback(read)],
            unit=metric.unit,
            description=metric.description,
        )


def _callback(
    read: Callable[[], Iterable[tuple[float, Attributes]]],
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def callback(_options: CallbackOptions) -> Iterable[Observation]:
        return [Observation(value, attributes) for value, attributes in read()]

    return callback

"""The recording rules: one per counter, exact for processes of seconds and of weeks.

`increase()` takes a series' first value as its origin, so of a process that lives for seconds, or
of a first abort, it sees nothing. Here a series that was not there a window ago counts with all it
has, unless its Collector was not up then: after a gap in scraping, old totals are not news. What
has grown less than nothing has restarted, and counts with all it has too.

No rule names `instance`: every process has its own, and rules outlive processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hookspan.mixin import series
from hookspan.mixin.settings import MixinSettings
from hookspan.telemetry import semconv


@dataclass(frozen=True)
class Counted:
    """A cumulative series and the labels that its recorded increase keeps.

    Attributes:
        level: What the labels are, for the name of the record.
        name: Name of the series.
        labels: Beside those of the target.
    """

    level: str
    name: str
    labels: tuple[str, ...]

    def record(self, settings: MixinSettings) -> str:
        """Return the name of the record: `level:metric:operation`."""
        return f"{self.level}:{self.name.removesuffix('_total')}:increase{settings.window}"

    def expression(self, settings: MixinSettings) -> str:
        """Return how much the series has grown in the last window, over all processes."""
        now = series.select(self.name, settings.selector)
        kept = series.by(settings, *self.labels)
        grown = f"({now} - ({now} offset {settings.window})) >= 0"
        return f"sum by ({kept}) (\n  ({grown})\n  or\n  {_news(now, settings)}\n)"


class Rule(NamedTuple):
    """A recording rule."""

    record: str
    expr: str


def _news(now: str, settings: MixinSettings) -> str:
    """Return what counts as new: all of it, where the Collector was up a window ago."""
    if not settings.scrape_guard:
        return now
    tie = series.comma(settings.guard_labels)
    was_up = f"{settings.scrape_guard} offset {settings.window} == 1"
    return f"({now} and on ({tie}) ({was_up}))"


_INVOCATION = semconv.METRIC_CREWAI_HOOK_INVOCATION_DURATION
_DISPATCH = semconv.METRIC_CREWAI_HOOK_DISPATCH_DURATION
_WORKFLOW = semconv.METRIC_GEN_AI_INVOKE_WORKFLOW_DURATION
_BY_POINT = (series.POINT, series.OUTCOME)
_BY_HOOK = (series.POINT, series.HOOK)
_BY_RUN = (series.CREW, series.NESTED)

DISPATCHES = Counted(
    "crew_point_outcome",
    series.counter(semconv.METRIC_CREWAI_HOOK_DISPATCHES),
    (*_BY_POINT, series.CREW),
)
EXECUTIONS = Counted(
    "crew_kind_outcome_denied_nested",
    series.counter(semconv.METRIC_CREWAI_EXECUTIONS),
    (series.KIND, series.RUN_OUTCOME, series.DENIED, series.NESTED, series.CREW),
)
INVOCATIONS = Counted(
    "point_hook_result",
    series.counter(semconv.METRIC_CREWAI_HOOK_INVOCATIONS),
    (*_BY_HOOK, series.RESULT),
)
EXCEPTIONS = Counted(
    "point_hook_error",
    series.counter(semconv.METRIC_CREWAI_HOOK_EXCEPTIONS),
    (*_BY_HOOK, series.ERROR),
)
ABORTS = Counted(
    "point_source",
    series.counter(semconv.METRIC_CREWAI_HOOK_ABORTS),
    (series.POINT, series.SOURCE),
)
OVER_BUDGET = Counted(
    "point_hook", series.counter(semconv.METRIC_CREWAI_HOOK_BUDGET_EXCEEDED), _BY_HOOK
)
OPERATIONS = Counted("point", series.counter(semconv.METRIC_CREWAI_OPERATIONS), (series.POINT,))
HOOK_BUCKETS = Counted(
    "point_hook_le", series.histogram(_INVOCATION, "bucket"), (*_BY_HOOK, series.BUCKET)
)
HOOK_COUNT = Counted("point_hook", series.histogram(_INVOCATION, "count"), _BY_HOOK)
HOOK_SECONDS = Counted("point_hook", series.histogram(_INVOCATION, "sum"), _BY_HOOK)
DISPATCH_BUCKETS = Counted(
    "point_outcome_le", series.histogram(_DISPATCH, "bucket"), (*_BY_POINT, series.BUCKET)
)
DISPATCH_SECONDS = Counted("point_outcome", series.histogram(_DISPATCH, "sum"), _BY_POINT)
RUN_COUNT = Counted("crew_nested", series.histogram(_WORKFLOW, "count"), _BY_RUN)
RUN_SECONDS = Counted("crew_nested", series.histogram(_WORKFLOW, "sum"), _BY_RUN)
OWN_ERRORS = Counted(
    "operation_error",
    series.counter(semconv.METRIC_HOOKSPAN_ERRORS),
    (series.OPERATION, series.ERROR),
)

COUNTED = (
    DISPATCHES,
    EXECUTIONS,
    INVOCATIONS,
    EXCEPTIONS,
    ABORTS,
    OVER_BUDGET,
    OPERATIONS,
    HOOK_BUCKETS,
    HOOK_COUNT,
    HOOK_SECONDS,
    DISPATCH_BUCKETS,
    DISPATCH_SECONDS,
    RUN_COUNT,
    RUN_SECONDS,
    OWN_ERRORS,
)

OPEN_RUNS = "kind:crewai_execution_active:sum"
REGISTERED = "point_hook_scope:crewai_hook_registration_count:sum"
REGISTERED_IN_ONE = "point_hook_scope:crewai_hook_registration_count:max"
INSTRUMENTED = "point_version:hookspan_point_instrumented:max"
ACTIVE = "point:crewai_hook_dispatch_active:sum"
OLDEST = "point:crewai_hook_dispatch_oldest_seconds:max"


def increases(settings: MixinSettings) -> list[Rule]:
    """Return a rule for each counter, and for each series of a histogram that is asked for."""
    return [Rule(counted.record(settings), counted.expression(settings)) for counted in COUNTED]


def states(settings: MixinSettings) -> list[Rule]:
    """Return a rule for each gauge, over all processes.

    The age of the oldest dispatch counts only where its process says that one is open: a process
    leaves it out when there is none, and the Collector then goes on showing the last one.
    """
    registered = _gauge(semconv.METRIC_CREWAI_HOOK_REGISTRATION_COUNT, settings)
    active = _gauge(semconv.METRIC_CREWAI_HOOK_DISPATCH_ACTIVE, settings)
    oldest = f"({_gauge(semconv.METRIC_CREWAI_HOOK_DISPATCH_OLDEST, settings)} and {active} > 0)"
    runs = _gauge(semconv.METRIC_CREWAI_EXECUTION_ACTIVE, settings)
    instrumented = _gauge(semconv.METRIC_HOOKSPAN_POINT_INSTRUMENTED, settings)
    hook = series.by(settings, series.POINT, series.HOOK, series.SCOPE)
    point = series.by(settings, series.POINT)
    return [
        Rule(OPEN_RUNS, f"sum by ({series.by(settings, series.KIND)}) ({runs})"),
        Rule(REGISTERED, f"sum by ({hook}) ({registered})"),
        Rule(REGISTERED_IN_ONE, f"max by ({hook}) ({registered})"),
        Rule(
            INSTRUMENTED,
            f"max by ({series.by(settings, series.POINT, series.VERSION)}) ({instrumented})",
        ),
        Rule(ACTIVE, f"sum by ({point}) ({active})"),
        Rule(OLDEST, f"max by ({point}) {oldest}"),
    ]


def base_name(settings: MixinSettings) -> str:
    """Return the name of the record of what went on in the base window."""
    return DISPATCHES.record(settings).replace(
        f":increase{settings.window}", f":sum{settings.base_window}"
    )


def bases(settings: MixinSettings) -> list[Rule]:
    """Return the rules over days, which need no frequent evaluation."""
    recorded = DISPATCHES.record(settings)
    over = f"{recorded}[{settings.base_window}:{settings.window}] offset {settings.slow_window}"
    return [Rule(base_name(settings), f"sum_over_time({over})")]


def _gauge(metric: semconv.Metric, settings: MixinSettings) -> str:
    return series.select(series.gauge(metric), settings.selector)

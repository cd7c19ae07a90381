"""The four dashboards: which panel asks which question."""

from __future__ import annotations

from hookspan.mixin import alerts, queries, records, series
from hookspan.mixin.panels import CREW, SERVICE, Json, Panel, dashboard
from hookspan.mixin.records import Counted
from hookspan.mixin.settings import MixinSettings

_RANGE = "$__range"
_IN_CREW = (SERVICE, CREW)
_AUDIT = '{service_name=~"$service"} | event_name=~"crewai.*" or "crewai.hook"'


def _sum(  # what most panels show
    settings: MixinSettings, counted: Counted, *labels: str, where: tuple[str, ...] = (SERVICE,)
) -> str:
    return queries.total(settings, counted, settings.window, *labels, where=where)


def _all(
    settings: MixinSettings, counted: Counted, *labels: str, where: tuple[str, ...] = (SERVICE,)
) -> str:
    return f"{queries.total(settings, counted, _RANGE, *labels, where=where)} > 0"


def _legend(*labels: str) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels)


def overview(settings: MixinSettings) -> Json:
    """Return the dashboard for whoever owns the policies."""
    window = settings.window
    outermost = (queries.OUTERMOST, *_IN_CREW)
    hook = (series.POINT, series.HOOK)

    def results(result: str) -> str:
        where = (f'{series.RESULT}="{result}"', SERVICE)
        return _all(settings, records.INVOCATIONS, *hook, where=where)

    panels = [
        Panel(
            "Runs by outcome",
            "What the callers of the outermost runs saw. Policy and bugs are told apart.",
            "timeseries",
            [
                (
                    _sum(settings, records.EXECUTIONS, series.RUN_OUTCOME, where=outermost),
                    _legend("job", series.RUN_OUTCOME),
                )
            ],
        ),
        Panel(
            "Denied runs",
            "Share of runs with an abort in them. Three aborts in one run are one denied run.",
            "timeseries",
            [
                (
                    queries.denied_share(settings, window, _IN_CREW),
                    _legend("job", series.CREW),
                )
            ],
            "percentunit",
        ),
        Panel(
            "Abort share",
            "Share of dispatches that were aborted, per crew and point.",
            "timeseries",
            [
                (
                    queries.abort_share(settings, window, _IN_CREW),
                    _legend(series.CREW, series.POINT),
                )
            ],
            "percentunit",
        ),
        Panel(
            "Aborts per denied run",
            "Above 1 where a denied agent tries again.",
            "timeseries",
            [
                (
                    _sum(
                        settings,
                        records.DISPATCHES,
                        series.CREW,
                        where=(queries.ABORTED, *_IN_CREW),
                    )
                    + " / ("
                    + _sum(
                        settings,
                        records.EXECUTIONS,
                        series.CREW,
                        where=(queries.IS_DENIED, *outermost),
                    )
                    + " > 0)",
                    _legend("job", series.CREW),
                )
            ],
        ),
        Panel("Aborting hooks", "Which hook aborts most.", "table", [(results("aborted"), "")]),
        Panel(
            "Aborts by source",
            "Who said no, in the words of the hooks.",
            "table",
            [(_all(settings, records.ABORTS, series.POINT, series.SOURCE), "")],
        ),
        Panel(
            "Crashed hooks",
            "Each was bypassed as often, unless it fails closed.",
            "table",
            [(_all(settings, records.EXCEPTIONS, *hook, series.ERROR), "")],
        ),
        Panel(
            "Modifying hooks", "Which hook changes payloads.", "table", [(results("modified"), "")]
        ),
        Panel(
            "Shadow decisions",
            "What hooks in shadow mode would have stopped.",
            "table",
            [(results("would_abort"), "")],
        ),
        Panel(
            "Audit records",
            "One for each abort and each crashed hook, never sampled.",
            "logs",
            [(_AUDIT, "")],
            store="logs",
        ),
    ]
    return dashboard(alerts.OVERVIEW, "hookspan / Policy overview", panels, settings)


def performance(settings: MixinSettings) -> Json:
    """Return the dashboard about time."""
    window = settings.window
    hook = _legend(series.POINT, series.HOOK)
    point = _legend("job", series.POINT)
    quantiles = [
        (queries.hook_quantile(settings, window, part, (SERVICE,)), f"p{part * 100:g} {hook}")
        for part in (0.5, 0.95, 0.99)
    ]
    runs = _sum(settings, records.RUN_SECONDS, where=(queries.OUTERMOST, SERVICE))
    panels = [
        Panel("Time of hooks", "Quantiles per hook.", "timeseries", quantiles, "s", 24, 10),
        Panel(
            "Share of run time",
            "Time in dispatches over the time of outermost runs; both count when they end.",
            "timeseries",
            [(f"{_sum(settings, records.DISPATCH_SECONDS)} / ({runs} > 0)", "{{job}}")],
            "percentunit",
        ),
        Panel(
            "Time of dispatches",
            "95th percentile per point.",
            "timeseries",
            [
                (
                    "histogram_quantile(0.95, "
                    + _sum(settings, records.DISPATCH_BUCKETS, series.POINT, series.BUCKET)
                    + ")",
                    point,
                )
            ],
            "s",
        ),
        Panel(
            "Over budget",
            "Calls that took longer than the hook's own budget.",
            "table",
            [(_all(settings, records.OVER_BUDGET, series.POINT, series.HOOK), "")],
        ),
        Panel(
            "Open dispatches",
            "Hooks that run now.",
            "timeseries",
            [(series.select(records.ACTIVE, SERVICE), point)],
        ),
        Panel(
            "Oldest dispatch",
            "A hook that hangs shows here while it hangs.",
            "timeseries",
            [(series.select(records.OLDEST, SERVICE), point)],
            "s",
        ),
        Panel(
            "Open runs",
            "Over all processes.",
            "timeseries",
            [(series.select(records.OPEN_RUNS, SERVICE), _legend("job", series.KIND))],
        ),
        Panel(
            "Dispatches per run",
            "What the hooks of a run cost in number.",
            "timeseries",
            [
                (
                    _sum(settings, records.DISPATCHES)
                    + " / ("
                    + _sum(settings, records.EXECUTIONS, where=(queries.OUTERMOST, SERVICE))
                    + " > 0)",
                    "{{job}}",
                )
            ],
        ),
    ]
    return dashboard(alerts.PERFORMANCE, "hookspan / Hook performance", panels, settings)


def coverage(settings: MixinSettings) -> Json:
    """Return the dashboard about which hooks there are, and whether they are asked."""
    hook = (series.POINT, series.HOOK, series.SCOPE)
    one = series.select(records.REGISTERED_IN_ONE, SERVICE)
    panels = [
        Panel(
            "Coverage",
            "Dispatches per operation: below 1, calls go past the hooks.",
            "timeseries",
            [
                (
                    queries.coverage(settings, settings.window, (SERVICE,)),
                    _legend("job", series.POINT),
                )
            ],
            "percentunit",
        ),
        Panel(
            "Operations",
            "Model and tool calls that crewAI began.",
            "timeseries",
            [(_sum(settings, records.OPERATIONS, series.POINT), _legend("job", series.POINT))],
        ),
        Panel(
            "Registered hooks",
            "Over all processes; flat unless something leaks or vanishes.",
            "timeseries",
            [(series.select(records.REGISTERED, SERVICE), _legend(*hook))],
        ),
        Panel("Inventory", "Most registrations in one process.", "table", [(f"{one} > 0", "")]),
        Panel(
            "Duplicates", "Registered more than once in a process.", "table", [(f"{one} > 1", "")]
        ),
        Panel(
            "Registered but not dispatched",
            "Hooks at points that nothing asked in the time shown.",
            "table",
            [(queries.not_dispatched(settings, _RANGE), "")],
        ),
        Panel(
            "Instrumented points",
            "1 where hooks at the point run in the installed crewAI, else 0.",
            "table",
            [(series.select(records.INSTRUMENTED, SERVICE), "")],
        ),
        Panel(
            "Dispatches by point",
            "Of points that have hooks; 0 where none was asked.",
            "timeseries",
            [
                (
                    _sum(settings, records.DISPATCHES, series.POINT, where=_IN_CREW),
                    _legend("job", series.POINT),
                )
            ],
        ),
    ]
    return dashboard(alerts.COVERAGE, "hookspan / Coverage and inventory", panels, settings)


def health(settings: MixinSettings) -> Json:
    """Return the dashboard about the telemetry itself."""
    own = settings.collector_selector
    guard = settings.scrape_guard or 'up{job="otel-collector"}'
    kinds = "(spans|metric_points|log_records)(_total)?"

    def flow(what: str) -> str:
        selected = series.select("", f'__name__=~"otelcol_{what}_{kinds}"', own)
        return f"sum by (__name__) (increase({selected}[{settings.window}]))"

    panels = [
        Panel(
            "Collectors up", "Scraped by Prometheus.", "stat", [(f"sum({guard})", "up")], width=6
        ),
        Panel(
            "Services that report",
            "With hookspan on.",
            "stat",
            [(f"count(count by (job) ({series.select(records.INSTRUMENTED, SERVICE)}))", "")],
            width=6,
        ),
        Panel(
            "Instrumented",
            "Points whose hooks run, of 20.",
            "stat",
            [(f"sum by (job) ({series.select(records.INSTRUMENTED, SERVICE)})", "{{job}}")],
            width=6,
        ),
        Panel(
            "Labels beyond a cap",
            "Attribute sets that were folded into one.",
            "stat",
            [
                (
                    "count by (job) ("
                    + series.select("", f'{series.OVERFLOW}="true"', settings.selector, SERVICE)
                    + ")",
                    "{{job}}",
                )
            ],
            width=6,
        ),
        Panel(
            "Failures of hookspan",
            "None of them reaches a run.",
            "table",
            [(_all(settings, records.OWN_ERRORS, series.OPERATION, series.ERROR), "")],
        ),
        Panel(
            "Accepted by the Collector",
            "Per recorded window.",
            "timeseries",
            [(flow("receiver_accepted"), "{{__name__}}")],
        ),
        Panel(
            "Lost by the Collector",
            "Refused, failed to be sent, or turned away by a full queue.",
            "timeseries",
            [(flow("(exporter_(send|enqueue)_failed|receiver_refused)"), "{{__name__}}")],
        ),
    ]
    return dashboard(alerts.HEALTH, "hookspan / Telemetry health", panels, settings)


def all_dashboards(settings: MixinSettings) -> list[Json]:
    """Return the four dashboards."""
    return [make(settings) for make in (overview, performance, coverage, health)]

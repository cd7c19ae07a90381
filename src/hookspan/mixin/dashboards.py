"""The four dashboards: which panel asks which question."""

from __future__ import annotations

from hookspan.mixin import alerts, queries, records, series
from hookspan.mixin.panels import SERVICE, Json, Panel, dashboard
from hookspan.mixin.policy_overview import IN_CREW, RANGE, grown, legend, over_range, overview
from hookspan.mixin.settings import MixinSettings


def performance(settings: MixinSettings) -> Json:
    """Return the dashboard about time."""
    window = settings.window
    hook = legend(series.POINT, series.HOOK)
    point = legend("job", series.POINT)
    quantiles = [
        (queries.hook_quantile(settings, window, part, (SERVICE,)), f"p{part * 100:g} {hook}")
        for part in (0.5, 0.95, 0.99)
    ]
    runs = grown(settings, records.RUN_SECONDS, where=(queries.OUTERMOST, SERVICE))
    panels = [
        Panel("Time of hooks", "Quantiles per hook.", "timeseries", quantiles, "s", 24, 10),
        Panel(
            "Share of run time",
            "Time in dispatches over the time of outermost runs; both count when they end.",
            "timeseries",
            [(f"{grown(settings, records.DISPATCH_SECONDS)} / ({runs} > 0)", "{{job}}")],
            "percentunit",
        ),
        Panel(
            "Time of dispatches",
            "95th percentile per point.",
            "timeseries",
            [
                (
                    "histogram_quantile(0.95, "
                    + grown(settings, records.DISPATCH_BUCKETS, series.POINT, series.BUCKET)
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
            [(over_range(settings, records.OVER_BUDGET, series.POINT, series.HOOK), "")],
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
            [(series.select(records.OPEN_RUNS, SERVICE), legend("job", series.KIND))],
        ),
        Panel(
            "Dispatches per run",
            "What the hooks of a run cost in number.",
            "timeseries",
            [
                (
                    grown(settings, records.DISPATCHES)
                    + " / ("
                    + grown(settings, records.EXECUTIONS, where=(queries.OUTERMOST, SERVICE))
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
                    legend("job", series.POINT),
                )
            ],
            "percentunit",
        ),
        Panel(
            "Operations",
            "Model and tool calls that crewAI began.",
            "timeseries",
            [(grown(settings, records.OPERATIONS, series.POINT), legend("job", series.POINT))],
        ),
        Panel(
            "Registered hooks",
            "Over all processes; flat unless something leaks or vanishes.",
            "timeseries",
            [(series.select(records.REGISTERED, SERVICE), legend(*hook))],
        ),
        Panel("Inventory", "Most registrations in one process.", "table", [(f"{one} > 0", "")]),
        Panel(
            "Duplicates", "Registered more than once in a process.", "table", [(f"{one} > 1", "")]
        ),
        Panel(
            "Registered but not dispatched",
            "Hooks at points that nothing asked in the time shown.",
            "table",
            [(queries.not_dispatched(settings, RANGE), "")],
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
                    grown(settings, records.DISPATCHES, series.POINT, where=IN_CREW),
                    legend("job", series.POINT),
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
            [(over_range(settings, records.OWN_ERRORS, series.OPERATION, series.ERROR), "")],
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

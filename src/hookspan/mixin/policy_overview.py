"""The dashboard for whoever owns the policies."""

from __future__ import annotations

from hookspan.mixin import alerts, queries, records, series
from hookspan.mixin.panels import CREW, SERVICE, Json, Panel, dashboard
from hookspan.mixin.records import Counted
from hookspan.mixin.settings import MixinSettings

RANGE = "$__range"
IN_CREW = (SERVICE, CREW)
_AUDIT = '{service_name=~"$service"} | event_name=~"crewai.*" or "crewai.hook"'


def grown(
    settings: MixinSettings, counted: Counted, *labels: str, where: tuple[str, ...] = (SERVICE,)
) -> str:
    """Return how much a counter grew in each recorded window."""
    return queries.total(settings, counted, settings.window, *labels, where=where)


def over_range(
    settings: MixinSettings, counted: Counted, *labels: str, where: tuple[str, ...] = (SERVICE,)
) -> str:
    """Return how much a counter grew in the time shown, where it did."""
    return f"{queries.total(settings, counted, RANGE, *labels, where=where)} > 0"


def legend(*labels: str) -> str:
    """Return a legend of labels."""
    return " ".join(f"{{{{{label}}}}}" for label in labels)


def overview(settings: MixinSettings) -> Json:
    """Return the dashboard for whoever owns the policies."""
    window = settings.window
    outermost = (queries.OUTERMOST, *IN_CREW)
    hook = (series.POINT, series.HOOK)

    def results(result: str) -> str:
        where = (f'{series.RESULT}="{result}"', SERVICE)
        return over_range(settings, records.INVOCATIONS, *hook, where=where)

    panels = [
        Panel(
            "Runs by outcome",
            "What the callers of the outermost runs saw. Policy and bugs are told apart.",
            "timeseries",
            [
                (
                    grown(settings, records.EXECUTIONS, series.RUN_OUTCOME, where=outermost),
                    legend("job", series.RUN_OUTCOME),
                )
            ],
        ),
        Panel(
            "Denied runs",
            "Share of runs with an abort in them. Three aborts in one run are one denied run.",
            "timeseries",
            [
                (
                    queries.denied_share(settings, window, IN_CREW),
                    legend("job", series.CREW),
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
                    queries.abort_share(settings, window, IN_CREW),
                    legend(series.CREW, series.POINT),
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
                    grown(
                        settings,
                        records.DISPATCHES,
                        series.CREW,
                        where=(queries.ABORTED, *IN_CREW),
                    )
                    + " / ("
                    + grown(
                        settings,
                        records.EXECUTIONS,
                        series.CREW,
                        where=(queries.IS_DENIED, *outermost),
                    )
                    + " > 0)",
                    legend("job", series.CREW),
                )
            ],
        ),
        Panel("Aborting hooks", "Which hook aborts most.", "table", [(results("aborted"), "")]),
        Panel(
            "Aborts by source",
            "Who said no, in the words of the hooks.",
            "table",
            [(over_range(settings, records.ABORTS, series.POINT, series.SOURCE), "")],
        ),
        Panel(
            "Crashed hooks",
            "Each was bypassed as often, unless it fails closed.",
            "table",
            [(over_range(settings, records.EXCEPTIONS, *hook, series.ERROR), "")],
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

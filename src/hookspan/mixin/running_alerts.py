"""Alerts about how hooks and runs go, and about the telemetry itself."""

from __future__ import annotations

from hookspan.mixin import alerts, queries, records, series
from hookspan.mixin.alerts import Alert
from hookspan.mixin.settings import MixinSettings
from hookspan.telemetry import semconv

_AT = f"{{{{ $labels.{series.POINT} }}}}"
_HOOK = f"{{{{ $labels.{series.HOOK} }}}}"
_JOB = "{{ $labels.job }}"
_BY_HOOK = (series.POINT, series.HOOK)
_LOST = (
    "otelcol_(exporter_(send|enqueue)_failed|receiver_(refused|failed)|processor_refused)_"
    "(spans|metric_points|log_records)(_total)?"
)


def running_alerts(settings: MixinSettings) -> list[Alert]:
    """Return the alerts about slow, hung and leaking hooks and about stuck runs."""
    return [
        _slow(settings),
        _over_budget(settings),
        _hung(settings),
        _leak(settings),
        _stuck(settings),
    ]


def telemetry_alerts(settings: MixinSettings) -> list[Alert]:
    """Return the alerts about telemetry that is absent, lost or off."""
    scraped = [_collector(settings)] if settings.scrape_guard else []
    return [
        *scraped,
        _absent(settings),
        _dropping(settings),
        _own_errors(settings),
        _not_instrumented(settings),
    ]


def _slow(settings: MixinSettings) -> Alert:
    calls = queries.total(settings, records.HOOK_COUNT, settings.window, *_BY_HOOK)
    return Alert(
        "HookspanHookSlow",
        "warning",
        f"{queries.hook_quantile(settings, settings.window, 0.95)} > {settings.hook_seconds:g}\n"
        f"and {calls} >= {settings.min_invocations}",
        settings.hold,
        f"Hook {_HOOK} is slow at {_AT}",
        "One call in twenty takes {{ $value | humanizeDuration }} or longer.",
        alerts.PERFORMANCE,
        "The 95th percentile of the time that one hook takes is above its threshold.",
        "*Time of hooks* on the performance dashboard; a trace: what the hook itself does shows "
        "below its span.",
        "Cache what the hook asks for, give its client a time-out, or move it off the hot point.",
    )


def _over_budget(settings: MixinSettings) -> Alert:
    over = queries.total(settings, records.OVER_BUDGET, settings.window, *_BY_HOOK)
    return Alert(
        "HookspanHookOverBudget",
        "warning",
        f"{over} > 0",
        settings.hold,
        f"Hook {_HOOK} takes longer than its budget at {_AT}",
        "{{ $value }} calls took longer than the hook's own budget.",
        alerts.PERFORMANCE,
        "A hook that is registered with `budget=`, or under the setting `hook_budget_ms`, took "
        "longer than that. It was not cut short.",
        "As for HookspanHookSlow.",
        "As for HookspanHookSlow, or declare a budget that fits.",
    )


def _hung(settings: MixinSettings) -> Alert:
    return Alert(
        "HookspanHookStuck",
        "critical",
        f"{records.OLDEST} > {settings.stuck_seconds:g}",
        "",
        f"A hook hangs at {_AT}",
        "A dispatch has been open for {{ $value | humanizeDuration }}; its run waits.",
        alerts.PERFORMANCE,
        "The oldest dispatch that is open now is older than the threshold.",
        "*Oldest dispatch* and *Open dispatches*. There is no span yet: it is sent when it ends. "
        "In the process, `py-spy dump` shows the hook.",
        "Restart the process. Give the client that the hook waits for a time-out. A process that "
        "was killed keeps its last value for 15 minutes.",
    )


def _leak(settings: MixinSettings) -> Alert:
    recorded, hour = records.REGISTERED_IN_ONE, settings.long_window
    return Alert(
        "HookspanRegistrationsGrowing",
        "warning",
        f"min_over_time({recorded}[{hour}]) - min_over_time({recorded}[{hour}] offset {hour}) "
        f">= {settings.leaked_hooks}",
        settings.hold,
        f"Hook {_HOOK} is registered ever more often at {_AT}",
        "It is registered {{ $value }} times more than before in one process, and runs each time.",
        alerts.COVERAGE,
        "The fewest registrations of the last hour are well above the fewest of the hour before.",
        "*Registered hooks* over time. Is `@on` inside a function that runs for every request, or "
        "a scope that is never closed?",
        "Register at import, or in a scope that ends; restart the process.",
    )


def _stuck(settings: MixinSettings) -> Alert:
    window = settings.stuck_after
    active = series.select(series.gauge(semconv.METRIC_CREWAI_EXECUTION_ACTIVE), settings.selector)
    apart = series.comma((series.RUN_OUTCOME, series.DENIED, series.NESTED, series.CREW))
    ended = series.select(series.counter(semconv.METRIC_CREWAI_EXECUTIONS), settings.selector)
    now, before = (f"sum without ({apart}) ({ended}{at})" for at in ("", f" offset {window}"))
    kept = series.by(settings, series.KIND)
    return Alert(
        "HookspanExecutionsStuck",
        "warning",
        f"count by ({kept}) (\n"
        f"  (min_over_time({active}[{window}]) > 0 and {active} offset {window})\n"
        f"  unless {now} > ({before} or {now} * 0)\n)",
        "",
        f"Runs of {_JOB} are open and do not end",
        f"In {{{{ $value }}}} processes a {{{{ $labels.{series.KIND} }}}} has been open for "
        f"{window} and none has ended.",
        alerts.PERFORMANCE,
        "A process has had open runs all the time, and ended none.",
        "*Open runs*; HookspanHookStuck tells whether a hook is the cause. The model or a tool "
        "may be: the traces of other instrumentations show them.",
        "Restart the process, set time-outs. For runs that are meant to be that long, raise "
        "`stuck_after`.",
    )


def _collector(settings: MixinSettings) -> Alert:
    guard = settings.scrape_guard
    return Alert(
        "HookspanCollectorDown",
        "critical",
        f"{guard} == 0 or absent({guard})",
        settings.hold,
        "A Collector is not scraped",
        "No metric of hookspan arrives from it, so no alert about policies can fire.",
        alerts.HEALTH,
        "Prometheus cannot scrape a Collector, or has none to scrape.",
        "The targets page of Prometheus, the Collector's log.",
        "Start it. What the crews counted meanwhile is there again with the next scrape; it does "
        "not count as new, so nothing fires because of the gap.",
    )


def _absent(settings: MixinSettings) -> Alert:
    kept = series.by(settings)
    recorded = records.INSTRUMENTED
    return Alert(
        "HookspanTelemetryAbsent",
        "warning",
        f"count by ({kept}) (present_over_time({recorded}[{settings.base_window}]))\n"
        f"unless count by ({kept}) (present_over_time({recorded}[{settings.absent_after}]))",
        "",
        f"{_JOB} reports nothing any more",
        "It has reported in the past days, and nothing for longer than is usual.",
        alerts.HEALTH,
        "A service that reported in the base window has sent nothing for `absent_after`.",
        "Does the service run? Does it still call `hookspan.configure()`, with an endpoint?",
        "If it was taken out of service the alert ends by itself with the base window.",
    )


def _dropping(settings: MixinSettings) -> Alert:
    lost = series.select("", f'__name__=~"{_LOST}"', settings.collector_selector)
    return Alert(
        "HookspanTelemetryDropping",
        "warning",
        f"sum by (job, exporter, receiver, processor) (rate({lost}[{settings.window}])) > 0",
        settings.hold,
        "The Collector loses telemetry",
        "{{ $value | humanize }} items a second are refused or could not be delivered.",
        alerts.HEALTH,
        "The Collector's own metrics count items that it refused or could not hand on.",
        "The Collector's log names the exporter and the error. Is the back end full or down?",
        "Mend the back end; raise the queue or the memory limit.",
    )


def _own_errors(settings: MixinSettings) -> Alert:
    kept = (series.OPERATION, series.ERROR)
    failed = queries.total(settings, records.OWN_ERRORS, settings.window, *kept)
    return Alert(
        "HookspanOwnErrors",
        "warning",
        f"{failed} > 0",
        "",
        f"hookspan fails in {_JOB}",
        f"{{{{ $labels.{series.OPERATION} }}}} failed {{{{ $value }}}} times with "
        f"{{{{ $labels.{series.ERROR} }}}}; no run was harmed, but telemetry is missing.",
        alerts.HEALTH,
        "hookspan caught and counted a failure of its own.",
        "The log of the process: each kind is logged once, with its traceback.",
        "Report it, with the traceback. Update hookspan.",
    )


def _not_instrumented(settings: MixinSettings) -> Alert:
    kept = series.by(settings, series.POINT)
    wired = f"max by ({kept}) ({records.INSTRUMENTED}"
    hooks = f"sum by ({kept}) ({records.REGISTERED}) > 0"
    return Alert(
        "HookspanNotInstrumented",
        "critical",
        f"{wired}) == 0\nand ({hooks} or {wired} offset {settings.absent_after}) == 1)",
        settings.hold,
        f"Hooks at {_AT} are not run or not seen in {_JOB}",
        f"The point {_AT} is not observed, though it was before or hooks are registered there.",
        alerts.COVERAGE,
        "The installed crewAI does not dispatch the point, or hookspan could not patch it.",
        "The log at start says `not instrumented` and why; docs/contract.md lists the points.",
        "Go back to a crewAI of the tested range, or move the hook to a point that is dispatched.",
    )

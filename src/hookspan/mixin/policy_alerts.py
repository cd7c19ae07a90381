"""Alerts about what policies decide."""

from __future__ import annotations

from hookspan.mixin import alerts, queries, records, series
from hookspan.mixin.alerts import Alert
from hookspan.mixin.settings import MixinSettings

_AT = f"{{{{ $labels.{series.POINT} }}}}"
_CREW = f"{{{{ $labels.{series.CREW} }}}}"
_HOOK = f"{{{{ $labels.{series.HOOK} }}}}"
_PERCENT = "{{ $value | humanizePercentage }}"
_KEPT = (series.POINT, series.CREW)


def policy_alerts(settings: MixinSettings) -> list[Alert]:
    """Return the alerts about aborts, quiet guards and crashed guards."""
    return [
        _abort_share(settings),
        _spike(settings),
        _burn(settings, "Fast", settings.fast_burn, settings.long_window, settings.window),
        _burn(
            settings, "Slow", settings.slow_burn, settings.slow_window, settings.slow_short_window
        ),
        _quiet(settings),
        _not_asked(settings),
        _crashed(settings),
    ]


def _abort_share(settings: MixinSettings) -> Alert:
    traffic = queries.total(settings, records.DISPATCHES, settings.window, *_KEPT)
    share = queries.abort_share(settings, settings.window)
    return Alert(
        "HookspanAbortShareHigh",
        "warning",
        f"({share}) > {settings.abort_share:g}\nand {traffic} >= {settings.min_dispatches}",
        settings.hold,
        f"Hooks at {_AT} abort much of what crew {_CREW} does",
        f"{_PERCENT} of the dispatches at {_AT} in crew {_CREW} were aborted.",
        alerts.OVERVIEW,
        "More of the dispatches of one point in one crew were aborted than the threshold allows, "
        "with enough traffic for the share to mean something.",
        "The panels *Abort share* and *Aborting hooks*: which hook, since when. Then a trace of an "
        "aborted dispatch: the attributes `crewai.hook.abort.reason` and `crewai.hook.chain`.",
        "If a deploy of the policy fits the time, put it back or run it in shadow mode. If what "
        "the crews are asked has changed, the policy works: tell its owner.",
    )


def _spike(settings: MixinSettings) -> Alert:
    aborted = queries.total(
        settings, records.DISPATCHES, settings.slow_window, *_KEPT, where=(queries.ABORTED,)
    )
    share = queries.abort_share(settings, settings.slow_window)
    return Alert(
        "HookspanAbortShareSpike",
        "warning",
        f"({share}) > {settings.spike_factor:g} * ({queries.base_share(settings)})\n"
        f"and {aborted} >= {settings.min_aborts}",
        settings.hold,
        f"More aborts than usual at {_AT} in crew {_CREW}",
        f"{_PERCENT} of the dispatches at {_AT} in crew {_CREW} were aborted, far above the base.",
        alerts.OVERVIEW,
        "The abort share is a multiple of its own base over days, and there are enough aborts.",
        "The panel *Abort share* with its annotations of versions: did it start with a deploy?",
        "As for HookspanAbortShareHigh.",
    )


def _burn(settings: MixinSettings, name: str, factor: float, long: str, short: str) -> Alert:
    limit = f"{factor * settings.abort_budget:g}"
    runs = queries.total(
        settings, records.EXECUTIONS, long, series.CREW, where=(queries.OUTERMOST,)
    )
    return Alert(
        f"HookspanAbortBudgetBurn{name}",
        "critical" if name == "Fast" else "warning",
        f"({queries.denied_share(settings, long)}) > {limit}\n"
        f"and ({queries.denied_share(settings, short)}) > {limit}\n"
        f"and {runs} >= {settings.min_executions}",
        settings.hold,
        f"Crew {_CREW} uses up its budget of denied runs",
        f"{_PERCENT} of the runs of crew {_CREW} were denied; "
        f"{settings.abort_budget * 100:g} % are allowed.",
        alerts.OVERVIEW,
        "The share of runs in which something was denied exceeds a multiple of the budget, in a "
        "long window and in a short one. One run that is denied three times counts once.",
        "The panels *Runs by outcome* and *Denied runs*; then the audit records of the crew.",
        "As for HookspanAbortShareHigh. If the share is right as it is, the budget is wrong: set "
        "`abort_budget` and build the rules again.",
    )


def _quiet(settings: MixinSettings) -> Alert:
    share = queries.abort_share(settings, settings.slow_window)
    traffic = queries.total(settings, records.DISPATCHES, settings.slow_window, *_KEPT)
    base = queries.base_share(settings)
    return Alert(
        "HookspanGuardWentQuiet",
        "warning",
        f"({share}) < {settings.quiet_factor:g} * ({base})\n"
        f"and ({base}) * ({traffic}) >= {settings.min_aborts}",
        settings.hold,
        f"Guards at {_AT} in crew {_CREW} abort far less than before",
        f"{_PERCENT} of the dispatches at {_AT} in crew {_CREW} are aborted, far below the base.",
        alerts.OVERVIEW,
        "The abort share fell below a part of its own base over days, while there is traffic "
        "enough that aborts were to be expected.",
        "*Registered hooks* on the coverage dashboard: is the guard still there? *Crashed hooks*: "
        "a guard that crashes lets pass. Did its filter stop matching (result `filtered`)?",
        "Register the guard again, or mend it. If the abuse has ended, there is nothing to do.",
    )


def _not_asked(settings: MixinSettings) -> Alert:
    window = settings.long_window
    share = queries.coverage(settings, window)
    done = queries.total(settings, records.OPERATIONS, window, series.POINT)
    kept = series.by(settings, series.POINT)
    return Alert(
        "HookspanGuardNotAsked",
        "critical",
        f"({share}) < {settings.coverage:g}\n"
        f"and {done} >= {settings.min_executions}\n"
        f"and sum by ({kept}) ({records.REGISTERED}) > 0",
        settings.hold,
        f"Operations go past the hooks at {_AT}",
        f"Only {_PERCENT} of the operations asked the hooks that are registered at {_AT}.",
        alerts.COVERAGE,
        "Hooks are registered at a point, and crewAI began more model or tool calls than it "
        "dispatched there: a path that never asks the guard.",
        "*Coverage* on the coverage dashboard; a trace of a run: which calls have no `run_hooks` "
        "span before them? docs/contract.md lists the paths of crewAI that do not dispatch.",
        "Guard such a path where it is called, or at another point, until crewAI dispatches it.",
    )


def _crashed(settings: MixinSettings) -> Alert:
    where = (f'{series.POINT}=~"{settings.guard_points}"',)
    kept = (series.POINT, series.HOOK, series.ERROR)
    crashed = queries.total(settings, records.EXCEPTIONS, settings.window, *kept, where=where)
    return Alert(
        "HookspanGuardCrashed",
        "critical",
        f"{crashed} > 0",
        "",
        f"Guard {_HOOK} crashed at {_AT}",
        f"{_HOOK} raised {{{{ $labels.{series.ERROR} }}}} {{{{ $value }}}} times at {_AT}: unless "
        "it fails closed, it was bypassed as often.",
        alerts.OVERVIEW,
        "A hook at a point before an operation raised something other than an abort. crewAI goes "
        'on as if it had agreed, unless it is registered with `on_error="abort"`.',
        "The audit records `crewai.hook.exception`, with the trace id of each; the attribute "
        "`crewai.hook.effect` says what became of the operation.",
        'Mend the hook. Until then let it fail closed (`on_error="abort"`, or the setting '
        "`fail_closed`), if what it guards must not go on without it.",
    )

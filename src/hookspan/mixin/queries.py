"""What alerts and dashboards ask, each question a function, over the recorded windows."""

from __future__ import annotations

from hookspan.mixin import records, series
from hookspan.mixin.records import Counted
from hookspan.mixin.settings import MixinSettings

ABORTED = f'{series.OUTCOME}="aborted"'
OUTERMOST = f'{series.NESTED}="false"'
IS_DENIED = f'{series.DENIED}="true"'


def total(
    settings: MixinSettings,
    counted: Counted,
    window: str,
    *labels: str,
    where: tuple[str, ...] = (),
    offset: str = "",
) -> str:
    """Return the sum of a counter's growth over a window, per combination of labels.

    Args:
        settings: Say how long a recorded window is.
        counted: The counter.
        window: Over which; the recorded window itself, or a multiple of it.
        *labels: That are kept, beside those of the target.
        where: Matchers.
        offset: How long ago.
    """
    recorded = series.select(counted.record(settings), *where)
    if window != settings.window:
        recorded = f"sum_over_time({recorded}[{window}:{settings.window}]"
        recorded += f" offset {offset})" if offset else ")"
    return f"sum by ({series.by(settings, *labels)}) ({recorded})"


def abort_share(settings: MixinSettings, window: str, where: tuple[str, ...] = ()) -> str:
    """Return the share of dispatches that were aborted, per crew and point with traffic."""
    kept = (series.POINT, series.CREW)
    aborted = total(settings, records.DISPATCHES, window, *kept, where=(ABORTED, *where))
    all_ = total(settings, records.DISPATCHES, window, *kept, where=where)
    return f"{aborted} / ({all_} > 0)"


def base_share(settings: MixinSettings) -> str:
    """Return that share in the base window."""
    name, kept = records.base_name(settings), series.by(settings, series.POINT, series.CREW)
    aborted = f"sum by ({kept}) ({series.select(name, ABORTED)})"
    return f"{aborted} / (sum by ({kept}) ({name}) > 0)"


def denied_share(settings: MixinSettings, window: str, where: tuple[str, ...] = ()) -> str:
    """Return the share of outermost runs with an abort in them, per crew with runs."""
    denied = total(
        settings, records.EXECUTIONS, window, series.CREW, where=(OUTERMOST, IS_DENIED, *where)
    )
    all_ = total(settings, records.EXECUTIONS, window, series.CREW, where=(OUTERMOST, *where))
    return f"{denied} / ({all_} > 0)"


def coverage(settings: MixinSettings, window: str, where: tuple[str, ...] = ()) -> str:
    """Return dispatches per operation, of the points where both are counted; 0 where none is."""
    asked = total(settings, records.DISPATCHES, window, series.POINT, where=where)
    done = total(settings, records.OPERATIONS, window, series.POINT, where=where)
    return f"(({asked}) or ({done}) * 0) / ({done} > 0)"


def hook_quantile(
    settings: MixinSettings, window: str, quantile: float, where: tuple[str, ...] = ()
) -> str:
    """Return a quantile of the seconds that a hook takes, per point and hook."""
    kept = (series.POINT, series.HOOK, series.BUCKET)
    buckets = total(settings, records.HOOK_BUCKETS, window, *kept, where=where)
    return f"histogram_quantile({quantile:g}, {buckets})"


def not_dispatched(settings: MixinSettings, window: str) -> str:
    """Return the hooks at points that were not dispatched, though runs took place."""
    hook = series.by(settings, series.POINT, series.HOOK)
    point = series.by(settings, series.POINT)
    asked = total(settings, records.DISPATCHES, window, series.POINT)
    return f"sum by ({hook}) ({records.REGISTERED}) > 0 unless on ({point}) ({asked} > 0)"

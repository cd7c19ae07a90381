"""What a user may set about rules and dashboards, in one frozen object."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_UNITS = (86400, 3600, 60, 1)


def seconds(duration: str) -> int:
    """Return the length of a duration.

    Args:
        duration: In Prometheus notation, of days, hours, minutes and seconds: `1h30m`.

    Raises:
        ValueError: It is none, or it is zero.
    """
    match = _DURATION.fullmatch(duration)
    found = match.groups(default="0") if match else ()
    length = sum(int(count) * unit for count, unit in zip(found, _UNITS, strict=False))
    if not length:
        message = f"not a duration such as 30s, 5m, 1h30m or 7d: {duration!r}"
        raise ValueError(message)
    return length


def _checked(duration: str) -> str:
    seconds(duration)
    return duration


Duration = Annotated[str, AfterValidator(_checked)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class MixinSettings(BaseModel):
    """Thresholds, durations and selectors of the rules and dashboards.

    Durations are in Prometheus notation, shares between 0 and 1, times in seconds. A window longer
    than `window` is a multiple of it: it is summed up from recorded windows.

    Attributes:
        selector: Matchers for every metric of hookspan, such as `namespace="prod"`.
        group_labels: Labels of the target that rules keep and alerts name. `job` is the service,
            where the scrape honours labels.
        scrape_guard: Selects the `up` of the Collectors that are scraped. A series that appears
            counts as new only where its Collector was up a window ago. Empty: it always counts.
        guard_labels: Labels that tie a series to the `up` of its Collector.
        collector_selector: Matchers for the Collector's metrics about itself.
        tick: How often the rules are evaluated.
        window: Over which an increase is recorded.
        hold: How long a condition must hold before it alerts.
        keep_firing: How long an alert goes on after its condition has ended.
        long_window: Of the fast burn; its short window is `window`.
        slow_window: Of the slow burn, of spikes and of quiet guards.
        slow_short_window: The short window of the slow burn.
        base_window: What spikes and quiet guards are compared with.
        stuck_after: When an open run that nothing ends counts as stuck.
        absent_after: When a service that has reported before counts as gone.
        abort_share: Share of aborted dispatches that alerts, per crew and point.
        min_dispatches: Dispatches in `window` below which that share says nothing.
        abort_budget: Share of runs that may be denied.
        min_executions: Runs in the long window below which the budget says nothing.
        fast_burn: How many times faster than the budget allows pages somebody.
        slow_burn: The same for a ticket.
        spike_factor: How many times its base an abort share must be to count as a spike.
        quiet_factor: Below which part of its base it counts as quiet.
        min_aborts: Aborts that the base lets expect, or a spike must have, to say something.
        coverage: Share of operations that must have asked a hook.
        guard_points: Regular expression of the points whose hooks are guards.
        hook_seconds: What the slowest twentieth of a hook's calls may take.
        min_invocations: Calls in `window` below which that says nothing.
        stuck_seconds: Age of a dispatch at which its hook counts as hung.
        leaked_hooks: How many hooks more in one process than before count as a leak.
        grafana_url: Where the links of alerts lead.
        runbooks_url: Folder of the runbooks: in the repository, or where you publish them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    selector: str = ""
    group_labels: tuple[str, ...] = ("job",)
    scrape_guard: str = 'up{job="otel-collector"}'
    guard_labels: tuple[str, ...] = ("collector",)
    collector_selector: str = 'job="otel-collector-internal"'
    tick: Duration = "30s"
    window: Duration = "5m"
    hold: Duration = "2m"
    keep_firing: Duration = "10m"
    long_window: Duration = "1h"
    slow_window: Duration = "6h"
    slow_short_window: Duration = "30m"
    base_window: Duration = "7d"
    stuck_after: Duration = "1h"
    absent_after: Duration = "1d"
    abort_share: Share = 0.25
    min_dispatches: Count = 20
    abort_budget: Share = 0.02
    min_executions: Count = 10
    fast_burn: float = Field(default=14.4, gt=1)
    slow_burn: float = Field(default=6.0, gt=1)
    spike_factor: float = Field(default=2.0, gt=1)
    quiet_factor: Share = 0.5
    min_aborts: Count = 10
    coverage: Share = 0.99
    guard_points: str = "pre_.*"
    hook_seconds: float = Field(default=1.0, gt=0)
    min_invocations: Count = 20
    stuck_seconds: float = Field(default=120.0, gt=0)
    leaked_hooks: Count = 5
    grafana_url: str = "http://localhost:3000"
    runbooks_url: str = "docs/runbooks"

    @model_validator(mode="after")
    def _windows_fit(self) -> Self:
        window = seconds(self.window)
        for name in ("long_window", "slow_window", "slow_short_window", "base_window"):
            length = seconds(getattr(self, name))
            if length % window or length <= window:
                message = f"{name} must be a multiple of window ({self.window}), and longer"
                raise ValueError(message)
        if window % seconds(self.tick):
            message = f"window must be a multiple of tick ({self.tick})"
            raise ValueError(message)
        if max(self.fast_burn, self.slow_burn) * self.abort_budget >= 1:
            message = "abort_budget times fast_burn or slow_burn is 1 or more: it can never alert"
            raise ValueError(message)
        return self


def load(path: Path | None) -> MixinSettings:
    """Read settings.

    Args:
        path: A JSON object with the settings that differ from the defaults; None for none.

    Raises:
        OSError: The file cannot be read.
        pydantic.ValidationError: A setting is unknown, or its value makes no sense.
    """
    if path is None:
        return MixinSettings()
    return MixinSettings.model_validate_json(path.read_text(encoding="utf-8"))

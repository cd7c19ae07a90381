"""The alerts, each with what it means and what to do: its page in docs/runbooks."""

from __future__ import annotations

from typing import Any, NamedTuple

from hookspan.mixin.settings import MixinSettings, seconds

OVERVIEW = "hookspan-policy"
PERFORMANCE = "hookspan-performance"
COVERAGE = "hookspan-coverage"
HEALTH = "hookspan-telemetry"


class Alert(NamedTuple):
    """An alerting rule and its runbook.

    Attributes:
        name: Of the alert and of its page.
        severity: critical pages somebody, warning is a ticket.
        expr: The condition.
        hold: How long it must hold; empty: not at all.
        summary: One line, with labels.
        description: What happened, with the value.
        dashboard: Uid of the dashboard that shows it.
        meaning: What the condition is, in words.
        look: Where to look first.
        act: What helps.
    """

    name: str
    severity: str
    expr: str
    hold: str
    summary: str
    description: str
    dashboard: str
    meaning: str
    look: str
    act: str


def rule(alert: Alert, settings: MixinSettings) -> dict[str, Any]:
    """Return the alerting rule as Prometheus reads it."""
    made: dict[str, Any] = {"alert": alert.name, "expr": alert.expr}
    if alert.hold and seconds(alert.hold):
        made["for"] = alert.hold
    made["keep_firing_for"] = settings.keep_firing
    made["labels"] = {"severity": alert.severity}
    made["annotations"] = {
        "summary": alert.summary,
        "description": alert.description,
        "runbook_url": f"{settings.runbooks_url}/{alert.name}.md",
        "dashboard_url": f"{settings.grafana_url}/d/{alert.dashboard}",
    }
    return made

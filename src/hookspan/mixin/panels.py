"""How panels and dashboards look in Grafana's JSON (classic schema), as plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hookspan.mixin import series
from hookspan.mixin.settings import MixinSettings
from hookspan.telemetry import semconv

Json = dict[str, Any]
METRICS = {"type": "prometheus", "uid": "${metrics}"}
LOGS = {"type": "loki", "uid": "${logs}"}
SERVICE = 'job=~"$service"'
CREW = f'{series.CREW}=~"$crew"'
_WIDTH = 24


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: What it shows.
        description: How to read it.
        kind: Of visualisation.
        queries: Expression and legend of each series.
        unit: Grafana's name of the unit.
        width: Of 24 columns.
        height: In rows of the grid.
        store: Where the queries go.
    """

    title: str
    description: str
    kind: Literal["timeseries", "stat", "table", "logs"]
    queries: Sequence[tuple[str, str]]
    unit: str = "short"
    width: int = 12
    height: int = 8
    store: Literal["metrics", "logs"] = "metrics"


def dashboard(uid: str, title: str, panels: Sequence[Panel], settings: MixinSettings) -> Json:
    """Return a dashboard.

    Args:
        uid: Its identity, in links too.
        title: Shown on top.
        panels: In reading order.
        settings: Say how often it makes sense to look again.
    """
    return {
        "uid": uid,
        "title": title,
        "tags": ["hookspan"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": settings.tick,
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": _variables(settings)},
        "annotations": {"list": [_versions(settings)]},
        "links": [
            {
                "title": "hookspan",
                "type": "dashboards",
                "tags": ["hookspan"],
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
                "icon": "external link",
                "targetBlank": False,
                "tooltip": "",
                "url": "",
            }
        ],
        "panels": _placed(panels),
    }


def _placed(panels: Sequence[Panel]) -> list[Json]:
    made: list[Json] = []
    x = y = tallest = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > _WIDTH:
            x, y, tallest = 0, y + tallest, 0
        place = {"x": x, "y": y, "w": panel.width, "h": panel.height}
        made.append({"id": number, "gridPos": place, **_panel(panel)})
        x, tallest = x + panel.width, max(tallest, panel.height)
    return made


def _panel(panel: Panel) -> Json:
    source = METRICS if panel.store == "metrics" else LOGS
    defaults: Json = {"unit": panel.unit}
    if panel.store == "metrics":
        defaults["links"] = [_traces()]
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": source,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": _OPTIONS[panel.kind],
        "targets": [
            _target(panel, source, number, *query) for number, query in enumerate(panel.queries)
        ],
        "transformations": _FOLD if panel.kind == "table" else [],
    }


_OPTIONS: dict[str, Json] = {
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"},
    "table": {"showHeader": True, "sortBy": [{"displayName": "Value", "desc": True}]},
    "logs": {"showTime": True, "wrapLogMessage": True, "enableLogDetails": True},
}
_FOLD = [{"id": "organize", "options": {"excludeByName": {"Time": True}}}]


def _target(panel: Panel, source: Json, number: int, expr: str, legend: str) -> Json:
    made: Json = {"refId": chr(ord("A") + number), "datasource": source, "expr": expr}
    if panel.store == "logs":
        return {**made, "queryType": "range"}
    instant = panel.kind in {"table", "stat"}
    made |= {"legendFormat": legend, "instant": instant, "range": not instant}
    made["format"] = "table" if panel.kind == "table" else "time_series"
    return made if instant else {**made, "exemplar": True}


def _traces() -> Json:
    """Return the way from a point to the traces of its service at that time."""
    url = (
        '/explore?schemaVersion=1&panes={"t":{"datasource":"${traces}","queries":[{"refId":"A",'
        '"queryType":"search","service":"${__field.labels.job}",'
        '"tags":"crewai.hook.outcome=aborted"}],'
        '"range":{"from":"${__from}","to":"${__to}"}}}'
    )
    return {"title": "Aborted traces of ${__field.labels.job}", "url": url, "targetBlank": True}


def _variables(settings: MixinSettings) -> list[Json]:
    sources = (("metrics", "prometheus"), ("traces", "jaeger"), ("logs", "loki"))
    made: list[Json] = [
        {"name": name, "label": name.title(), "type": "datasource", "query": kind}
        for name, kind in sources
    ]
    info = series.select(
        series.gauge(semconv.METRIC_HOOKSPAN_POINT_INSTRUMENTED), settings.selector
    )
    runs = series.select(
        series.counter(semconv.METRIC_CREWAI_EXECUTIONS), settings.selector, SERVICE
    )
    for name, query in (
        ("service", f"label_values({info}, job)"),
        ("crew", f"label_values({runs}, {series.CREW})"),
    ):
        made.append(
            {
                "name": name,
                "label": name.title(),
                "type": "query",
                "datasource": METRICS,
                "query": {"query": query, "refId": name},
                "refresh": 2,
                "includeAll": True,
                "allValue": ".*",
                "multi": False,
                "current": {"text": "All", "value": "$__all"},
            }
        )
    return made


def _versions(settings: MixinSettings) -> Json:
    """Return the marks of a version of a service that was not there the day before."""
    info = series.select("target_info", 'service_version!=""', SERVICE)
    kept = "job, service_version"
    earlier = f"present_over_time({info}[1d] offset {settings.window})"
    return {
        "name": "New versions",
        "enable": True,
        "iconColor": "purple",
        "datasource": METRICS,
        "target": {
            "refId": "versions",
            "expr": f"group by ({kept}) ({info}) unless group by ({kept}) ({earlier})",
            "legendFormat": "{{job}} {{service_version}}",
        },
    }

"""Situations for promtool: what is scraped, minute by minute, and which alerts fire then.

Counters are written as promtool does: `0x10` is 0 at minutes 0 to 10, `1+2x5` grows by two.
"""

from __future__ import annotations

from typing import Any

UP = 'up{job="otel-collector",collector="a"}'
RUNS = "crewai_executions_total"
DISPATCHES = "crewai_hook_dispatches_total"

Series = dict[str, str]
Expected = dict[str, "list[dict[str, str]]"]


def series(name: str, **labels: str) -> str:
    """Return a series of one process, as the Collector shows it."""
    given = {"job": "shop", "instance": "p1", "collector": "a", **labels}
    return f"{name}{{{','.join(f'{key}={chr(34)}{said}{chr(34)}' for key, said in given.items())}}}"


def dispatches(outcome: str, crew: str = "support", **labels: str) -> str:
    """Return the dispatches of a crew at pre_tool_call."""
    return series(
        DISPATCHES,
        crewai_hook_point="pre_tool_call",
        crewai_hook_outcome=outcome,
        gen_ai_workflow_name=crew,
        **labels,
    )


def runs(denied: str, crew: str = "support", **labels: str) -> str:
    """Return the outermost runs of a crew."""
    return series(
        RUNS,
        crewai_execution_kind="crew",
        crewai_execution_outcome="completed",
        crewai_execution_denied=denied,
        crewai_execution_nested="false",
        gen_ai_workflow_name=crew,
        **labels,
    )


def hook(name: str, **labels: str) -> str:
    """Return a per-hook series at pre_tool_call."""
    return series(name, crewai_hook_point="pre_tool_call", crewai_hook_name="guards.pii", **labels)


def crashed(**labels: str) -> str:
    """Return the crashes of a guard."""
    return hook("crewai_hook_exceptions_total", error_type="KeyError", **labels)


def point(name: str, at: str = "pre_tool_call", **labels: str) -> str:
    """Return a series of a point."""
    return series(name, crewai_hook_point=at, **labels)


def situation(
    name: str, given: Series, at: dict[str, Expected], *, up: str = "1x20000", every: str = "1m"
) -> dict[str, Any]:
    """Return one of promtool's tests.

    Args:
        name: Of the situation.
        given: Values of series.
        at: For each time, the alerts and the labels of each that fires, `severity` left out.
        up: Values of the Collector's `up`.
        every: Between two values.
    """
    values = {UP: up, **given}
    return {
        "name": name,
        "interval": every,
        "input_series": [{"series": key, "values": said} for key, said in values.items()],
        "times": at,
    }

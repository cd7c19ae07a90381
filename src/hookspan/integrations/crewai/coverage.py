"""Saying which points are not instrumented, and which guards nothing will therefore call.

They would look like guards that agree.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import REGISTRY
from hookspan.engine.hooks import Hook, hook_name
from hookspan.integrations.crewai import versions
from hookspan.telemetry.recorder import LIVE

logger = logging.getLogger("hookspan")


def report_missing(installed: versions.Installed) -> None:
    """Say once which points this crewAI has no place for."""
    total = len(InterceptionPoint)
    logger.warning(
        "instrumented %d of %d points: crewAI %s lacks %s",
        total - len(versions.unwired(installed.points)),
        total,
        installed.version,
        ", ".join(installed.added.missing),
    )


def report_lost(point: InterceptionPoint, problem: str) -> None:
    """Say that a point is lost, now that crewAI has imported what it is about."""
    if not LIVE.points.get(point.value):
        return  # a second seam of it
    LIVE.points = {**LIVE.points, point.value: False}
    logger.warning(
        "instrumented %d of %d points: crewAI %s lacks %s (%s)",
        sum(LIVE.points.values()),
        len(LIVE.points),
        LIVE.crewai_version,
        point.value,
        problem,
    )
    for hook in REGISTRY.hooks(point):
        _report_guard(point, hook)


def report_guards(installed: versions.Installed) -> Callable[[], None]:
    """Say which guards nothing will ever call, now and later: they would look like quiet ones.

    Returns:
        What ends that.
    """
    for point in versions.unwired(installed.points):
        for hook in REGISTRY.hooks(point):
            _report_guard(point, hook)
    return REGISTRY.on_registration(_report_guard)


def _report_guard(point: InterceptionPoint, hook: Hook) -> None:
    """Say that a hook will never be called, where that is so."""
    if not LIVE.points.get(point.value):
        logger.error(
            "%s is registered at %s, which is not instrumented in crewAI %s: no crew or flow"
            " will call it",
            hook_name(hook),
            point.name,
            LIVE.crewai_version,
        )

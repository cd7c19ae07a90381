"""Hooks at the four points of an execution boundary that note what they were given."""

from __future__ import annotations

from typing import Any

from hookspan.contract.points import BOUNDARY_POINTS, InterceptionPoint
from hookspan.engine.api import register_hook
from tests.engine.specimens import noting

START = InterceptionPoint.EXECUTION_START
INPUT = InterceptionPoint.INPUT
OUTPUT = InterceptionPoint.OUTPUT
END = InterceptionPoint.EXECUTION_END

Order = list[str]


def note_boundaries(order: Order) -> list[Any]:
    """Note every boundary dispatch in a list, and keep the contexts of EXECUTION_END."""
    ends: list[Any] = []
    for point in BOUNDARY_POINTS:
        register_hook(point, noting(order, point.name))
    register_hook(END, ends.append)
    return ends


def told(ends: list[Any]) -> list[tuple[str, BaseException | None, Any]]:
    """Return status, error and output of each EXECUTION_END."""
    return [(end.status, end.error, end.output) for end in ends]

"""What is running at this moment, for the metrics that are read rather than recorded."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol
from weakref import WeakSet

from hookspan.engine.api import REGISTRY
from hookspan.telemetry import semconv
from hookspan.telemetry.names import hook_label
from hookspan.telemetry.tally import Tally

Attributes = dict[str, "str | bool"]
Reading = tuple[float, Attributes]


class OpenExecution(Protocol):
    """A run that is open, as far as it concerns whoever counts it."""

    def cut_off(self) -> None:
        """End its record before it has ended."""
        ...


class Live:
    """The dispatches and executions that are open, and which points are instrumented.

    What a parent process had open when it forked is not open in the child.

    Attributes:
        points: Whether each point is instrumented.
        crewai_version: Version of the runtime under us, or None.
        dispatch_counts: How often a dispatch came to what.
        invocation_counts: How often a hook did.
    """

    def __init__(self) -> None:
        self.points: Mapping[str, bool] = {}
        self.crewai_version: str | None = None
        self.dispatch_counts = Tally()
        self.invocation_counts = Tally()
        self._dispatches: dict[object, tuple[str, float]] = {}
        self._executions: dict[OpenExecution, str] = {}
        self._points_seen: set[str] = set()
        self._kinds_seen: set[str] = set()
        self._registered: set[tuple[str, str, bool]] = set()
        _LIVES.add(self)

    def open_dispatch(self, key: object, point: str) -> None:
        """Note that a dispatch runs, until `close_dispatch` is called with the same key."""
        if point not in self._points_seen:
            self._points_seen.add(point)
        self._dispatches[key] = (point, time.monotonic())

    def close_dispatch(self, key: object) -> None:
        """Note that a dispatch has ended."""
        self._dispatches.pop(key, None)

    def open_execution(self, run: OpenExecution, kind: str) -> None:
        """Note that a run is open, until `close_execution` is called with it."""
        self._executions[run] = kind
        self._kinds_seen.add(kind)

    def close_execution(self, run: OpenExecution) -> None:
        """Note that a run has ended."""
        self._executions.pop(run, None)

    def dispatches_active(self) -> Iterable[Reading]:
        """Read how many dispatches run, per point that has had one."""
        counts = Counter(point for point, _ in list(self._dispatches.values()))
        seen = sorted(self._points_seen)
        return [(counts[point], {semconv.CREWAI_HOOK_POINT: point}) for point in seen]

    def dispatches_oldest(self) -> Iterable[Reading]:
        """Read the age in seconds of the oldest dispatch that runs, per point that has one."""
        now = time.monotonic()
        oldest: dict[str, float] = {}
        for point, started in list(self._dispatches.values()):
            oldest[point] = max(oldest.get(point, 0.0), now - started)
        return [(age, {semconv.CREWAI_HOOK_POINT: point}) for point, age in oldest.items()]

    def executions(self) -> list[OpenExecution]:
        """Return the runs that are open, the outer ones before those in them."""
        return list(self._executions)

    def executions_active(self) -> Iterable[Reading]:
        """Read how many runs are open, per kind that has had one."""
        counts = Counter(list(self._executions.values()))
        seen = sorted(self._kinds_seen)
        return [(counts[kind], {semconv.CREWAI_EXECUTION_KIND: kind}) for kind in seen]

    def registrations(
        self, bounded: Callable[[str], str], admit: Callable[[Attributes], Attributes]
    ) -> Iterable[Reading]:
        """Read how many hooks are registered, per point, name and scope; 0 of what is gone.

        Args:
            bounded: Keeps the names to a number.
            admit: Keeps the attribute sets to a number.
        """
        counts = Counter(
            (point, bounded(hook_label(hook)), scoped)
            for point, scoped, hook in REGISTRY.registrations()
        )
        self._registered.update(counts.keys())
        readings: dict[tuple[tuple[str, str | bool], ...], int] = {}
        for registered in sorted(self._registered):
            series = tuple(admit(_registration(*registered)).items())
            readings[series] = readings.get(series, 0) + counts[registered]
        return [(count, dict(series)) for series, count in readings.items()]

    def points_instrumented(self) -> Iterable[Reading]:
        """Read 1 or 0 for each point: whether hooks at it run in the runtime under us."""
        version: Attributes = {}
        if self.crewai_version is not None:
            version[semconv.CREWAI_VERSION] = self.crewai_version
        return [
            (int(wired), {semconv.CREWAI_HOOK_POINT: point, **version})
            for point, wired in self.points.items()
        ]

    def forget(self) -> None:
        """Drop what is open: it was the parent's, and this is a child that was forked."""
        self._dispatches.clear()
        self._executions.clear()
        self._points_seen.clear()
        self._kinds_seen.clear()
        self._registered.clear()


def _registration(point: str, hook: str, scoped: bool) -> Attributes:  # noqa: FBT001 - a tuple's
    scope = semconv.CREWAI_HOOK_SCOPE_SCOPED if scoped else semconv.CREWAI_HOOK_SCOPE_GLOBAL
    return {
        semconv.CREWAI_HOOK_POINT: point,
        semconv.CREWAI_HOOK_NAME: hook,
        semconv.CREWAI_HOOK_SCOPE: scope,
    }


_LIVES: WeakSet[Live] = WeakSet()


def _forget_parent() -> None:
    for live in list(_LIVES):
        live.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)

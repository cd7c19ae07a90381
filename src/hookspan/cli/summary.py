"""What the trees come to, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hookspan.cli.tree import Node
from hookspan.contract.points import InterceptionPoint
from hookspan.telemetry import semconv


@dataclass
class PointSummary:
    """The dispatches of one point.

    Attributes:
        point: The point.
        dispatches: How many there were.
        proceeded: How many of them proceeded.
        modified: How many were modified.
        aborted: How many were aborted.
        crashed: How many hooks crashed in them.
        slowest: How long the longest took, in seconds.
    """

    point: str
    dispatches: int = 0
    proceeded: int = 0
    modified: int = 0
    aborted: int = 0
    crashed: int = 0
    slowest: float = 0.0

    def add(self, node: Node) -> None:
        """Count a dispatch."""
        self.dispatches += 1
        self.proceeded += node.outcome == semconv.CREWAI_HOOK_OUTCOME_PROCEEDED
        self.modified += node.outcome == semconv.CREWAI_HOOK_OUTCOME_MODIFIED
        self.aborted += node.outcome == semconv.CREWAI_HOOK_OUTCOME_ABORTED
        self.crashed += node.count(semconv.CREWAI_HOOK_EXCEPTION_COUNT)
        self.slowest = max(self.slowest, node.duration)


class Abort(NamedTuple):
    """What was denied, by whom and why, and what came of it."""

    point: str
    about: str
    run: str
    source: str
    reason: str
    effect: str


class Crash(NamedTuple):
    """Which hook crashed, with what and where."""

    hook: str
    exception: str
    point: str


class Ending(NamedTuple):
    """How runs of one kind and name ended; denied when a dispatch in them was aborted."""

    kind: str
    name: str
    outcome: str
    denied: bool


@dataclass(frozen=True)
class Summary:
    """What the trees come to. Each list in the order of first occurrence, each with its count.

    Attributes:
        points: Per point, in the order of the catalogue.
        aborts: What was denied.
        crashes: Which hooks crashed.
        runs: How runs ended.
    """

    points: list[PointSummary]
    aborts: Counter[Abort]
    crashes: Counter[Crash]
    runs: Counter[Ending]

    @property
    def total(self) -> PointSummary:
        """All points together."""
        total = PointSummary("total")
        for point in self.points:
            total.dispatches += point.dispatches
            total.proceeded += point.proceeded
            total.modified += point.modified
            total.aborted += point.aborted
            total.crashed += point.crashed
            total.slowest = max(total.slowest, point.slowest)
        return total


def summarize(roots: Iterable[Node]) -> Summary:
    """Count what trees hold."""
    nodes = [node for root in roots for node in root.walk()]
    dispatches = [node for node in nodes if node.is_dispatch]
    return Summary(
        points=_points(dispatches),
        aborts=Counter(_aborts(dispatches)),
        crashes=Counter(_crashes(dispatches)),
        runs=Counter(_ending(node) for node in nodes if not node.is_dispatch),
    )


def _points(dispatches: Iterable[Node]) -> list[PointSummary]:
    found: dict[str, PointSummary] = {}
    for node in dispatches:
        found.setdefault(node.point, PointSummary(node.point)).add(node)
    catalogue = [point.value for point in InterceptionPoint if point.value in found]
    return [found[point] for point in [*catalogue, *sorted(found.keys() - set(catalogue))]]


def _aborts(dispatches: Iterable[Node]) -> Iterator[Abort]:
    for node in dispatches:
        if node.outcome == semconv.CREWAI_HOOK_OUTCOME_ABORTED:
            yield Abort(
                point=node.point,
                about=node.about,
                run=node.title,
                source=node.text(semconv.CREWAI_HOOK_ABORT_SOURCE),
                reason=node.text(semconv.CREWAI_HOOK_ABORT_REASON),
                effect=node.text(semconv.CREWAI_HOOK_EFFECT),
            )


def _crashes(dispatches: Iterable[Node]) -> Iterator[Crash]:
    for node in dispatches:
        for hook, exception in node.crashes:
            yield Crash(hook, exception, node.point)


def _ending(node: Node) -> Ending:
    denied = bool(node.attributes.get(semconv.CREWAI_EXECUTION_DENIED, False))
    return Ending(node.kind, node.title, node.outcome, denied)

"""Which crewAI is there, and which of its seams."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.wiring import NOTHING, Probed, probe

FLOOR = (1, 15, 19)
"""The first crewAI with today's abort semantics."""

_DISPATCH = "crewai.hooks.dispatch"
_DISPATCH_NAMES = (
    "HookAborted",
    "InterceptionPoint",
    "_default_reducer",
    "_global_hooks",
    "_scoped_hooks_var",
    "run_hooks",
)
_RUN_HOOKS_NEEDS = {"reducer", "verbose"}


@dataclass(frozen=True)
class Installed:
    """The crewAI that was found.

    Attributes:
        version: Its version, None when there is none.
        native: Values of the points that crewAI itself dispatches, where that can be seen.
        added: What was found of the other points.
        problems: Why nothing can be instrumented, one sentence each.
    """

    version: str | None
    native: frozenset[str] = frozenset()
    added: Probed = NOTHING
    problems: tuple[str, ...] = ()
    dispatch: Any = field(default=None, repr=False)

    @property
    def points(self) -> frozenset[str]:
        """Values of the points whose hooks run, and can be seen."""
        return self.native | {wiring.point.value for wiring in self.added.wirings}

    @property
    def usable(self) -> bool:
        """Whether there is anything to instrument."""
        return self.dispatch is not None


def find() -> Installed:
    """Look for crewAI and probe each seam that is needed to see its hooks."""
    if importlib.util.find_spec("crewai") is None:
        return Installed(None, problems=("crewAI is not installed",))
    try:
        version = importlib.metadata.version("crewai")
    except importlib.metadata.PackageNotFoundError:  # a folder of the user's has that name
        return Installed(None, problems=("crewAI is not installed",))
    if _numbers(version) < FLOOR:
        needed = ".".join(map(str, FLOOR))
        problem = f"crewAI {version} is older than {needed}, the first supported: upgrade crewai"
        return Installed(version, problems=(problem,))
    try:
        dispatch = importlib.import_module(_DISPATCH)
    except ImportError as error:
        return Installed(version, problems=(f"crewAI {version} has no {_DISPATCH} ({error})",))
    missing = [name for name in _DISPATCH_NAMES if not hasattr(dispatch, name)]
    if not missing and not _RUN_HOOKS_NEEDS.issubset(_parameters(dispatch.run_hooks)):
        missing = ["run_hooks(reducer=, verbose=)"]
    if missing:
        names = ", ".join(missing)
        return Installed(version, problems=(f"crewAI {version} has no {_DISPATCH}.{names}",))
    native = frozenset(_native_points(dispatch))
    return Installed(version, native, probe(native), (), dispatch)


def _native_points(dispatch: Any) -> Iterator[str]:
    for member in dispatch.InterceptionPoint:
        yield str(member.value)


def unwired(points: frozenset[str]) -> list[InterceptionPoint]:
    """Return the points of the catalogue that are not among the given ones, in its order."""
    return [point for point in InterceptionPoint if point.value not in points]


def _parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version; a suffix of the last one is dropped."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release.group().split("."))) if release else ()

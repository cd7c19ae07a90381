"""All of the added points together: what this crewAI has for them, and putting them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import wrapt

from hookspan.contract.points import InterceptionPoint
from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.patching import Patches
from hookspan.integrations.crewai.points import (
    at_work,
    code_execution,
    delegation,
    flow,
    gaps,
    knowledge,
    mcp,
    memory,
    retry,
    tool_selection,
)
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring

WIRINGS: tuple[Wiring, ...] = (
    tool_selection.WIRING,
    delegation.WIRING,
    retry.WIRING,
    memory.WRITE,
    memory.READ,
    knowledge.WIRING,
    code_execution.WIRING,
    mcp.WIRING,
    flow.TRANSITION,
    flow.DECISION,
)
"""In the order of the catalogue."""


class Probed(NamedTuple):
    """What was found of the added points.

    Attributes:
        wirings: The points that can be wired.
        missing: Those that cannot, each as ``point (the seam that crewAI lacks)``.
    """

    wirings: tuple[Wiring, ...]
    missing: tuple[str, ...]


NOTHING = Probed((), ())


def probe(native: frozenset[str]) -> Probed:
    """Look for the seams of every point that crewAI does not dispatch itself.

    Args:
        native: Values of the points that it does dispatch: a later crewAI may have more.
    """
    found: list[Wiring] = []
    missing: list[str] = []
    for wiring in WIRINGS:
        if wiring.point.value in native:
            continue
        problems = wiring.problems()
        if problems:
            missing.append(f"{wiring.point.value} ({'; '.join(problems)})")
        else:
            found.append(wiring)
    return Probed(tuple(found), tuple(missing))


def wire(
    patches: Patches, dispatch: Any, probed: Probed, lost: Callable[[InterceptionPoint, str], None]
) -> None:
    """Put the seams in.

    Args:
        patches: Remembers how to undo it.
        dispatch: The module ``crewai.hooks.dispatch``; hookspan's lists are in it already.
        probed: What was found.
        lost: Told of a point whose seam is found to be missing only when its module is imported.
    """
    for patch in at_work.patches():
        patches.apply(patch)
    for wiring in probed.wirings:
        gate = Gate(dispatch, wiring.point)
        patches.then(gate.close)
        for seam in wiring.seams:
            if seam.waits:
                wrapt.register_post_import_hook(_late(patches, gate, seam, lost), seam.module)
            else:
                for patch in seam.patches(gate):
                    patches.apply(patch)
    _close_gaps(patches, dispatch)


def _close_gaps(patches: Patches, dispatch: Any) -> None:
    """Close the ways around native points, each when its module is there."""
    for points, seam, wrap in gaps.PLACES:
        gates = tuple(Gate(dispatch, point) for point in points)
        for gate in gates:
            patches.then(gate.close)

        def put_in(
            _module: Any = None, seam: Seam = seam, wrap: gaps.Wrap = wrap, gates: Any = gates
        ) -> None:
            if not any(gate.closed for gate in gates):
                for patch in gaps.patches(seam, wrap, gates):
                    patches.apply(patch)

        if seam.waits:
            wrapt.register_post_import_hook(put_in, seam.module)
        else:
            put_in()


def _late(
    patches: Patches, gate: Gate, seam: Seam, lost: Callable[[InterceptionPoint, str], None]
) -> Callable[[Any], None]:
    """Make what puts a seam in when its module is there; that cannot be called off otherwise."""

    def put_in(_module: Any) -> None:
        if gate.closed:
            return
        try:
            problem = seam.problem()
            if problem is not None:
                gate.close()
                lost(gate.point, problem)
                return
            for patch in seam.patches(gate):
                patches.apply(patch)
        except Exception as error:  # noqa: BLE001 - whoever imports it must not be broken by this
            GUARD.failed("points.late", error)

    return put_in

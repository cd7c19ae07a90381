"""P13: what a whole crew pays for twenty instrumented points that have no hook.

The crew is real, its model follows a script: one task, one tool, two model calls. Runs with and
without hookspan take turns, pair by pair, and change places from pair to pair. CPU time of the
whole process is compared, since crewAI works in threads of its own. Both must return the same.
``--slow`` puts its delay into the look for a hook, which every seam begins with: tenfold, since a
crew takes so much longer than a dispatch.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import Row, report, slowed
from hookspan.cli.catalogue.crew import ANSWER, run
from hookspan.cli.catalogue.evidence import Evidence
from hookspan.integrations.crewai.instrumentor import instrument, uninstrument
from hookspan.integrations.crewai.points.seam import Gate

RUNS = 3


def seconds() -> float:
    """Return the CPU seconds of some runs, all threads included."""
    started = time.process_time()
    for _ in range(RUNS):
        evidence = Evidence()
        result = run(evidence)
        if (result, evidence.done) != (ANSWER, ["noted tides"]):
            message = f"the crew did something else: {result!r}, {evidence.done}"
            raise AssertionError(message)
    return time.process_time() - started


def instrumented(slow: float) -> float:
    """Return the CPU seconds of some runs that are instrumented."""
    gate: Any = Gate
    look: Any = gate.wanted
    gate.wanted = slowed(look, 10 * slow)
    instrument()
    try:
        return seconds()
    finally:
        uninstrument()
        gate.wanted = look


def pairs(count: int, slow: float) -> list[tuple[float, float]]:
    """Return CPU seconds with and without, pair by pair."""
    found: list[tuple[float, float]] = []
    for number in range(count):
        gc.collect()
        if number % 2:
            without = seconds()
            found.append((instrumented(slow), without))
        else:
            found.append((instrumented(slow), seconds()))
    return found


def interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, from the order of the values."""
    ranked, half = sorted(values), 0.98 * math.sqrt(len(values))
    low = max(0, math.floor(len(values) / 2 - half))
    return ranked[low], ranked[len(values) - 1 - low]


def rows(rounds: int, slow: float) -> list[Row]:
    """Measure it."""
    logging.disable()
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
    ):
        seconds()
        instrumented(slow)  # what is made once is made here
        measured = pairs(rounds, slow)
    ratios = [with_ / without for with_, without in measured]
    low, high = interval(ratios)
    times = [median(column) / RUNS * 1e3 for column in zip(*measured, strict=True)]
    return [
        Row(
            "P13",
            "a crew, twenty points instrumented, no hooks / not instrumented",
            median(ratios),
            1.03,
            detail=(
                f"95 % interval {low:.3f} .. {high:.3f} of {len(ratios)} pairs,"
                f" instrumented {times[0]:.1f} ms, without {times[1]:.1f} ms"
            ),
        )
    ]


if __name__ == "__main__":
    report(rows)

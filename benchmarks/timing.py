"""How the benchmarks measure: CPU time of one thread, variants taking turns, medians of pairs.

A machine that others use too changes its speed from one moment to the next. The variants therefore
take turns in short rounds, each round is compared with itself only, and the median of all rounds
is what counts. What is compared are ratios; times are for information.
"""

from __future__ import annotations

import argparse
import json
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

Call = Callable[[], object]

_ROUND_S = 0.003


@dataclass(frozen=True)
class Row:
    """One budget, measured.

    Attributes:
        budget: Name of the budget.
        what: What is compared with what.
        measured: The result.
        bound: What it may be at most; None for a line that is there for information.
        unit: Unit of both: ``x`` for a ratio, else as it is written.
        detail: The times behind it.
    """

    budget: str
    what: str
    measured: float
    bound: float | None = None
    unit: str = "x"
    detail: str = ""


@dataclass(frozen=True)
class Variant:
    """One way of doing what is measured.

    Attributes:
        call: Does it once.
        enter: Called before each round; returns what is called after it.
        context: What the round runs in; None for the current one.
    """

    call: Call
    enter: Callable[[], Callable[[], object]] = lambda: lambda: None
    context: Context | None = None

    def seconds(self, number: int) -> float:
        """Return the CPU seconds of one call, from one round.

        Args:
            number: How many calls the round has.
        """
        timer = timeit.Timer(self.call, timer=time.thread_time)
        run = (self.context or copy_context()).run
        leave = self.enter()
        try:
            run(timer.timeit, number // 4 + 1)  # the interpreter adapts to what was just swapped in
            return run(timer.timeit, number) / number
        finally:
            leave()


@dataclass(frozen=True)
class Rounds:
    """What was measured.

    Attributes:
        costs: Microseconds of one call by variant and round, without the cost of the measuring.
    """

    costs: dict[str, list[float]]

    def ratio(self, of: str, to: str) -> float:
        """Return the median of what one variant costs in terms of another, round by round."""
        return median(a / b for a, b in zip(self.costs[of], self.costs[to], strict=True))

    def total(self, *plus: str, minus: Sequence[str] = ()) -> float:
        """Return the median of a sum of variants without some others, round by round.

        Args:
            *plus: Names of the variants to add.
            minus: Names of those to subtract.
        """
        added = zip(*(self.costs[name] for name in plus), strict=True)
        taken = zip(*(self.costs[name] for name in minus), strict=True)
        sums: list[float] = [sum(a) - sum(b) for a, b in zip(added, taken, strict=True)]
        return median(sums)

    def times(self, *names: str) -> str:
        """Return the times of some variants as text."""
        return ", ".join(f"{name} {median(self.costs[name]):.2f} us" for name in names)


def measure(variants: Mapping[str, Variant], rounds: int) -> Rounds:
    """Let variants take turns.

    Args:
        variants: The variants by name.
        rounds: How many turns each has.
    """
    nothing = Variant(lambda: None)
    numbers = {name: _number(variant) for name, variant in variants.items()}
    costs: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        own = nothing.seconds(2000)
        for name, variant in variants.items():
            costs[name].append((variant.seconds(numbers[name]) - own) * 1e6)
    return Rounds(costs)


def _number(variant: Variant) -> int:
    """Return how many calls make a round long enough for the clock, and no longer."""
    return max(16, min(2000, int(_ROUND_S / max(variant.seconds(8), 1e-7))))


def slowed(function: Callable[..., Any], microseconds: float) -> Callable[..., Any]:
    """Return a function that does the same, and first burns CPU time: it stands for a regression.

    Args:
        function: What is to be slow.
        microseconds: How slow; at 0 the function itself is returned.
    """
    if not microseconds:
        return function

    def slow(*args: Any, **kwargs: Any) -> Any:
        end = time.thread_time_ns() + microseconds * 1000
        while time.thread_time_ns() < end:
            pass
        return function(*args, **kwargs)

    return slow


def report(rows: Callable[[int, float], Sequence[Row]]) -> None:
    """Measure one group of budgets, as the program of its own that it is, and print the rows.

    Args:
        rows: Measures; is given the number of rounds and the microseconds to burn.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int)
    parser.add_argument("slow", type=float)
    arguments = parser.parse_args()
    measured = rows(arguments.rounds, arguments.slow)
    print(json.dumps([asdict(row) for row in measured]))

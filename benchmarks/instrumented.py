"""P2 and half of P9: what an instrumented crew pays at a native point that has no hook.

Both states are measured in one process: `instrument` and `uninstrument` are called around each
round, so that what they leave behind would count against us too. Nothing of ours should be on this
path. To show that the row can turn red, ``--slow`` puts its delay where instrumenting could go
wrong: into crewAI's look-up of hooks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from benchmarks.dispatching import CREWAI, HOOKS_ELSEWHERE, no_op, silence_event
from benchmarks.timing import Row, Variant, measure, report, slowed
from hookspan.contract.contexts import InputContext
from hookspan.integrations.crewai.instrumentor import instrument, uninstrument


def instrumented(slow: float, hooks: int = 0) -> Callable[[], None]:
    """Instrument crewAI, with hooks at another point; return what undoes both."""
    instrument()
    look_up: Any = CREWAI._resolve_hooks  # noqa: SLF001 - see the docstring of the module
    CREWAI._resolve_hooks = slowed(look_up, slow)  # noqa: SLF001 - the same
    other = CREWAI.get_global_hook_list(CREWAI.InterceptionPoint.OUTPUT)
    other.extend([no_op] * hooks)

    def undo() -> None:
        other.clear()
        CREWAI._resolve_hooks = look_up  # noqa: SLF001 - the same
        uninstrument()

    return undo


def rows(rounds: int, slow: float) -> list[Row]:
    """Measure all of it."""
    silence_event()
    logging.disable()  # it would report, once a round, what this crewAI lacks
    ctx, point, dispatch = InputContext({}), CREWAI.InterceptionPoint.INPUT, CREWAI.dispatch
    found = measure(
        {
            "crewAI": Variant(lambda: dispatch(point, ctx)),
            "instrumented": Variant(lambda: dispatch(point, ctx), lambda: instrumented(slow)),
            "full": Variant(
                lambda: dispatch(point, ctx), lambda: instrumented(slow, HOOKS_ELSEWHERE)
            ),
        },
        rounds,
    )
    return [
        Row(
            "P2",
            "crewAI instrumented, miss / not instrumented",
            found.ratio("instrumented", "crewAI"),
            1.1,
            detail=found.times("instrumented", "crewAI"),
        ),
        Row(
            "P9",
            f"crewAI instrumented, miss with {HOOKS_ELSEWHERE} hooks elsewhere / without",
            found.ratio("full", "instrumented"),
            1.1,
            detail=found.times("full", "instrumented"),
        ),
    ]


if __name__ == "__main__":
    report(rows)

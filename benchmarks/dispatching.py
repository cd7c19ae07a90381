"""P1, P3, P3b, P7b and half of P9: one dispatch of the engine's and of crewAI's, without telemetry.

crewAI's event is off in every variant: at 60 us it would hide everything else.

P3b counts what watching crewAI's loop costs as such: ``run_hooks`` is replaced by the observed
one, an observer is told of the beginning and the end of each dispatch and does nothing. Chain,
probes, clock readings and the guard around the observer are in it; spans and metrics are not. The
line "nobody listens" is the same replacement while no observer wants to hear: what an
instrumented crew pays as long as no provider is set.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.timing import Row, Variant, measure, report, slowed
from hookspan.contract.contexts import InputContext, LLMCallHookContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.change import changed, snapshot
from hookspan.engine.dispatcher import Dispatcher
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.registry import HookRegistry
from hookspan.integrations.crewai.native import watch_loop

POINT = InterceptionPoint.INPUT
CREWAI: Any = importlib.import_module("crewai.hooks.dispatch")
HOOKS_ELSEWHERE = 10_000


def no_op(_ctx: Any) -> None:
    """Be a hook that does nothing."""


def silence_event() -> None:
    """Take crewAI's own event out of what is measured."""
    CREWAI._emit_telemetry = lambda *_args: None  # noqa: SLF001 - no switch turns it off


def loaded() -> Dispatcher:
    """Make a dispatcher that has many hooks, none of them at the point that is dispatched."""
    registry = HookRegistry()
    others = [point for point in InterceptionPoint if point is not POINT]
    for number in range(HOOKS_ELSEWHERE):
        registry.store.add(others[number % len(others)], no_op)
    return Dispatcher(registry)


def misses(rounds: int, slow: float) -> list[Row]:
    """Measure a dispatch that finds no hook."""
    ctx, point = InputContext({}), CREWAI.InterceptionPoint.INPUT
    ours = slowed(Dispatcher(HookRegistry()).dispatch, slow)
    full = slowed(loaded().dispatch, slow)
    crewai = CREWAI.dispatch
    found = measure(
        {
            "ours": Variant(lambda: ours(POINT, ctx)),
            "full": Variant(lambda: full(POINT, ctx)),
            "crewAI": Variant(lambda: crewai(point, ctx)),
        },
        rounds,
    )
    return [
        Row(
            "P1",
            "engine, miss / crewAI's miss",
            found.ratio("ours", "crewAI"),
            0.6,
            detail=found.times("ours", "crewAI"),
        ),
        Row(
            "P9",
            f"engine, miss with {HOOKS_ELSEWHERE} hooks at other points / without",
            found.ratio("full", "ours"),
            1.1,
            detail=found.times("full", "ours"),
        ),
    ]


def hits(rounds: int, slow: float) -> list[Row]:
    """Measure a dispatch that finds one hook."""
    ctx, point = InputContext({}), CREWAI.InterceptionPoint.INPUT
    dispatcher = Dispatcher(HookRegistry())
    dispatcher.registry.register(POINT, no_op)
    CREWAI.register(point, no_op)
    ours, crewai = slowed(dispatcher.dispatch, slow), CREWAI.dispatch
    found = measure(
        {
            "ours": Variant(lambda: ours(POINT, ctx)),
            "crewAI": Variant(lambda: crewai(point, ctx)),
            "quiet": Variant(lambda: crewai(point, ctx), lambda: watched(slow, listening=False)),
            "probed": Variant(lambda: crewai(point, ctx), lambda: watched(slow, listening=True)),
        },
        rounds,
    )
    return [
        Row(
            "P3",
            "engine, hit / crewAI's hit",
            found.ratio("ours", "crewAI"),
            1.0,
            detail=found.times("ours", "crewAI"),
        ),
        Row(
            "P3b",
            "crewAI's loop, observed / not",
            found.ratio("probed", "crewAI"),
            2.5,
            detail=found.times("probed", "crewAI"),
        ),
        Row(
            "P3b",
            "crewAI's loop, nobody listens / not observed",
            found.ratio("quiet", "crewAI"),
            detail=found.times("quiet", "crewAI"),
        ),
    ]


def look(ctx: Any) -> Callable[[], bool]:
    """Return one look at a context that no hook has changed."""
    before = snapshot(ctx) or []

    def compare() -> bool:
        after = snapshot(ctx)
        return after is not None and changed(before, after)

    return compare


def looks(rounds: int) -> list[Row]:
    """Measure one look for what a hook has changed in place: a snapshot and a comparison."""
    small = InputContext({"topic": "tides", "limits": [1, 2], "user": {"id": 7}})
    large = LLMCallHookContext(
        messages=[{"role": "user", "content": "x" * 5000} for _ in range(200)]
    )
    found = measure(
        {
            "10 nodes": Variant(look(small)),
            "200 messages": Variant(look(large)),
            "nothing": Variant(lambda: False),
        },
        rounds,
    )
    return [
        Row(
            "P7b",
            f"change in place, {name}",
            found.total(name, minus=["nothing"]),
            bound,
            "us",
            found.times(name),
        )
        for name, bound in (("10 nodes", 15.0), ("200 messages", 500.0))
    ]


def watched(slow: float, *, listening: bool) -> Callable[[], None]:
    """Watch crewAI's loop with an observer that does nothing; return what ends that."""
    patch = watch_loop(CREWAI, None)
    patch.apply()
    # Below the patch, which undoes itself only where its own replacement still stands.
    replaced = CREWAI.run_hooks
    CREWAI.run_hooks = slowed(replaced, slow)
    stop = DISPATCHES.observe(lambda _chain: no_op, lambda: listening)

    def undo() -> None:
        stop()
        CREWAI.run_hooks = replaced
        patch.undo()

    return undo


def rows(rounds: int, slow: float) -> list[Row]:
    """Measure all of it."""
    silence_event()
    return misses(rounds, slow) + hits(rounds, slow) + looks(rounds)


if __name__ == "__main__":
    report(rows)

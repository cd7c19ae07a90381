"""What the caller of a run has current stays current: its span, its baggage, its context."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach, get_current

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import akickoff
from tests.integration_crewai.scenarios import SCENARIOS, outcome
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

SEEN: list[tuple[Any, bool]] = []
"""What the hooks saw: the caller's baggage, and whether a span is current."""

METRICS_OF_NOW = ("crewai.execution.active", "crewai.hook.dispatch.active")


def look(ctx: Any) -> None:
    """Note what is current."""
    SEEN.append((baggage.get_baggage("tenant"), trace.get_current_span().is_recording()))


@pytest.fixture
def watched(instrumented: Memory) -> Memory:
    """Have a hook at each of the ten points."""
    SEEN.clear()
    for point in DISPATCH.InterceptionPoint:
        DISPATCH.register(point, look)
    return instrumented


@pytest.mark.parametrize("name", SCENARIOS)
def test_all_is_as_the_caller_left_it(watched: Memory, name: str) -> None:
    token = attach(baggage.set_baggage("tenant", "acme"))
    with watched.tracer_provider.get_tracer("app").start_as_current_span("request") as span:
        before = get_current()
        outcome(SCENARIOS[name][0])
        assert get_current() is before
        assert trace.get_current_span() is span
        assert baggage.get_all() == {"tenant": "acme"}
    detach(token)
    readings = [value for metric in METRICS_OF_NOW for value in watched.points(metric).values()]
    assert set(readings) == {0}
    (root,) = watched.trees()
    assert root.name == "request"
    assert set(SEEN) == {("acme", True)}


async def ask(asked: Any) -> Any:
    return await asked.kickoff_async("think")


def flow(kind: Any) -> Any:
    return flows.flow(kind)


AWAITED: list[Callable[[], Awaitable[Any]]] = [
    lambda: akickoff(crews.simple_crew()),
    lambda: akickoff(crews.failing_crew()),
    lambda: flow(flows.OfCrew).kickoff_async(),
    lambda: flow(flows.Failing).kickoff_async(),
    lambda: ask(crews.solo_agent()),
]


@pytest.mark.parametrize("run", AWAITED)
def test_in_a_loop(watched: Memory, run: Callable[[], Awaitable[Any]]) -> None:
    async def main() -> bool:
        token = attach(baggage.set_baggage("tenant", "acme"))
        before = get_current()
        with suppress(RuntimeError, ValueError):
            await run()
        kept = get_current() is before
        detach(token)
        return kept

    assert asyncio.run(main())
    assert len(watched.trees()) == 1
    assert set(SEEN) == {("acme", True)}

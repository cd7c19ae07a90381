"""Nothing of a run stays in memory when it has ended: the short form of benchmarks/retained.py."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import pytest
from crewai.events.event_bus import crewai_event_bus

import hookspan
from tests.integration_crewai import flows
from tests.integration_crewai.runs import watch
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import dropping_providers

RUNS = 30


def alive() -> Counter[str]:
    """Return how many objects of each class of hookspan's and of OpenTelemetry's are alive."""
    gc.collect()
    kinds: list[Any] = [type(one) for one in gc.get_objects()]
    mine = ("hookspan.", "opentelemetry.")
    return Counter(str(kind) for kind in kinds if str(kind.__module__).startswith(mine))


def test_objects_do_not_pile_up(switched_off: None, caplog: pytest.LogCaptureFixture) -> None:
    hookspan.instrument(**dropping_providers())
    for point in ("execution_start", "pre_step", "execution_end"):
        DISPATCH.register(DISPATCH.InterceptionPoint(point), watch)

    def run(times: int) -> Counter[str]:
        for _ in range(times):
            flows.flow(flows.OfFailingCrew).kickoff()
        assert crewai_event_bus.flush(timeout=10)
        caplog.clear()  # a line that is kept with its traceback keeps all that is in it
        return alive()

    before = run(5)
    more = run(RUNS) - before
    piled_up = {kind: number for kind, number in more.items() if number >= RUNS / 4}
    assert piled_up == {}

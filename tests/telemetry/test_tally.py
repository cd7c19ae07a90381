"""Counts that the SDK reads when it collects: none lost, none twice, none of somebody else's."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from hookspan.telemetry import semconv
from hookspan.telemetry.instruments import Instruments
from hookspan.telemetry.live import Live
from hookspan.telemetry.settings import Settings
from hookspan.telemetry.tally import Tally

PASSED = {"result": "passed"}
FAILED = {"result": "failed"}


def test_what_was_counted_is_read() -> None:
    tally = Tally()
    read = tally.reader()
    passed = tally.cell(dict(PASSED))
    tally.cell(dict(FAILED))
    passed.add()
    tally.cell(dict(PASSED)).add()
    assert read() == [(2, PASSED), (0, FAILED)]


def test_a_later_reader_is_told_of_what_came_later() -> None:
    tally = Tally()
    early = tally.reader()
    tally.cell(dict(PASSED)).add()
    tally.cell(dict(FAILED)).add()
    late = tally.reader()
    tally.cell(dict(PASSED)).add()
    assert early() == [(2, PASSED), (1, FAILED)]
    assert late() == [(1, PASSED)]


def test_no_thread_loses_a_count() -> None:
    tally = Tally()
    read = tally.reader()
    cell = tally.cell(dict(PASSED))

    def count(_number: int) -> None:
        for _ in range(2_000):
            cell.add()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(count, range(16)))
    assert read() == [(32_000, PASSED)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_counts_from_nothing() -> None:
    tally = Tally()
    cell = tally.cell(dict(PASSED))
    cell.add()
    read = tally.reader()
    cell.add()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        held = tally.cell(dict(PASSED))
        held.add()
        os._exit(0 if read() == [(1, PASSED)] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert tally.reader()() == []


def total(reader: InMemoryMetricReader) -> float:
    """Return how many dispatches a reader knows of."""
    data: Any = reader.get_metrics_data()
    metrics: list[Any] = [
        metric
        for rm in (data.resource_metrics if data else ())
        for sm in rm.scope_metrics
        for metric in sm.metrics
    ]
    name = semconv.METRIC_CREWAI_HOOK_DISPATCHES.name
    points: list[Any] = [
        point for one in metrics if one.name == name for point in one.data.data_points
    ]
    return float(sum(point.value for point in points))


def test_a_meter_that_is_used_again_goes_on_and_another_one_begins() -> None:
    """The SDK keeps the first callback of an instrument, whoever asks for the instrument next."""
    live, readers = Live(), [InMemoryMetricReader(), InMemoryMetricReader()]
    first, second = (MeterProvider([reader]).get_meter("hookspan") for reader in readers)
    for meter, sums in ((first, [1, 0]), (first, [2, 0]), (second, [3, 1])):
        made = Instruments(meter, Settings(), live)
        made.dispatch("input", "proceeded", None, 0.1, Context())
        assert [total(reader) for reader in readers] == sums

"""Providers in this process: set late, never, partly, twice; flushed and ended."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import _logs, metrics, trace

import hookspan
from hookspan import InterceptionPoint
from hookspan.pipeline.providers import EXIT_GRACE
from hookspan.telemetry.listening import is_stand_in
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.fresh import current
from tests.integration_crewai.fresh import fresh_providers as fresh_providers  # noqa: PLC0414 - a fixture
from tests.kit.faults import NONE, UNAVAILABLE
from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - a fixture
from tests.kit.memory import Memory, key
from tests.kit.receiver import Receiver, refusing_endpoint

SLACK = 1.0
"""How much longer than it may a bounded call may take on a busy machine, in seconds."""

REASON = "not today"
TREE: Any = ("invoke_workflow research", [("run_hooks pre_tool_call", [])] * 2)


def deny(ctx: Any) -> None:
    raise hookspan.HookAborted(REASON, "policy")


@pytest.fixture(autouse=True)
def guarded(fresh_providers: pytest.MonkeyPatch) -> None:
    """Register a guard that denies every tool, once crewAI has forgotten earlier ones."""
    hookspan.register_hook(InterceptionPoint.PRE_TOOL_CALL, deny)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Give what tells the lines of hookspan's and of the SDK's so far, exporters' aside."""

    def told() -> list[str]:
        mine = ("hookspan", "opentelemetry.trace", "opentelemetry.metrics", "opentelemetry._logs")
        return [
            record.message
            for record in caplog.records
            if record.name.startswith(mine) and record.levelno >= logging.WARNING
        ]

    return told


def sent_to(receiver: Receiver, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint_http)


def run() -> None:
    assert str(kickoff(crews.native_tool_crew())) == "both"


def dispatched(receiver: Receiver) -> list[Any]:
    """The counts of dispatches that arrived, without the outcomes that were announced as 0."""
    return [point.value for point in receiver.metrics("crewai.hook.dispatches") if point.value]


def set_all(memory: Memory) -> None:
    trace.set_tracer_provider(memory.tracer_provider)
    metrics.set_meter_provider(memory.meter_provider)
    _logs.set_logger_provider(memory.logger_provider)


def test_providers_that_are_set_later_get_what_comes_then(
    memory: Memory, lines: Callable[[], list[str]]
) -> None:
    hookspan.instrument()
    run()
    set_all(memory)
    run()
    assert [tree.names() for tree in memory.trees()] == [TREE]
    counted = memory.points("crewai.hook.dispatches")
    assert {labels: count for labels, count in counted.items() if count} == {
        key(
            crewai__hook__point="pre_tool_call",
            crewai__hook__outcome="aborted",
            gen_ai__workflow__name="research",
        ): 2
    }
    assert [event for event, _ in memory.events()] == ["crewai.hook.aborted"] * 2
    assert lines() == []


def test_without_providers_nothing_is_made_and_nothing_said(
    lines: Callable[[], list[str]],
) -> None:
    hookspan.instrument()
    run()
    assert all(map(is_stand_in, current()))
    assert hookspan.flush(1)
    assert lines() == []


def test_configure_makes_only_what_the_application_has_not_set(
    memory: Memory,
    receiver: Receiver,
    fresh_providers: pytest.MonkeyPatch,
    lines: Callable[[], list[str]],
) -> None:
    sent_to(receiver, fresh_providers)
    trace.set_tracer_provider(memory.tracer_provider)
    hookspan.configure()
    run()
    assert hookspan.flush(5)
    assert trace.get_tracer_provider() is memory.tracer_provider
    assert [tree.names() for tree in memory.trees()] == [TREE]
    assert (receiver.spans(), memory.events()) == ((), [])
    assert [record.event_name for record in receiver.logs()] == ["crewai.hook.aborted"] * 2
    assert dispatched(receiver) == [2]
    assert lines() == []


def test_a_disabled_sdk_is_silent(
    receiver: Receiver, fresh_providers: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    sent_to(receiver, fresh_providers)
    fresh_providers.setenv("OTEL_SDK_DISABLED", "true")
    hookspan.configure()
    run()
    assert hookspan.flush(1)
    assert hookspan.shutdown()
    assert all(map(is_stand_in, current()))
    assert receiver.requests() == ()
    assert [line for line in lines() if "no longer run" not in line] == []


def test_without_an_endpoint_one_line_says_so(lines: Callable[[], list[str]]) -> None:
    hookspan.configure()
    hookspan.configure()
    run()
    assert hookspan.flush(1)
    (line,) = lines()
    assert line == (
        "no OTLP endpoint is set, traces, metrics, logs stay in this process:"
        " set OTEL_EXPORTER_OTLP_ENDPOINT"
    )


def test_a_signal_that_is_not_wanted_is_no_reason_for_a_line(
    receiver: Receiver, fresh_providers: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    sent_to(receiver, fresh_providers)
    fresh_providers.setenv("OTEL_METRICS_EXPORTER", "none")
    fresh_providers.setenv("OTEL_LOGS_EXPORTER", "none")
    hookspan.configure()
    run()
    assert hookspan.flush(5)
    assert {request.path for request in receiver.requests()} == {"/v1/traces"}
    assert lines() == []


def test_a_second_configure_changes_nothing(
    receiver: Receiver, fresh_providers: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    sent_to(receiver, fresh_providers)
    hookspan.configure()
    providers = current()
    hookspan.configure(spans="off")
    assert current() == providers
    run()
    assert hookspan.flush(5)
    assert sorted(span.name for span in receiver.spans()) == [
        TREE[0],
        *["run_hooks pre_tool_call"] * 2,
    ]
    assert lines() == []


def test_a_wrong_setting_leaves_no_provider_behind() -> None:
    with pytest.raises(hookspan.InstrumentationError, match="colour"):
        hookspan.configure(colour="red")
    assert all(map(is_stand_in, current()))


def test_flush_tells_whether_everything_has_arrived(
    receiver: Receiver, fresh_providers: pytest.MonkeyPatch
) -> None:
    sent_to(receiver, fresh_providers)
    fresh_providers.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    hookspan.configure()
    run()
    assert hookspan.flush(5)
    assert (len(receiver.spans()), len(receiver.logs())) == (3, 2)
    receiver.faults.standing = UNAVAILABLE
    run()
    started = time.monotonic()
    assert not hookspan.flush(0.5)
    assert time.monotonic() - started < 0.5 + SLACK
    time.sleep(1.5)  # the exporters give up
    receiver.faults.standing = NONE
    hookspan.flush(5)  # what was lost meanwhile is told of once
    run()
    assert hookspan.flush(5)
    assert len(receiver.spans()) == 6


def test_shutdown_sends_everything_and_leaves_crewai_alone(
    receiver: Receiver, fresh_providers: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    sent_to(receiver, fresh_providers)
    hookspan.configure()
    run()
    assert hookspan.shutdown(5)
    assert (len(receiver.spans()), len(receiver.logs())) == (3, 2)
    assert dispatched(receiver) == [2]
    run()
    assert hookspan.shutdown(5)
    assert len(receiver.spans()) == 3
    assert lines() == ["1 hooks registered through hookspan no longer run in crewAI"]
    hookspan.configure()
    assert lines()[1] == (
        "traces, metrics, logs were shut down before, and OpenTelemetry sets providers once:"
        " nothing more of them is sent by this process"
    )


def test_shutdown_gives_up_on_a_dead_endpoint(fresh_providers: pytest.MonkeyPatch) -> None:
    with refusing_endpoint() as endpoint:
        fresh_providers.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        hookspan.configure()
        run()
        started = time.monotonic()
        assert not hookspan.shutdown(0.5)
        assert time.monotonic() - started < 0.5 + EXIT_GRACE + SLACK

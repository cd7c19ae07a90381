"""Audit records where nobody has set a provider for logs: on a logger, seldom, without content."""

# What is remembered shows in no other way.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from hookspan import (
    HookAborted,
    InputContext,
    InterceptionPoint,
    dispatch,
    execution,
    on,
    register_hook,
)
from hookspan.telemetry import records
from tests.kit.memory import Memory
from tests.telemetry.conftest import Record
from tests.telemetry.hooks import HERE, crashes, denies

INPUT, OUTPUT = InterceptionPoint.INPUT, InterceptionPoint.OUTPUT
SECRET = "4111-1111-1111-1111"  # noqa: S105 - what must not be seen
REASON = "crewai.hook.abort.reason='not allowed'"


class Silent(Memory):
    """Everything but a provider for logs."""

    @property
    def providers(self) -> dict[str, Any]:
        return {**super().providers, "logger_provider": None}


@pytest.fixture
def silent() -> Any:
    memory = Silent()
    yield memory
    memory.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Stop the clock of the records; a test sets it on by hand."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [
        (line.levelname, line.getMessage())
        for line in caplog.records
        if line.name == "hookspan.audit"
    ]


def deny(times: int = 1, payload: Any = None) -> None:
    for _ in range(times):
        with pytest.raises(HookAborted):
            dispatch(INPUT, InputContext(payload))


def test_an_abort_is_a_line_with_all_that_the_record_says(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record(silent)
    on(INPUT, version="3")(denies)
    deny()
    assert lines(caplog) == [
        (
            "WARNING",
            (
                f"crewai.hook.aborted {REASON} crewai.hook.abort.source='policy'"
                f" crewai.hook.effect='raised' crewai.hook.name='{HERE}.denies'"
                " crewai.hook.point='input' crewai.hook.version='3'"
            ),
        )
    ]


def test_the_level_follows_from_what_happened(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record(silent)
    on(INPUT, mode="shadow")(denies)
    register_hook(INPUT, crashes)
    on(OUTPUT, on_error="abort")(crashes)
    with (
        caplog.at_level(logging.INFO, "hookspan.audit"),
        pytest.raises(HookAborted),
        execution({}, name="support"),
    ):
        pass
    with (
        caplog.at_level(logging.INFO, "hookspan.audit"),
        pytest.raises(LookupError),
        execution({}, name="support"),
    ):
        raise LookupError
    assert [(level, text.partition(" ")[0]) for level, text in lines(caplog)] == [
        ("INFO", "crewai.hook.would_abort"),
        ("WARNING", "crewai.hook.exception"),
        ("ERROR", "crewai.hook.exception"),
        ("WARNING", "crewai.hook.aborted"),
        ("ERROR", "crewai.execution.exception"),
    ]


def test_once_a_minute_for_each_event_point_and_hook(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture, clock: list[float]
) -> None:
    record(silent)
    register_hook(INPUT, crashes)
    register_hook(INPUT, denies)
    deny(5)
    clock[0] += records.QUIET - 1
    deny(5)
    assert [text.partition(" ")[0] for _, text in lines(caplog)] == [
        "crewai.hook.exception",
        "crewai.hook.aborted",
    ]
    clock[0] += 1
    deny(5)
    assert len(lines(caplog)) == 4
    register_hook(OUTPUT, crashes)
    dispatch(OUTPUT, InputContext({}))
    assert len(lines(caplog)) == 5


def test_what_is_remembered_of_them_is_bounded(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture, clock: list[float]
) -> None:
    recorder = record(silent)
    for number in range(records._MOST_KINDS + 10):
        about = {"crewai.hook.point": "input", "crewai.hook.name": f"hook {number}"}
        recorder._records.emit("crewai.hook.aborted", about, None)  # type: ignore[arg-type]  # unused
    assert len(recorder._records._written) <= records._MOST_KINDS
    assert len(lines(caplog)) == records._MOST_KINDS + 10


def test_no_content_and_no_message_unless_switched_on(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record(silent, capture_abort_reason=False)

    def speaks(_ctx: Any) -> None:
        raise EOFError(SECRET)

    register_hook(INPUT, speaks)
    register_hook(INPUT, denies)
    deny(payload={"card": SECRET})
    assert len(lines(caplog)) == 2
    assert SECRET not in caplog.text
    assert "not allowed" not in caplog.text


def test_a_payload_that_is_captured_is_for_a_provider_and_not_for_a_terminal(
    silent: Silent, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record(silent, capture_content="event_only")
    register_hook(INPUT, denies)
    deny(payload={"card": SECRET})
    ((_, text),) = lines(caplog)
    assert SECRET not in text
    assert "crewai.hook.payload.size=31" in text
    assert "crewai.hook.payload.content" not in text


def test_with_a_provider_the_logger_is_silent(
    memory: Memory, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record()
    register_hook(INPUT, denies)
    deny(3)
    assert lines(caplog) == []
    assert len(memory.records()) == 3

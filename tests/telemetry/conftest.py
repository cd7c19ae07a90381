"""Telemetry on the engine alone: no crewAI is imported here."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from hookspan.engine.execution import EXECUTIONS, Execution
from hookspan.engine.guard import GUARD
from hookspan.engine.observe import DISPATCHES, Finish
from hookspan.integrations.crewai.identity import identify, identify_run
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run
from hookspan.telemetry.recorder import LIVE, Recorder
from hookspan.telemetry.settings import Settings
from tests.kit.memory import Memory

Record = Callable[..., Recorder]


@pytest.fixture
def memory() -> Generator[Memory]:
    """In-memory providers; what they took must be as the registry declares it."""
    memory = Memory()
    yield memory
    findings = memory.findings()
    memory.close()
    assert findings == []


@pytest.fixture
def record(memory: Memory) -> Generator[Record]:
    """Record the engine's dispatches and executions, with settings; at most once in a test."""
    undo: list[Callable[[], None]] = []

    def start(memory: Memory = memory, uuid: str | None = None, **settings: Any) -> Recorder:
        LIVE.forget()  # what a last look at the test before has found
        recorder = Recorder(
            "0",
            Settings.load(settings, {}),
            identify=identify,
            identify_run=identify_run,
            execution_uuid=lambda: uuid,
            **memory.providers,
        )

        def begin(execution: Execution) -> Finish:
            run = Run(semconv.CREWAI_EXECUTION_KIND_RUNTIME, execution.name)
            frame = recorder.begin_execution(run)
            return (lambda _error: None) if frame is None else frame.finish

        undo.extend(
            (
                DISPATCHES.observe(recorder.begin_dispatch, recorder.wanted),
                EXECUTIONS.observe(begin),
                GUARD.on_failure(recorder.failed),
            )
        )
        return recorder

    yield start
    for step in undo:
        step()
    LIVE.forget()

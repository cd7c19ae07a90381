"""crewAI without a network, a home or a memory of earlier tests."""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import tempfile
from collections.abc import Generator
from typing import Any

import pytest

import hookspan
from hookspan.telemetry.recorder import LIVE
from tests.kit.memory import Memory

# crewAI reads these when it is imported, which the test modules beside this file do.
HOME = tempfile.mkdtemp(prefix="hookspan-crewai-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ.pop("OTEL_SDK_DISABLED", None)
os.environ.update(
    {
        "HOME": HOME,
        "CREWAI_STORAGE_DIR": f"{HOME}/storage",
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CREWAI_DISABLE_VERSION_CHECK": "true",
        "CREWAI_TESTING": "true",
        "CREWAI_TRACING_ENABLED": "false",
    }
)


def forget_hooks() -> None:
    """Wait for events on their way, then clear every hook that was registered with crewAI."""
    # By importlib: `crewai.hooks.dispatch` as an attribute is the function of that name.
    dispatch: Any = importlib.import_module("crewai.hooks.dispatch")
    events: Any = importlib.import_module("crewai.events.event_bus")
    assert events.crewai_event_bus.flush(timeout=10)
    dispatch.clear_all()


@pytest.fixture(autouse=True)
def no_crewai_hooks(no_hooks: None) -> Generator[None]:
    """Begin and end without a hook in crewAI and without an event on its way."""
    forget_hooks()
    yield
    forget_hooks()


@pytest.fixture
def memory() -> Generator[Memory]:
    """In-memory providers; what they took must be as the registry declares it."""
    memory = Memory()
    yield memory
    findings = memory.findings()
    memory.close()
    assert findings == []


@pytest.fixture
def switched_off() -> Generator[None]:
    """End with crewAI as it was, whatever the test has switched on."""
    hookspan.uninstrument()
    LIVE.forget()  # what a last look at the test before has found
    yield
    hookspan.uninstrument()
    LIVE.forget()


@pytest.fixture
def instrumented(memory: Memory, switched_off: None) -> Memory:
    """Instrument crewAI; what it records is in the memory."""
    hookspan.instrument(**memory.providers)
    return memory

"""What the tests of the engine look through."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.contract.events import HookDispatchedEvent
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, REGISTRY
from hookspan.engine.events import subscribe
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.probe import Chain


@pytest.fixture(scope="session", autouse=True)
def first_dispatch() -> None:
    """Have the first dispatch of the process behind us, which is noted: see `engine/idle.py`."""
    REGISTRY.register(InterceptionPoint.INPUT, lambda _ctx: None)
    DISPATCHER.dispatch(InterceptionPoint.INPUT, InputContext({}))
    REGISTRY.clear_all()


@pytest.fixture
def chains() -> Generator[list[Chain]]:
    """Observe dispatches: the chain of each that has ended, in that order."""
    ended: list[Chain] = []

    def begin(chain: Chain) -> Callable[[BaseException | None], None]:
        return lambda _error: ended.append(chain)

    undo = DISPATCHES.observe(begin)
    yield ended
    undo()


@pytest.fixture
def events() -> Generator[list[HookDispatchedEvent]]:
    """Subscribe: every event, in order."""
    told: list[HookDispatchedEvent] = []
    undo = subscribe(told.append)
    yield told
    undo()


@pytest.fixture
def log() -> list[str]:
    """Where hooks note that they were called."""
    return []

"""Hooks that are kept in the live lists of another runtime."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.dispatcher import Dispatcher
from hookspan.engine.registry import HookRegistry, ScopeVariable
from tests.engine.specimens import INPUT, Hook, noting


class LiveLists:
    """Lists that are changed in place, as crewAI keeps them."""

    def __init__(self) -> None:
        self.table: dict[InterceptionPoint, list[Hook]] = {point: [] for point in InterceptionPoint}
        self.scope: ScopeVariable = ContextVar("live", default=None)

    def add(self, point: InterceptionPoint, hook: Hook) -> None:
        self.table[point].append(hook)

    def remove(self, point: InterceptionPoint, hook: Hook) -> bool:
        found = hook in self.table[point]
        if found:
            self.table[point].remove(hook)
        return found

    def clear(self, point: InterceptionPoint) -> int:
        count = len(self.table[point])
        self.table[point].clear()
        return count


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


@pytest.fixture
def live(registry: HookRegistry) -> LiveLists:
    store = LiveLists()
    registry.adopt(store)
    return store


def called(dispatcher: Dispatcher, log: list[str]) -> list[str]:
    log.clear()
    dispatcher.dispatch(INPUT, InputContext({}))
    return list(log)


def test_both_sides_share_one_ordered_queue(
    registry: HookRegistry, live: LiveLists, log: list[str]
) -> None:
    dispatcher = Dispatcher(registry)
    ours, theirs, scoped = noting(log, "ours"), noting(log, "theirs"), noting(log, "scoped")
    registry.register(INPUT, ours)
    live.table[INPUT].append(theirs)
    with registry.scoped({INPUT: [scoped]}):
        assert called(dispatcher, log) == ["ours", "theirs", "scoped"]
    assert registry.hooks(INPUT) == [ours, theirs]
    assert registry.unregister(INPUT, theirs)
    assert registry.clear(INPUT) == 1
    assert live.table[INPUT] == []


def test_another_store_is_looked_at_at_once_and_left_again(
    registry: HookRegistry, log: list[str]
) -> None:
    dispatcher, own = Dispatcher(registry), registry.store
    registry.register(INPUT, noting(log, "own"))
    registry.adopt(LiveLists())
    assert called(dispatcher, log) == []
    registry.register(INPUT, noting(log, "live"))
    assert called(dispatcher, log) == ["live"]
    registry.adopt(own)
    assert called(dispatcher, log) == ["own"]


@pytest.mark.parametrize("change", ["append", "clear", "pop"])
def test_a_live_list_that_changes_disturbs_no_running_dispatch(
    registry: HookRegistry, live: LiveLists, log: list[str], change: str
) -> None:
    dispatcher = Dispatcher(registry)
    changes: dict[str, Any] = {
        "append": lambda: live.table[INPUT].append(noting(log, "added")),
        "clear": live.table[INPUT].clear,
        "pop": live.table[INPUT].pop,
    }
    registry.register(INPUT, lambda _ctx: changes[change]() and None)
    registry.register(INPUT, noting(log, "last"))
    assert called(dispatcher, log) == ["last"]

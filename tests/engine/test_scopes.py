"""Hooks of an execution scope."""

# Only a listener sees the moment between two steps of opening a scope.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import Any

from hookspan.contract.contexts import InputContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import (
    clear_all_hooks,
    dispatch,
    get_hooks,
    register_hook,
    register_scoped,
    scoped_hooks,
)
from hookspan.engine.dispatcher import Dispatcher
from hookspan.engine.registry import HookRegistry
from tests.engine.specimens import INPUT, Hook, noting


def called(log: list[str]) -> list[str]:
    """Dispatch once; return which hooks that called."""
    log.clear()
    dispatch(INPUT, InputContext({}))
    return list(log)


def test_global_hooks_run_first_then_scoped_ones(log: list[str]) -> None:
    """'global hooks first, then execution-scoped hooks'; 'then crew-scoped hooks'."""
    with scoped_hooks({INPUT: [noting(log, "scoped 1")]}):
        register_scoped(INPUT, noting(log, "scoped 2"))
        register_hook(INPUT, noting(log, "global 1"))
        register_hook(INPUT, noting(log, "global 2"))

        assert called(log) == ["global 1", "global 2", "scoped 1", "scoped 2"]


def test_a_scope_is_gone_after_its_block(log: list[str]) -> None:
    """'(active only while that crew runs)'."""
    with scoped_hooks({INPUT: [noting(log, "scoped")]}):
        assert called(log) == ["scoped"]
    assert called(log) == []


def test_a_scope_is_gone_after_a_block_that_raised(log: list[str]) -> None:
    with contextlib.suppress(KeyError), scoped_hooks({INPUT: [noting(log, "scoped")]}):
        raise KeyError
    assert called(log) == []


def test_scopes_that_nest_merge_outer_first(log: list[str]) -> None:
    with scoped_hooks({INPUT: [noting(log, "outer")]}):
        with scoped_hooks({INPUT: [noting(log, "inner")]}):
            register_scoped(INPUT, noting(log, "late"))
            assert called(log) == ["outer", "inner", "late"]
        assert called(log) == ["outer"]
        register_scoped(INPUT, noting(log, "outer 2"))
        assert called(log) == ["outer", "outer 2"]


def test_a_scoped_hook_is_for_its_point_only(log: list[str]) -> None:
    with scoped_hooks({InterceptionPoint.OUTPUT: [noting(log, "other point")]}):
        assert called(log) == []


def test_scoped_hooks_are_not_in_the_global_table(log: list[str]) -> None:
    with scoped_hooks({INPUT: [noting(log, "scoped")]}):
        assert get_hooks(INPUT) == []
        clear_all_hooks()
        assert called(log) == ["scoped"]


def test_the_callers_mapping_is_copied(log: list[str]) -> None:
    held: dict[Any, list[Hook]] = {INPUT: [noting(log, "given")]}
    with scoped_hooks(held):
        register_scoped(INPUT, noting(log, "added"))
        held[INPUT].clear()
        assert called(log) == ["given", "added"]
    assert held == {INPUT: []}


def test_a_hook_that_registers_in_its_scope_disturbs_no_running_dispatch(log: list[str]) -> None:
    def meddle(_ctx: Any) -> None:
        log.append("meddle")
        register_scoped(INPUT, noting(log, "added"))

    with scoped_hooks({INPUT: [meddle, noting(log, "last")]}):
        assert called(log) == ["meddle", "last"]
        assert called(log) == ["meddle", "last", "added"]


def test_a_copied_context_carries_the_scope_on(log: list[str]) -> None:
    with scoped_hooks({INPUT: [noting(log, "scoped")]}):
        carried = contextvars.copy_context()
    assert called(log) == []
    assert carried.run(called, log) == ["scoped"]


def test_a_new_thread_has_no_scope(log: list[str]) -> None:
    with scoped_hooks({INPUT: [noting(log, "scoped")]}):
        thread = threading.Thread(target=called, args=(log,))
        thread.start()
        thread.join()
        assert log == []


def test_tasks_with_scopes_of_their_own_do_not_mix() -> None:
    seen: dict[str, list[list[str]]] = {}

    async def run(name: str) -> None:
        log: list[str] = []
        with scoped_hooks({INPUT: [noting(log, name)]}):
            for turn in range(5):
                await asyncio.sleep(0)
                register_scoped(INPUT, noting(log, f"{name}.{turn}"))
                await asyncio.sleep(0)
                seen.setdefault(name, []).append(called(log))
        await asyncio.sleep(0)
        seen[name].append(called(log))

    async def run_all() -> None:
        await asyncio.gather(*(run(name) for name in "abcdefgh"))

    asyncio.run(run_all())

    assert seen == {
        name: [[name, *(f"{name}.{turn}" for turn in range(last + 1))] for last in range(5)] + [[]]
        for name in "abcdefgh"
    }


def test_no_scope_is_open_before_dispatchers_look_for_scopes() -> None:
    """Two threads open the first scopes: the second must wait for the first to have told."""
    registry, log = HookRegistry(), list[str]()
    dispatcher = Dispatcher(registry)
    telling, told = threading.Event(), threading.Event()

    def first_to_be_told() -> None:
        if registry.scopes_used:
            telling.set()
            told.wait(timeout=0.2)  # while the lock is held the other thread cannot set it

    def second() -> None:
        telling.wait()
        with registry.scoped({INPUT: [noting(log, "scoped")]}):
            dispatcher.dispatch(INPUT, InputContext({}))
        told.set()

    registry._listeners = (first_to_be_told, *registry._listeners)
    thread = threading.Thread(target=second)
    thread.start()
    with registry.scoped():
        pass
    thread.join()

    assert log == ["scoped"]

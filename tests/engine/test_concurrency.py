"""Many threads dispatch while some register and clear: each dispatch sees one whole list."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from itertools import groupby, pairwise
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.engine.api import (
    clear_hooks,
    dispatch,
    get_hooks,
    register_hook,
    scoped_hooks,
    unregister_hook,
)
from hookspan.engine.events import subscribe
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.registry import HookRegistry, TupleStore
from tests.engine.specimens import INPUT

DISPATCHERS, DISPATCHES_EACH = 32, 30
CHANGERS, CHANGES_EACH = 4, 150

Call = tuple[int, int]
"""Which changer registered the hook, and as its how manieth."""


@pytest.fixture(autouse=True)
def threads_switch_often() -> Generator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(*targets: Callable[[], None]) -> None:
    """Run functions in a thread each, all at once; raise what the first failed one raised."""
    barrier = threading.Barrier(len(targets))
    failures: list[BaseException] = []

    def guarded(target: Callable[[], None]) -> None:
        try:
            barrier.wait()
            target()
        except BaseException as error:  # noqa: BLE001 - raised below, on the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


def numbered(changer: int, number: int) -> Any:
    def hook(ctx: Any) -> None:
        ctx.payload.append((changer, number))

    return hook


def change(changer: int) -> None:
    """Register hooks in order; take out the oldest, or all, now and then."""
    mine: list[Any] = []
    for number in range(CHANGES_EACH):
        hook = numbered(changer, number)
        register_hook(INPUT, hook)
        mine.append(hook)
        if number % 3 == 2:
            unregister_hook(INPUT, mine.pop(0))
        if number % 40 == 39:
            clear_hooks(INPUT)
            mine.clear()


def dispatch_many(thread: int, seen: list[list[Call]]) -> None:
    """Dispatch in a scope of one's own; check that its hooks came last, once, in order."""
    scope = [numbered(-1 - thread, number) for number in range(3)]
    with scoped_hooks({INPUT: scope}):
        for _ in range(DISPATCHES_EACH):
            calls: list[Call] = dispatch(INPUT, InputContext([])).payload
            assert calls[-3:] == [(-1 - thread, number) for number in range(3)]
            seen.append(calls[:-3])


def whole(calls: list[Call]) -> bool:
    """Tell whether the hooks of each changer are consecutive: none lost, doubled, reordered."""
    by_changer = groupby(sorted(calls, key=lambda call: call[0]), key=lambda call: call[0])
    return all(
        after == before + 1
        for _, own in by_changer
        for before, after in pairwise(number for _, number in own)
    )


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ([], True),
        ([(0, 4), (1, 9), (0, 5), (0, 6), (1, 10)], True),
        ([(0, 4), (0, 6)], False),
        ([(0, 4), (0, 4)], False),
        ([(0, 5), (1, 1), (0, 4)], False),
    ],
)
def test_whole_can_tell(calls: list[Call], *, verdict: bool) -> None:
    assert whole(calls) == verdict


def test_every_dispatch_sees_one_whole_list() -> None:
    seen: list[list[Call]] = []
    together(
        *(lambda thread=thread: dispatch_many(thread, seen) for thread in range(DISPATCHERS)),
        *(lambda changer=changer: change(changer) for changer in range(CHANGERS)),
    )

    assert len(seen) == DISPATCHERS * DISPATCHES_EACH
    assert [calls for calls in seen if not whole(calls)] == []
    assert len({tuple(calls) for calls in seen}) > 1
    left = dispatch(INPUT, InputContext([])).payload
    assert whole(left)
    assert len(left) == len(get_hooks(INPUT))


def test_no_registration_is_lost() -> None:
    def register(changer: int) -> None:
        for number in range(CHANGES_EACH):
            register_hook(INPUT, numbered(changer, number))

    together(*(lambda changer=changer: register(changer) for changer in range(8)))

    calls = dispatch(INPUT, InputContext([])).payload
    assert len(calls) == 8 * CHANGES_EACH
    assert whole(calls)


@pytest.mark.parametrize(
    ("action", "arguments", "left"),
    [
        (HookRegistry.register, [INPUT, repr], [print, repr, str]),
        (HookRegistry.unregister, [INPUT, print], [str]),
        (HookRegistry.clear, [INPUT], [str]),
        (HookRegistry.clear_all, [], [str]),
    ],
)
def test_a_registration_waits_for_the_change_before_it(
    action: Callable[..., Any], arguments: list[Any], left: list[Any]
) -> None:
    """Between reading a point's hooks and writing them, a second thread comes along."""
    registry, store = HookRegistry(), TupleStore()
    second = threading.Thread(target=registry.register, args=(INPUT, str))

    class Table(dict[Any, Any]):
        def __getitem__(self, point: Any) -> Any:
            held = super().__getitem__(point)
            if second.ident is None:
                second.start()
                second.join(timeout=0.1)  # while the lock is held it cannot end
            return held

    store.add(INPUT, print)
    store.table = Table(store.table)
    registry.adopt(store)
    action(registry, *arguments)
    second.join()

    assert registry.hooks(INPUT) == left


def test_observers_come_and_go_while_threads_dispatch() -> None:
    seen: list[list[Call]] = []
    for number in range(5):
        register_hook(INPUT, numbered(0, number))

    def observe() -> None:
        for _ in range(CHANGES_EACH):
            subscribe(lambda _event: None)()

    together(*(lambda n=n: dispatch_many(n, seen) for n in range(8)), observe, observe)

    assert seen == [[(0, number) for number in range(5)]] * (8 * DISPATCHES_EACH)
    assert not DISPATCHES.active

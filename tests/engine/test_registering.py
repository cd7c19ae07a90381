"""Registering, taking out and clearing hooks."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import (
    clear_all_hooks,
    clear_hooks,
    dispatch,
    get_hooks,
    register_hook,
    scoped_hooks,
    unregister_hook,
)
from hookspan.engine.decorators import on
from tests.engine.specimens import INPUT, SPELLINGS, noting

OUTPUT = InterceptionPoint.OUTPUT


def test_hooks_run_in_registration_order(log: list[str]) -> None:
    """'Multiple hooks on the same point run in registration order'."""
    for name in ("third", "first", "second"):
        register_hook(INPUT, noting(log, name))

    dispatch(INPUT, InputContext({}))

    assert log == ["third", "first", "second"]


def test_the_decorator_registers_in_order_with_the_function(log: list[str]) -> None:
    """'Use the `@on` decorator for global hooks'."""
    register_hook(INPUT, noting(log, "first"))

    @on(INPUT)
    def second(_ctx: Any) -> None:
        log.append("second")

    register_hook(INPUT, noting(log, "third"))
    dispatch(INPUT, InputContext({}))

    assert log == ["first", "second", "third"]
    assert get_hooks(INPUT)[1] is second


def test_the_decorator_returns_the_function_itself(log: list[str]) -> None:
    hook = noting(log, "hook")
    assert on(INPUT)(hook) is hook
    assert on(INPUT, tools=["any"])(hook) is hook


@pytest.mark.parametrize("dispatched", SPELLINGS)
@pytest.mark.parametrize("registered", SPELLINGS)
def test_every_spelling_selects_the_same_point(
    log: list[str], registered: Any, dispatched: Any
) -> None:
    hook = noting(log, "global")
    register_hook(registered, hook)
    on(registered)(noting(log, "decorated"))
    with scoped_hooks({registered: [noting(log, "scoped")]}):
        dispatch(dispatched, InputContext({}))

    assert log == ["global", "decorated", "scoped"]
    assert get_hooks(dispatched)[0] is hook
    assert unregister_hook(dispatched, hook)
    assert clear_hooks(dispatched) == 1


def test_a_point_knows_only_its_own_hooks(log: list[str]) -> None:
    register_hook(OUTPUT, noting(log, "other"))

    dispatch(INPUT, InputContext({}))

    assert log == []


def test_a_hook_registered_twice_runs_twice_and_goes_one_by_one(log: list[str]) -> None:
    hook = noting(log, "hook")
    register_hook(INPUT, hook)
    register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    assert log == ["hook", "hook"]

    assert [unregister_hook(INPUT, hook) for _ in range(3)] == [True, True, False]
    dispatch(INPUT, InputContext({}))
    assert log == ["hook", "hook"]


def test_unregistering_takes_the_first_of_equals_and_keeps_the_order(log: list[str]) -> None:
    a, b, c = (noting(log, name) for name in "abc")
    for hook in (a, b, a, c):
        register_hook(INPUT, hook)

    assert unregister_hook(INPUT, a)

    assert get_hooks(INPUT) == [b, a, c]


def test_a_filtered_hook_is_got_and_taken_out_as_the_users_function(log: list[str]) -> None:
    hook = noting(log, "hook")
    on(INPUT, tools=["search"])(hook)

    assert get_hooks(INPUT)[0] is hook
    assert unregister_hook(INPUT, hook)
    assert get_hooks(INPUT) == []


def test_a_bound_method_can_be_taken_out_again() -> None:
    class Policy:
        def check(self, _ctx: Any) -> None: ...

    policy, other = Policy(), Policy()
    register_hook(INPUT, policy.check)

    assert not unregister_hook(INPUT, other.check)
    assert unregister_hook(INPUT, policy.check)


def test_the_list_that_get_returns_is_a_copy(log: list[str]) -> None:
    register_hook(INPUT, noting(log, "hook"))
    get_hooks(INPUT).clear()
    dispatch(INPUT, InputContext({}))
    assert log == ["hook"]


def test_clearing_a_point_tells_how_many_and_spares_the_others(log: list[str]) -> None:
    for point in (INPUT, INPUT, OUTPUT):
        register_hook(point, noting(log, point.value))

    assert (clear_hooks(INPUT), clear_hooks(INPUT)) == (2, 0)
    assert (len(get_hooks(INPUT)), len(get_hooks(OUTPUT))) == (0, 1)


def test_clear_all_clears_every_point(log: list[str]) -> None:
    """'`clear_all_hooks()` Clears every point, including boundaries'."""
    for point in InterceptionPoint:
        register_hook(point, noting(log, point.value))

    clear_all_hooks()

    assert {point: get_hooks(point) for point in InterceptionPoint} == {
        point: [] for point in InterceptionPoint
    }


@pytest.mark.parametrize("point", InterceptionPoint)
def test_a_hook_can_be_registered_at_every_point(log: list[str], point: InterceptionPoint) -> None:
    """'All points share one contract and one registration API'."""
    register_hook(point, noting(log, point.value))
    dispatch(point, InputContext({}))
    assert log == [point.value]


def test_callables_of_every_kind_may_be_hooks(log: list[str]) -> None:
    class Policy:
        def __call__(self, _ctx: Any) -> None:
            log.append("object")

        @classmethod
        def by_class(cls, _ctx: Any) -> None:
            log.append("classmethod")

    def two(name: str, _ctx: Any) -> None:
        log.append(name)

    register_hook(INPUT, Policy())
    register_hook(INPUT, Policy.by_class)
    register_hook(INPUT, functools.partial(two, "partial"))
    register_hook(INPUT, lambda _ctx: log.append("lambda"))
    register_hook(INPUT, bool)
    dispatch(INPUT, InputContext({}))

    assert log == ["object", "classmethod", "partial", "lambda"]

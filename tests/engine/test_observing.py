"""Observers come and go by swapping the loop."""

# Which loop a dispatcher runs shows in no other way.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.engine.api import DISPATCHER, dispatch, register_hook
from hookspan.engine.dispatcher import Dispatcher, run_hooks
from hookspan.engine.loop import Loop
from hookspan.engine.observe import DISPATCHES, Observation, observed
from hookspan.engine.registry import HookRegistry
from tests.engine.specimens import INPUT, noting


def noting_observer(log: list[str], name: str) -> Any:
    def begin(_subject: Any) -> Any:
        log.append(f"{name} begins")

        def finish(error: BaseException | None) -> None:
            log.append(f"{name} ends {error}")

        return finish

    return begin


def test_observers_nest_around_the_hooks(log: list[str]) -> None:
    undo = [DISPATCHES.observe(noting_observer(log, name)) for name in "ab"]
    register_hook(INPUT, noting(log, "hook"))
    dispatch(INPUT, InputContext({}))
    for end in undo:
        end()
    assert log == ["a begins", "b begins", "hook", "b ends None", "a ends None"]


@pytest.mark.parametrize(
    ("wanted", "begun"),
    [([False], []), ([True], ["0"]), ([False, False], []), ([False, True], ["0", "1"])],
)
def test_while_no_observer_listens_nothing_is_probed(
    log: list[str], wanted: list[bool], begun: list[str]
) -> None:
    undo = [
        DISPATCHES.observe(noting_observer(log, str(index)), functools.partial(bool, listens))
        for index, listens in enumerate(wanted)
    ]
    register_hook(INPUT, noting(log, "hook"))
    dispatch(INPUT, InputContext({}))
    for end in undo:
        end()
    assert [line for line in log if line.endswith("begins")] == [f"{one} begins" for one in begun]
    assert "hook" in log


def test_the_loop_is_bare_before_and_after() -> None:
    assert DISPATCHER._run is run_hooks
    undo = DISPATCHES.observe(lambda _chain: lambda _error: None)
    assert DISPATCHER._run is not run_hooks
    undo()
    assert DISPATCHER._run is run_hooks


def test_a_dispatcher_made_while_somebody_observes_is_observed(log: list[str]) -> None:
    undo = DISPATCHES.observe(noting_observer(log, "observer"))
    registry = HookRegistry()
    dispatcher = Dispatcher(registry)
    registry.register(INPUT, noting(log, "hook"))
    dispatcher.dispatch(INPUT, InputContext({}))
    undo()
    dispatcher.dispatch(INPUT, InputContext({}))
    assert log == ["observer begins", "hook", "observer ends None", "hook"]


def test_an_observer_may_leave_during_a_dispatch_and_still_hears_its_end(log: list[str]) -> None:
    undo = DISPATCHES.observe(noting_observer(log, "observer"))
    register_hook(INPUT, lambda _ctx: undo())
    dispatch(INPUT, InputContext({}))
    dispatch(INPUT, InputContext({}))
    assert log == ["observer begins", "observer ends None"]


def test_one_observer_may_be_added_twice_and_goes_one_by_one(log: list[str]) -> None:
    observation: Observation[str] = Observation("thing")
    begin = noting_observer(log, "observer")
    undo = [observation.observe(begin), observation.observe(begin)]
    observation.end(observation.begin("subject"), None)
    undo[0]()
    observation.end(observation.begin("subject"), ValueError("left"))
    undo[1]()
    observation.end(observation.begin("subject"), None)

    assert log == [
        *["observer begins"] * 2,
        *["observer ends None"] * 2,
        "observer begins",
        "observer ends left",
    ]
    assert (observation.active, observation.listening()) == (False, False)


def test_a_foreign_loop_is_given_every_argument_that_came(log: list[str]) -> None:
    calls: list[Any] = []

    def loop(*args: Any, **kwargs: Any) -> str:
        calls.append((args[:2], len(args[2]), args[3:], sorted(kwargs.items())[1:]))
        return "result"

    undo = DISPATCHES.observe(noting_observer(log, "observer"))
    wrapped = observed(loop, Loop())
    result = wrapped(INPUT, "ctx", [print], "more", verbose=False, later=1)
    undo()

    assert result == "result"
    assert calls[0][:3] == ((INPUT, "ctx"), 1, ("more",))
    assert dict(calls[0][3])["verbose"] is False
    assert log == ["observer begins", "observer ends None"]

"""`HookDispatchedEvent`: when it is emitted and what it says."""

# Which loop a dispatcher runs shows in no other way.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from typing import Any

import pytest
from pydantic import ValidationError

from hookspan.contract.contexts import InputContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.events import HookDispatchedEvent
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, dispatch, register_hook, scoped_hooks
from hookspan.engine.decorators import on
from hookspan.engine.dispatcher import run_hooks
from hookspan.engine.events import source_name, subscribe
from hookspan.engine.observe import DISPATCHES
from tests.engine.specimens import INPUT, noting, raising, returning

Events = list[HookDispatchedEvent]


def told(event: HookDispatchedEvent) -> dict[str, Any]:
    """Return an event's fields without the duration, which must be sane."""
    fields = event.model_dump()
    assert 0 <= fields.pop("duration_ms") < 60_000
    return fields


def expected(outcome: str, count: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "type": "hook_dispatched",
        "interception_point": "input",
        "outcome": outcome,
        "hook_count": count,
        "abort_reason": None,
        "abort_source": None,
        **more,
    }


def test_a_dispatch_that_proceeds(events: Events) -> None:
    """'`HookDispatchedEvent` ... with the point, the outcome, ... the hook count'."""
    register_hook(INPUT, lambda _ctx: None)
    register_hook(INPUT, lambda _ctx: None)
    dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [expected("proceeded", 2)]


def test_a_dispatch_that_modifies(events: Events) -> None:
    """'(`proceeded` / `modified` / `aborted`)'."""
    register_hook(INPUT, lambda _ctx: {})
    register_hook(INPUT, lambda _ctx: None)
    dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [expected("modified", 2)]


def test_a_dispatch_that_aborts(events: Events) -> None:
    """'and — for aborts — the reason and source'."""
    register_hook(INPUT, raising(HookAborted("no", "policy")))
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [
        expected("aborted", abort_reason="no", abort_source="policy")
    ]


def test_an_abort_without_a_source_names_the_hook(events: Events) -> None:
    """'which is useful for telemetry and failure messages'."""

    @on(INPUT, agents=["any"])
    def guard(_ctx: Any) -> None:
        reason: Any = ["not", "text"]
        raise HookAborted(reason)

    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [
        expected("aborted", abort_reason="['not', 'text']", abort_source="guard")
    ]


def test_a_crash_is_no_abort(events: Events) -> None:
    register_hook(INPUT, raising(RuntimeError("boom")))
    dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [expected("proceeded")]


def test_a_base_exception_is_told_too(events: Events) -> None:
    register_hook(INPUT, raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        dispatch(INPUT, InputContext({}))
    assert list(map(told, events)) == [expected("proceeded")]


@pytest.mark.parametrize("point", InterceptionPoint)
def test_each_point_is_told_by_its_value(events: Events, point: InterceptionPoint) -> None:
    """'Whenever a point actually dispatches to at least one hook'; 'emitted per dispatch'."""
    spelled: Any = point.value
    register_hook(point, lambda _ctx: None)
    dispatch(point, InputContext({}))
    dispatch(spelled, InputContext({}))
    fields = expected("proceeded", interception_point=point.value)
    assert list(map(told, events)) == [fields, fields]


def test_scoped_and_filtered_hooks_are_counted(events: Events) -> None:
    on(INPUT, agents=["Editor"])(returning({}))
    with scoped_hooks({INPUT: [lambda _ctx: None]}):
        dispatch(INPUT, InputContext({}, agent_role="Writer"))
    assert list(map(told, events)) == [expected("proceeded", 2)]


def test_the_fast_path_emits_nothing(events: Events) -> None:
    """'The no-op fast path emits nothing'."""
    register_hook(InterceptionPoint.OUTPUT, lambda _ctx: None)
    with scoped_hooks():
        dispatch(INPUT, InputContext({}))
    assert events == []


def test_a_nested_dispatch_is_told_before_the_one_around_it(events: Events) -> None:
    register_hook(INPUT, lambda _ctx: dispatch(InterceptionPoint.OUTPUT, InputContext()) and None)
    register_hook(InterceptionPoint.OUTPUT, lambda _ctx: None)
    dispatch(INPUT, InputContext({}))
    assert [event.interception_point for event in events] == ["output", "input"]


def test_the_duration_is_in_milliseconds(monkeypatch: pytest.MonkeyPatch, events: Events) -> None:
    """'the duration'."""

    class Clock:
        now = 0

        @classmethod
        def perf_counter_ns(cls) -> int:
            return cls.now

    def slow(_ctx: Any) -> None:
        Clock.now += 2_500_000

    monkeypatch.setattr("hookspan.engine.events.time", Clock)
    register_hook(INPUT, slow)
    register_hook(INPUT, slow)
    dispatch(INPUT, InputContext({}))
    assert [event.duration_ms for event in events] == [5.0]


def test_every_subscriber_is_told_on_the_thread_of_the_dispatch(log: list[str]) -> None:
    undo = [subscribe(noting(log, name)) for name in ("a", "b")]
    register_hook(INPUT, noting(log, "hook"))
    dispatch(INPUT, InputContext({}))
    assert sorted(log[1:]) == ["a", "b"]
    assert log[0] == "hook"

    undo[0]()
    log.clear()
    dispatch(INPUT, InputContext({}))
    undo[1]()
    assert log == ["hook", "b"]


def test_unsubscribing_restores_the_bare_loop() -> None:
    assert DISPATCHER._run is run_hooks
    undo = [subscribe(lambda _event: None), subscribe(lambda _event: None)]
    assert DISPATCHER._run is not run_hooks
    undo[0]()
    assert DISPATCHER._run is not run_hooks
    undo[1]()
    undo[1]()
    assert (DISPATCHER._run, DISPATCHES.active) == (run_hooks, False)


@pytest.mark.usefixtures("contained")
def test_a_subscriber_that_raises_disturbs_nobody(events: Events, log: list[str]) -> None:
    undo = subscribe(raising(RuntimeError("boom")))
    register_hook(INPUT, noting(log, "hook", {"a": 1}))
    ctx = dispatch(INPUT, InputContext({}))
    undo()
    assert (ctx.payload, log) == ({"a": 1}, ["hook"])
    assert list(map(told, events)) == [expected("modified")]


def test_an_event_cannot_be_changed() -> None:
    event = HookDispatchedEvent(
        interception_point="input", outcome="proceeded", hook_count=1, duration_ms=0
    )
    with pytest.raises(ValidationError, match="frozen"):
        event.outcome = "aborted"


@pytest.mark.parametrize(
    "wrong",
    [{"outcome": "passed"}, {"hook_count": 0}, {"duration_ms": -1}, {"unknown": 1}],
)
def test_an_event_that_is_no_event_is_refused(wrong: dict[str, Any]) -> None:
    right = {"interception_point": "input", "outcome": "aborted", "hook_count": 1, "duration_ms": 1}
    HookDispatchedEvent.model_validate(right)
    with pytest.raises(ValidationError):
        HookDispatchedEvent.model_validate({**right, **wrong})


def a_hook(_ctx: Any) -> None: ...


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (None, None),
        ("policy", "policy"),
        ("", ""),
        (a_hook, "a_hook"),
        (InputContext, "InputContext"),
        (functools.partial(a_hook), "partial"),
        (7, "int"),
    ],
)
def test_a_source_has_a_readable_name(source: Any, name: str | None) -> None:
    assert source_name(source) == name

"""Observers that fail: contained, told, logged once; or, in our own tests, raised."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.events import HookDispatchedEvent
from hookspan.engine.api import dispatch, register_hook
from hookspan.engine.execution import EXECUTIONS, execution
from hookspan.engine.guard import GUARD
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.probe import Chain
from tests.engine.specimens import INPUT, raising, returning

ERROR = RuntimeError("the observer's own")
Failures = list[tuple[str, BaseException]]


def failing_begin(_subject: Any) -> Any:
    raise ERROR


def failing_finish(_subject: Any) -> Any:
    return raising(ERROR)


FAILING = pytest.mark.parametrize(
    ("begin", "stage"), [(failing_begin, "begin"), (failing_finish, "finish")]
)


@pytest.fixture
def failures() -> Generator[Failures]:
    told: Failures = []
    undo = GUARD.on_failure(lambda operation, error: told.append((operation, error)))
    yield told
    undo()


@pytest.fixture
def observe() -> Generator[Callable[[Any], None]]:
    undo: list[Callable[[], None]] = []
    yield lambda begin: undo.append(DISPATCHES.observe(begin))
    for end in undo:
        end()


@pytest.mark.usefixtures("contained")
@FAILING
def test_a_failing_observer_never_reaches_the_dispatch(
    failures: Failures, observe: Callable[[Any], None], begin: Any, stage: str
) -> None:
    observe(begin)
    register_hook(INPUT, lambda _ctx: {"b": 2})
    ctx = InputContext({"a": 1})

    assert dispatch(INPUT, ctx) is ctx

    assert ctx == InputContext({"b": 2})
    assert failures == [(f"dispatch.{stage}", ERROR)]


@pytest.mark.usefixtures("contained")
@FAILING
@pytest.mark.parametrize("left", [HookAborted("no"), KeyboardInterrupt()])
def test_a_failing_observer_never_replaces_an_exception(
    failures: Failures, observe: Callable[[Any], None], begin: Any, stage: str, left: BaseException
) -> None:
    observe(begin)
    register_hook(INPUT, raising(left))
    with pytest.raises(type(left)) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is left
    assert failures == [(f"dispatch.{stage}", ERROR)]


@pytest.mark.usefixtures("contained")
@pytest.mark.parametrize("begin", [failing_begin, failing_finish])
def test_a_failing_observer_silences_no_other(
    observe: Callable[[Any], None],
    chains: list[Chain],
    events: list[HookDispatchedEvent],
    begin: Any,
) -> None:
    observe(begin)
    last: list[Any] = []
    observe(returning(last.append))
    register_hook(INPUT, lambda _ctx: None)
    dispatch(INPUT, InputContext({}))

    assert (len(chains), len(events), last) == (1, 1, [None])


@pytest.mark.usefixtures("contained")
@FAILING
def test_a_failing_observer_never_reaches_an_execution(
    failures: Failures, begin: Any, stage: str
) -> None:
    undo = EXECUTIONS.observe(begin)
    with execution() as run:
        run.output = "result"
    undo()
    assert run.output == "result"
    assert failures == [(f"execution.{stage}", ERROR)]


@pytest.mark.usefixtures("contained")
def test_failures_are_all_told_but_logged_once_per_kind(
    failures: Failures, caplog: pytest.LogCaptureFixture
) -> None:
    errors: list[tuple[str, Exception]] = [
        ("one", ERROR),
        ("one", RuntimeError("again")),
        ("one", KeyError("other type")),
        ("two", ERROR),
    ]
    for operation, error in errors:
        GUARD.failed(operation, error)

    assert failures == errors
    text = "hookspan failed at {}; the run goes on, further failures of this kind are only counted"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", text.format("one")),
        ("ERROR", text.format("one")),
        ("ERROR", text.format("two")),
    ]
    logged = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert logged == [errors[0][1], errors[2][1], errors[3][1]]


@pytest.mark.usefixtures("contained")
def test_a_listener_that_fails_is_contained_too(
    failures: Failures, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_operation: str, _error: BaseException) -> None:
        raise LookupError

    undo = GUARD.on_failure(broken)
    later: Failures = []
    end = GUARD.on_failure(lambda operation, error: later.append((operation, error)))
    with caplog.at_level(logging.DEBUG, "hookspan"):
        GUARD.failed("one", ERROR)
    undo()
    end()

    assert failures == later == [("one", ERROR)]
    assert [record.levelname for record in caplog.records] == ["ERROR", "DEBUG"]


@pytest.mark.usefixtures("contained")
def test_a_listener_that_has_ended_is_told_nothing(failures: Failures) -> None:
    ended: Failures = []
    GUARD.on_failure(lambda operation, error: ended.append((operation, error)))()
    GUARD.failed("one", ERROR)
    assert (ended, failures) == ([], [("one", ERROR)])


@FAILING
def test_reraise_raises_in_our_own_tests(
    failures: Failures, observe: Callable[[Any], None], begin: Any, stage: str
) -> None:
    observe(begin)
    register_hook(INPUT, lambda _ctx: None)
    with pytest.raises(RuntimeError) as caught:
        dispatch(INPUT, InputContext({}))
    assert (caught.value, stage, failures) == (ERROR, stage, [])


@pytest.mark.usefixtures("contained")
@pytest.mark.parametrize("begin", [raising(KeyboardInterrupt()), returning(raising(SystemExit()))])
def test_what_is_not_ours_is_never_taken(
    failures: Failures, observe: Callable[[Any], None], begin: Any
) -> None:
    observe(begin)
    register_hook(INPUT, lambda _ctx: None)
    with pytest.raises((KeyboardInterrupt, SystemExit)):
        dispatch(INPUT, InputContext({}))
    assert failures == []

"""The execution boundary of runs that fail: END exactly once, and the original error wins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookspan.contract.errors import ExecutionStateError, HookAborted
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import register_hook
from hookspan.engine.decorators import on
from hookspan.engine.execution import EXECUTIONS, Execution, execution
from tests.engine.boundaries import END, INPUT, OUTPUT, START, note_boundaries, told
from tests.engine.specimens import noting, raising

AFTER_START = [INPUT, OUTPUT]
BASE_EXCEPTIONS: list[BaseException] = [
    KeyboardInterrupt(),
    SystemExit(1),
    asyncio.CancelledError(),
    GeneratorExit(),
]
by_type = pytest.mark.parametrize(
    "error",
    [RuntimeError("boom"), HookAborted("from within"), *BASE_EXCEPTIONS],
    ids=lambda error: type(error).__name__,
)


def kickoff(*, error: BaseException | None = None, **options: Any) -> Execution:
    """Run a body that raises, or that returns "result"."""
    with execution(**options) as run:
        if error is not None:
            raise error
        run.output = "result"
    return run


def raised_by_kickoff(**options: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the caller checks which
        kickoff(**options)
    return caught.value


@by_type
def test_whatever_ends_the_body_end_fires_once_and_it_propagates(
    error: BaseException, log: list[str]
) -> None:
    """'the hook receives status="failed" with the exception in ctx.error'; 'unchanged'."""
    ends = note_boundaries(log)

    assert raised_by_kickoff(error=error) is error

    assert log == ["EXECUTION_START", "INPUT", "EXECUTION_END"]
    assert told(ends) == [("failed", error, None)]
    assert (error.__cause__, error.__context__) == (None, None)


def test_a_cancelled_task_ends_its_run_once(log: list[str]) -> None:
    ends = note_boundaries(log)

    async def sleeper() -> None:
        with execution():
            await asyncio.sleep(3600)

    async def cancel() -> bool:
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancel())
    assert [(end.status, type(end.error)) for end in ends] == [("failed", asyncio.CancelledError)]


@pytest.mark.parametrize("point", [START, INPUT, OUTPUT, END], ids=lambda point: point.name)
def test_an_abort_at_any_boundary_propagates_with_its_reason(point: InterceptionPoint) -> None:
    """'An abort at any boundary propagates out of kickoff() with its reason'."""
    abort = HookAborted("not allowed", "policy")
    register_hook(point, raising(abort))
    assert raised_by_kickoff() is abort
    assert (abort.reason, abort.source) == ("not allowed", "policy")


@pytest.mark.parametrize("inputs", [{}, {"authorized": True}])
def test_the_policy_of_the_example(inputs: dict[str, Any]) -> None:
    """'raise HookAborted(reason="unauthorized execution", source="access-control")'."""

    @on(START)
    def enforce_policy(ctx: Any) -> None:
        if ctx.crew is not None and not ctx.payload.get("authorized"):
            raise HookAborted(reason="unauthorized execution", source="access-control")

    assert kickoff(inputs=inputs).output == "result"
    if inputs:
        assert kickoff(inputs=inputs, crew="crew").output == "result"
    else:
        assert str(raised_by_kickoff(inputs=inputs, crew="crew")) == "unauthorized execution"


@pytest.mark.parametrize("error", [HookAborted("no"), KeyboardInterrupt()])
def test_after_an_abort_at_start_there_is_no_end_to_pair(
    error: BaseException, log: list[str]
) -> None:
    """'an abort at start means the boundary never opened, so there is no end to pair'."""
    ends = note_boundaries(log)
    register_hook(START, raising(error))

    assert raised_by_kickoff(before=[noting(log, "before")]) is error

    assert (log, ends) == (["EXECUTION_START"], [])


@pytest.mark.parametrize("error", [HookAborted("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("point", AFTER_START, ids=lambda point: point.name)
def test_an_abort_before_the_end_fires_end_once_as_failed(
    point: InterceptionPoint, error: BaseException, log: list[str]
) -> None:
    """'or a `HookAborted` from an earlier point'."""
    ends = note_boundaries(log)
    register_hook(point, raising(error))

    assert raised_by_kickoff() is error

    assert told(ends) == [("failed", error, None)]
    assert log.count("EXECUTION_END") == 1
    assert ("OUTPUT" in log) == (point is OUTPUT)


@pytest.mark.parametrize("error", [HookAborted("no"), KeyboardInterrupt()])
def test_an_abort_at_the_end_of_a_good_run_is_its_only_end(
    error: BaseException, log: list[str]
) -> None:
    ends = note_boundaries(log)
    register_hook(END, raising(error))

    assert raised_by_kickoff() is error

    assert told(ends) == [("completed", None, "result")]
    assert log.count("EXECUTION_END") == 1


def test_a_before_callback_that_raises_fails_the_run(log: list[str]) -> None:
    ends = note_boundaries(log)
    error = KeyError("boom")
    assert raised_by_kickoff(before=[raising(error), noting(log, "next")]) is error
    assert (log, told(ends)) == (["EXECUTION_START", "EXECUTION_END"], [("failed", error, None)])


@by_type
def test_an_abort_in_the_end_of_a_failed_run_is_ignored(
    error: BaseException, log: list[str]
) -> None:
    """'from a failure-path EXECUTION_END dispatch is ignored ... the original error wins'."""
    ends = note_boundaries(log)
    register_hook(END, raising(HookAborted("too late")))

    assert raised_by_kickoff(error=error) is error

    assert told(ends) == [("failed", error, None)]
    assert log.count("EXECUTION_END") == 1


@pytest.mark.parametrize("point", AFTER_START, ids=lambda point: point.name)
def test_of_two_aborts_the_first_wins(point: InterceptionPoint) -> None:
    first = HookAborted("first")
    register_hook(point, raising(first))
    register_hook(END, raising(HookAborted("second")))
    assert raised_by_kickoff() is first


def test_what_the_end_of_a_failed_run_returns_saves_nothing() -> None:
    error = RuntimeError("boom")
    register_hook(END, lambda _ctx: "saved")
    run = execution()
    with pytest.raises(RuntimeError) as caught, run:
        raise error
    assert (caught.value, run.output) == (error, None)


def test_ctrl_c_in_the_end_of_a_failed_run_is_not_swallowed() -> None:
    interrupt = KeyboardInterrupt()
    register_hook(END, raising(interrupt))
    assert raised_by_kickoff(error=RuntimeError("boom")) is interrupt


def test_an_execution_is_entered_once(log: list[str]) -> None:
    note_boundaries(log)
    with execution() as run, pytest.raises(ExecutionStateError, match="make a new one") as inside:
        run.__enter__()
    with pytest.raises(ExecutionStateError) as afterwards:
        run.__enter__()
    assert str(inside.value) == str(afterwards.value)
    assert log == ["EXECUTION_START", "INPUT", "OUTPUT", "EXECUTION_END"]


def test_a_run_that_was_refused_at_start_cannot_be_entered_again() -> None:
    register_hook(START, raising(HookAborted("no")))
    run = execution()
    with pytest.raises(HookAborted):
        run.__enter__()
    with pytest.raises(ExecutionStateError):
        run.__enter__()


@pytest.mark.parametrize(
    ("point", "error"),
    [(None, None), (START, "no"), (INPUT, "no"), (OUTPUT, "no"), (END, "no"), (None, "body")],
)
def test_an_observer_is_told_once_of_every_run(point: Any, error: str | None) -> None:
    told_of: list[Any] = []

    def begin(run: Execution) -> Any:
        told_of.append(run.name)
        return told_of.append

    raised = None if error is None else HookAborted(error)
    if raised is not None and point is not None:
        register_hook(point, raising(raised))
    undo = EXECUTIONS.observe(begin)
    try:
        if raised is None:
            kickoff(name="run")
        else:
            in_body = raised if point is None else None
            assert raised_by_kickoff(name="run", error=in_body) is raised
    finally:
        undo()

    assert told_of == ["run", raised]

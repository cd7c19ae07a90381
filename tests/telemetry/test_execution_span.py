"""What a run is as a span, a metric and a log record, on the engine's own boundary."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import weakref
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach, get_current

from hookspan import (
    HookAborted,
    InterceptionPoint,
    clear_all_hooks,
    execution,
    on,
    register_hook,
)
from hookspan.telemetry.execution_span import ExecutionRecord, Run, current_execution, outcome_of
from hookspan.telemetry.recorder import Recorder
from hookspan.telemetry.settings import Settings
from tests.kit.memory import Memory, key
from tests.telemetry.conftest import Record

START, INPUT, OUTPUT, END = (
    InterceptionPoint.EXECUTION_START,
    InterceptionPoint.INPUT,
    InterceptionPoint.OUTPUT,
    InterceptionPoint.EXECUTION_END,
)


def observes(_ctx: Any) -> None:
    """Look and let pass."""


def ended(outcome: str, **more: Any) -> dict[str, Any]:
    """The attributes of the span of a run of ours named ``mine``."""
    return {
        "crewai.execution.kind": "runtime",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "mine",
        "crewai.execution.nested": False,
        "crewai.execution.outcome": outcome,
        "crewai.execution.closed_by": "frame",
        "crewai.execution.denied": False,
        "crewai.execution.abort.count": 0,
        "crewai.execution.exception.count": 0,
    } | {name.replace("__", "."): value for name, value in more.items()}


def test_a_completed_run(memory: Memory, record: Record) -> None:
    record()
    register_hook(START, observes)
    register_hook(END, observes)
    with execution({}, name="mine") as run:
        run.output = 1
    (node,) = memory.trees()
    assert node.names() == (
        "invoke_workflow mine",
        [("run_hooks execution_start", []), ("run_hooks execution_end", [])],
    )
    assert node.status == "UNSET"
    assert node.attributes == ended("completed", crewai__execution__status="completed")
    start, end = node.children
    assert start.attributes["gen_ai.workflow.name"] == "mine"
    assert start.attributes["crewai.execution.kind"] == "runtime"
    assert end.attributes["crewai.execution.status"] == "completed"
    run_key = key(
        crewai__execution__kind="runtime",
        crewai__execution__outcome="completed",
        crewai__execution__denied=False,
        crewai__execution__nested=False,
        gen_ai__workflow__name="mine",
    )
    assert memory.points("crewai.executions") == {run_key: 1}
    assert memory.points("gen_ai.invoke_workflow.duration") == {
        key(crewai__execution__nested=False, gen_ai__workflow__name="mine"): 1
    }


def test_a_failed_run_is_an_error_and_one_record(memory: Memory, record: Record) -> None:
    record()
    with pytest.raises(EOFError), execution({}, name="mine"):
        raise EOFError
    (node,) = memory.trees()
    assert node.status == "ERROR"
    assert node.attributes == ended("failed", error__type="EOFError")
    assert node.span.events == ()
    assert memory.events() == [
        (
            "crewai.execution.exception",
            {
                "crewai.execution.kind": "runtime",
                "gen_ai.workflow.name": "mine",
                "crewai.execution.outcome": "failed",
                "error.type": "EOFError",
            },
        )
    ]


def test_c01_an_abort_at_start(memory: Memory, record: Record) -> None:
    record()
    abort = HookAborted("unauthorized", "access-control")

    @on(START)
    def guard(_ctx: Any) -> None:
        raise abort

    with pytest.raises(HookAborted) as raised, execution({}, name="mine"):
        pass
    assert raised.value is abort
    (node,) = memory.trees()
    assert node.status == "ERROR"
    assert node.attributes == ended(
        "aborted",
        error__type="hookspan.contract.errors.HookAborted",
        crewai__execution__denied=True,
        crewai__execution__abort__count=1,
    )
    (dispatched,) = node.children
    assert (dispatched.name, dispatched.status) == ("run_hooks execution_start", "UNSET")
    assert dispatched.attributes["crewai.hook.abort.reason"] == "unauthorized"
    assert [name for name, _ in memory.events()] == ["crewai.hook.aborted"]
    assert memory.points("crewai.execution.active") == {key(crewai__execution__kind="runtime"): 0}


def test_a_denied_step_leaves_the_run_completed(memory: Memory, record: Record) -> None:
    record()

    @on(OUTPUT)
    def guard(_ctx: Any) -> None:
        reason = "no"
        raise HookAborted(reason)

    with execution({}, name="outer"):
        with pytest.raises(HookAborted), execution({}, name="inner"):
            pass
        clear_all_hooks()
    (outer,) = memory.trees()
    (inner,) = outer.children
    assert inner.attributes["crewai.execution.nested"] is True
    assert inner.attributes["crewai.execution.outcome"] == "aborted"
    assert outer.attributes["crewai.execution.outcome"] == "completed"
    assert outer.attributes["crewai.execution.denied"] is True
    assert outer.attributes["crewai.execution.abort.count"] == 1


class CrewStopped(Exception):  # noqa: N818 - stands for any wrapping error
    """An error that a runtime raises from another."""


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RuntimeError(), "failed"),
        (HookAborted("r"), "aborted"),
        (asyncio.CancelledError(), "cancelled"),
        (KeyboardInterrupt(), "interrupted"),
        (SystemExit(), "interrupted"),
    ],
)
def test_every_way_out_ends_the_span(
    memory: Memory, record: Record, error: BaseException, outcome: str
) -> None:
    record()
    with pytest.raises(type(error)), execution({}, name="mine"):
        raise error
    (node,) = memory.trees()
    assert node.attributes["crewai.execution.outcome"] == outcome
    assert node.status == "ERROR"
    assert not trace.get_current_span().get_span_context().is_valid


def test_an_abort_counts_as_one_when_another_error_was_raised_from_it() -> None:
    wrapped = CrewStopped()
    wrapped.__cause__ = RuntimeError()
    wrapped.__cause__.__cause__ = HookAborted("r")
    assert outcome_of(wrapped) == "aborted"
    circular = RuntimeError()
    circular.__cause__ = circular
    assert outcome_of(circular) == "failed"
    assert outcome_of(KeyError(), (LookupError,)) == "aborted"


def test_the_caller_gets_its_context_back(memory: Memory, record: Record) -> None:
    record()
    tracer = memory.tracer_provider.get_tracer("app")
    token = attach(baggage.set_baggage("tenant", "a"))
    with tracer.start_as_current_span("request") as request:
        before = get_current()
        with execution({}, name="mine"):
            assert baggage.get_baggage("tenant") == "a"
            assert trace.get_current_span() is not request
        assert get_current() is before
    detach(token)


def test_a_context_that_another_left_behind_is_not_touched(memory: Memory, record: Record) -> None:
    record()
    run = execution({}, name="mine")
    outside = get_current()
    run.__enter__()
    token = attach(outside)
    run.__exit__(None, None, None)
    assert get_current() is outside
    detach(token)
    attach(outside)
    assert len(memory.spans()) == 1


def test_a_run_ends_once(memory: Memory, record: Record) -> None:
    recorder = record()
    frame = recorder.begin_execution(Run("runtime", "mine"))
    assert frame is not None
    frame.finish(None)
    frame.finish(RuntimeError())
    (node,) = memory.trees()
    assert node.attributes["crewai.execution.outcome"] == "completed"
    assert sum(memory.points("crewai.executions").values()) == 1


def test_concurrent_runs_do_not_mix(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, observes)
    barrier = threading.Barrier(8)

    def run(name: str) -> None:
        barrier.wait()
        with execution({}, name=name):
            pass

    threads = [threading.Thread(target=run, args=(f"run{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trees = memory.trees()
    assert len(trees) == 8
    for tree in trees:
        (child,) = tree.children
        assert child.attributes["gen_ai.workflow.name"] == tree.attributes["gen_ai.workflow.name"]


def test_tasks_do_not_mix(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, observes)

    async def run(name: str) -> None:
        with execution({}, name=name):
            await asyncio.sleep(0)
            with execution({}, name=f"{name} inner"):
                await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(run(f"run{i}") for i in range(5)))

    asyncio.run(main())
    trees = memory.trees()
    assert sorted(tree.name for tree in trees) == [f"invoke_workflow run{i}" for i in range(5)]
    for tree in trees:
        assert tree.names()[1][1][0] == f"{tree.name} inner"


def test_no_span_of_their_own_for_runs(memory: Memory, record: Record) -> None:
    record(execution_span=False)
    register_hook(INPUT, observes)
    with (
        memory.tracer_provider.get_tracer("app").start_as_current_span("theirs"),
        execution({}, name="mine"),
    ):
        pass
    (root,) = memory.trees()
    assert root.names() == ("theirs", [("run_hooks input", [])])
    assert root.children[0].attributes["gen_ai.workflow.name"] == "mine"
    assert sum(memory.points("crewai.executions").values()) == 1


def test_what_is_open_shows_while_it_is(memory: Memory, record: Record) -> None:
    record()
    seen: list[Any] = []

    @on(INPUT)
    def hook(_ctx: Any) -> None:
        seen.append(memory.points("crewai.hook.dispatch.active"))
        seen.append(memory.points("crewai.hook.dispatch.oldest"))
        seen.append(memory.points("crewai.execution.active"))

    with execution({}, name="mine"):
        pass
    active, oldest, runs = seen
    assert active == {key(crewai__hook__point="input"): 1}
    ((where, age),) = oldest.items()
    assert where == key(crewai__hook__point="input")
    assert 0 <= age < 60
    assert runs == {key(crewai__execution__kind="runtime"): 1}
    assert memory.points("crewai.hook.dispatch.active") == {key(crewai__hook__point="input"): 0}
    assert memory.points("crewai.execution.active") == {key(crewai__execution__kind="runtime"): 0}


def test_nothing_of_a_run_is_kept(memory: Memory, record: Record) -> None:
    record()
    references: list[weakref.ref[ExecutionRecord]] = []

    @on(INPUT)
    def hook(_ctx: Any) -> None:
        found = current_execution(get_current())
        assert found is not None
        references.append(weakref.ref(found))

    with execution({}, name="mine"):
        pass
    gc.collect()
    assert [reference() for reference in references] == [None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_ends_nothing_of_its_parent(memory: Memory, record: Record) -> None:
    record()
    with execution({}, name="mine"):
        child = os.fork()
        if child == 0:
            found = current_execution(get_current())
            ended_here = found is None or found.leave()
            active = sum(memory.points("crewai.execution.active").values())
            os._exit(0 if not ended_here and active == 0 else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(memory.spans()) == 1


def test_nobody_listens() -> None:
    recorder = Recorder("0", Settings(), identify=nothing, identify_run=nothing)
    assert recorder.wanted() is False
    assert recorder.begin_execution(Run("runtime", "mine")) is None


def nothing(_ctx: Any) -> dict[str, Any]:
    """Say nothing of a context."""
    return {}

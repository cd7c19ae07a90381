"""However a run ends, its span says so once, and the error of the run is the caller's."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai.flow.flow import Flow, start

import hookspan
from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import akickoff, kickoff
from tests.integration_crewai.scripted import Answer, ModelCall, ScriptedLLM, final
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, Node

CANCELLED = "asyncio.exceptions.CancelledError"


def watch(ctx: Any) -> None:
    """Change nothing."""


def summary(node: Node) -> tuple[str, str | None, str, str | None]:
    """Outcome, error, status of a run, and what the EXECUTION_END dispatch in it said."""
    ends = [
        child.attributes["crewai.execution.status"]
        for child in node.children
        if child.name == "run_hooks execution_end"
    ]
    attributes = node.attributes
    return (
        attributes["crewai.execution.outcome"],
        attributes.get("error.type"),
        node.status,
        ends[0] if ends else None,
    )


@pytest.fixture
def at_the_end(instrumented: Memory) -> Memory:
    """Have a hook at EXECUTION_END."""
    DISPATCH.register(DISPATCH.InterceptionPoint.EXECUTION_END, watch)
    return instrumented


class Raising(Flow[dict[str, Any]]):
    """Raises what the test says."""

    error: BaseException = KeyboardInterrupt()

    @start()
    def begin(self) -> str:
        """Raise it."""
        raise type(self).error


class Interrupted(Flow[dict[str, Any]]):
    """Is interrupted from the keyboard while it waits."""

    @start()
    async def begin(self) -> str:
        """Press Ctrl-C."""
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(10)
        return "not interrupted"


class Waiting(Flow[dict[str, Any]]):
    """Waits until it is cancelled."""

    @start()
    async def begin(self) -> str:
        """Wait."""
        await asyncio.sleep(10)
        return "not cancelled"


def of_crew(error: BaseException) -> Any:
    return kickoff(crews.failing_crew(error))


def of_flow(error: BaseException) -> Any:
    Raising.error = error
    return flows.flow(Raising).kickoff()


def of_agent(error: BaseException) -> Any:
    return crews.ask(crews.agent(ScriptedLLM(lambda call: error), "Solo"))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
@pytest.mark.parametrize("run", [of_crew, of_flow, of_agent])
def test_interrupts(at_the_end: Memory, run: Callable[[Any], Any], error: BaseException) -> None:
    with pytest.raises(type(error)):
        run(error)
    (node,) = at_the_end.trees()
    assert summary(node) == ("interrupted", type(error).__name__, "ERROR", None)
    counted = at_the_end.points("crewai.executions")
    assert [dict(key)["crewai.execution.outcome"] for key in counted] == ["interrupted"]
    assert set(at_the_end.points("crewai.execution.active").values()) == {0}


def test_an_interrupt_reaches_whoever_awaits_a_run_as_a_cancellation(at_the_end: Memory) -> None:
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(akickoff(crews.failing_crew(KeyboardInterrupt())))
    (node,) = at_the_end.trees()
    assert summary(node) == ("cancelled", CANCELLED, "ERROR", None)


def test_ctrl_c_in_a_flow(at_the_end: Memory) -> None:
    with pytest.raises(KeyboardInterrupt):
        flows.flow(Interrupted).kickoff()
    (node,) = at_the_end.trees()
    assert summary(node) == ("interrupted", "KeyboardInterrupt", "ERROR", None)


def untyped(kind: type[Flow[dict[str, Any]]]) -> Any:
    """Return a flow; crewAI leaves parameters of its methods without types."""
    return flows.flow(kind)


async def cancelled(work: Any) -> None:
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0.1)
    task.cancel()
    await task


def slow_crew() -> Any:
    def answer(call: ModelCall) -> Answer:
        time.sleep(0.4)
        return final("too late")

    return akickoff(crews.simple_crew(script=answer))


@pytest.mark.parametrize("work", [slow_crew, lambda: untyped(Waiting).kickoff_async()])
def test_cancelled(at_the_end: Memory, work: Callable[[], Any]) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled(work()))
    (node,) = at_the_end.trees()
    assert summary(node) == ("cancelled", CANCELLED, "ERROR", None)


def test_paused_and_resumed(at_the_end: Memory, tmp_path: Path) -> None:
    flow = flows.pausing_flow(tmp_path)
    flow.kickoff()
    flows.paused_flow(tmp_path, flow.flow_id).resume("fine")
    paused, resumed = at_the_end.trees()
    assert summary(paused) == ("paused", None, "UNSET", None)
    assert summary(resumed) == ("completed", None, "UNSET", "completed")
    assert paused.attributes["crewai.flow.id"] == resumed.attributes["crewai.flow.id"]


def test_resumed_in_a_loop(at_the_end: Memory, tmp_path: Path) -> None:
    flow: Any = flows.pausing_flow(tmp_path)
    asyncio.run(flow.kickoff_async())
    asyncio.run(flows.paused_flow(tmp_path, flow.flow_id).resume_async("fine"))
    outcomes = [node.attributes["crewai.execution.outcome"] for node in at_the_end.trees()]
    assert outcomes == ["paused", "completed"]


def test_a_callback_that_fails_after_the_end(at_the_end: Memory) -> None:
    def fail(output: Any) -> Any:
        message = "callback down"
        raise ValueError(message)

    crew = crews.simple_crew()
    crew.after_kickoff_callbacks.append(fail)
    with pytest.raises(ValueError, match="callback down"):
        kickoff(crew)
    (node,) = at_the_end.trees()
    assert summary(node) == ("failed", "ValueError", "ERROR", "completed")


def test_a_denied_worker_leaves_a_completed_run_that_was_denied(instrumented: Memory) -> None:
    @hookspan.before_llm_call(agents=["Worker"])
    def guard(ctx: Any) -> None:
        raise hookspan.HookAborted("no worker")  # noqa: EM101, TRY003 - a reason is no message

    assert str(kickoff(crews.hierarchical_crew())) == "managed"
    (run,) = instrumented.trees()
    denied = [
        run.attributes[f"crewai.execution.{name}"] for name in ("outcome", "denied", "abort.count")
    ]
    assert denied == ["completed", True, 1]
    agents = [
        child.attributes["gen_ai.agent.name"]
        for child in run.children
        if child.attributes["crewai.hook.outcome"] == "aborted"
    ]
    assert agents == ["Worker"]


def test_an_abort_in_a_nested_run_denies_the_outer_one(instrumented: Memory) -> None:
    def guard(ctx: Any) -> None:
        raise DISPATCH.HookAborted("no crew")  # noqa: EM101, TRY003 - a reason is no message

    class Catching(Flow[dict[str, Any]]):
        @start()
        def begin(self) -> str:
            try:
                return str(kickoff(crews.simple_crew()))
            except DISPATCH.HookAborted:
                return "caught"

    DISPATCH.register(DISPATCH.InterceptionPoint.PRE_MODEL_CALL, guard)
    assert flows.flow(Catching).kickoff() == "caught"
    (outer,) = instrumented.trees()
    (inner,) = outer.children
    assert [
        (node.attributes["crewai.execution.outcome"], node.attributes["crewai.execution.denied"])
        for node in (outer, inner)
    ] == [("completed", True), ("aborted", True)]

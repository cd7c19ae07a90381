"""The registry holds nothing that no code emits."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import suppress
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pytest

from hookspan import (
    ExecutionEndContext,
    HookAborted,
    InputContext,
    InterceptionPoint,
    LLMCallHookContext,
    PreDelegationContext,
    RetryAttemptContext,
    StepContext,
    ToolCallHookContext,
    clear_all_hooks,
    dispatch,
    execution,
    on,
    register_hook,
    register_scoped,
    scoped_hooks,
)
from hookspan.contract.outcomes import Effect, Outcome
from hookspan.engine.change import LIMIT
from hookspan.engine.hooks import Hook
from hookspan.engine.loop import Loop
from hookspan.engine.observe import observed
from hookspan.integrations.crewai.identity import agent_run, crew_run, flow_run
from hookspan.telemetry.recorder import LIVE, Recorder
from tests.kit.memory import Memory
from tests.telemetry.conftest import Record

P = InterceptionPoint
CREW = SimpleNamespace(id=uuid.uuid4(), key="k", name="support")
FLOW = SimpleNamespace(flow_id=str(uuid.uuid4()), name="desk")
AGENT = SimpleNamespace(role="Clerk", _times_executed=1)
TASK = SimpleNamespace(id=uuid.uuid4(), name="answer")


class Loud(Exception):  # noqa: N818 - one of many
    """An exception of a type of its own."""


def passes(_ctx: Any) -> None:
    """Let everything through."""


def denies(_ctx: Any) -> None:
    raise HookAborted("no " * 1000)


def crashes(_ctx: Any) -> None:
    raise Loud


def edits(ctx: Any) -> None:
    ctx.payload["edited"] = True


def sleeps(_ctx: Any) -> None:
    time.sleep(0.002)


def contexts() -> list[Any]:
    """Contexts that name everything there is to name."""
    step: dict[str, Any] = {"crew": CREW, "agent": AGENT, "task": TASK, "step_name": "begin"}
    return [
        StepContext({}, kind="flow_method", **step),
        StepContext({}, kind="task", **step),
        ToolCallHookContext("delete_file", {}, agent=AGENT, task=TASK, crew=CREW),
        LLMCallHookContext(llm=SimpleNamespace(model="scripted")),
        RetryAttemptContext("again", agent=AGENT, task=TASK, operation="tool"),
        PreDelegationContext("do it", agent=AGENT, task=TASK, delegate_to=AGENT),
    ]


def dispatch_guards() -> None:
    """Every way in which a hook is treated, alone and beside another."""
    huge = {"many": list(range(LIMIT + 1))}
    options: list[dict[str, Any]] = [
        {"on_error": "abort"},
        {"mode": "shadow"},
        {"version": "1", "name": "named", "budget": 0.001},
        {"version": "1", "mode": "shadow"},
        {"version": "1", "on_error": "abort"},
    ]
    for chosen in options:
        for hook in (passes, edits, sleeps, denies, crashes):
            for neighbours in ([], [passes, passes]):
                for ctx in [*contexts(), InputContext({}), InputContext({"lock": Lock()})]:
                    clear_all_hooks()
                    for neighbour in neighbours:
                        register_hook(P.PRE_STEP, neighbour)
                    on(P.PRE_STEP, **chosen)(hook)
                    with suppress(HookAborted):
                        dispatch(P.PRE_STEP, ctx)
    clear_all_hooks()
    register_hook(P.INPUT, passes)
    dispatch(P.INPUT, InputContext(huge))


def dispatch_everything() -> None:
    """Every outcome and effect, every kind of context."""
    dispatch_guards()
    clear_all_hooks()
    for point in P:
        register_hook(point, passes)
        dispatch(point, StepContext(kind="task", step_name="t", agent=AGENT, task=TASK))
    clear_all_hooks()
    register_hook(P.INPUT, lambda _ctx: {"replaced": 1})
    register_hook(P.INPUT, crashes)
    dispatch(P.INPUT, InputContext({}))
    on(P.INPUT, tools=["other"])(passes)
    register_hook(P.INPUT, denies)
    register_hook(P.INPUT, passes)
    with pytest.raises(HookAborted):
        dispatch(P.INPUT, ToolCallHookContext("delete_file", agent=AGENT, task=TASK))
    clear_all_hooks()
    register_hook(P.PRE_STEP, passes)
    dispatch(P.PRE_STEP, StepContext(kind="flow_method", step_name="begin"))
    hooks: tuple[Hook, ...] = (denies, crashes, passes, lambda _ctx: {})
    for hook in hooks:
        clear_all_hooks()
        register_hook(P.INPUT, hook)
        with suppress(HookAborted):
            dispatch(P.INPUT, StepContext({}, crew=CREW, kind="flow_method", step_name="begin"))
    on(P.PRE_TOOL_CALL, tools=["other"])(passes)
    dispatch(P.PRE_TOOL_CALL, ToolCallHookContext("delete_file"))
    llm = SimpleNamespace(model="scripted")
    register_hook(P.PRE_MODEL_CALL, crashes)
    register_hook(P.PRE_MODEL_CALL, denies)
    with pytest.raises(HookAborted):
        dispatch(P.PRE_MODEL_CALL, LLMCallHookContext(llm=llm))
    register_hook(P.EXECUTION_END, denies)
    for status in ("failed", "completed"):
        with pytest.raises(HookAborted):
            dispatch(P.EXECUTION_END, ExecutionEndContext(status=status))


def dispatch_blocked() -> None:
    """What a runtime does that goes on after an abort."""

    def effect(_point: Any, _outcome: Outcome, _ctx: Any) -> Effect:
        return Effect.BLOCKED

    def run(_point: Any, ctx: Any, hooks: Any, **_kwargs: Any) -> None:
        with pytest.raises(HookAborted):
            hooks[0](ctx)

    loop = observed(run, Loop(effect=effect))
    loop(P.PRE_TOOL_CALL, ToolCallHookContext("delete_file", crew=CREW), [denies])


def run_everything(recorder: Recorder) -> None:
    """Every kind of run, every way out, with hooks in it."""
    register_hook(P.EXECUTION_END, passes)
    ways_out: list[tuple[BaseException | None, str | None]] = [
        (None, None),
        (None, "paused"),
        (Loud(), None),
        (HookAborted("no"), None),
        (asyncio.CancelledError(), None),
        (KeyboardInterrupt(), None),
    ]
    for run in (flow_run(FLOW), crew_run(CREW), agent_run(AGENT)):
        for error, outcome in ways_out:
            frame = recorder.begin_execution(run)
            assert frame is not None
            dispatch_everything()
            clear_all_hooks()
            register_hook(P.EXECUTION_END, passes)
            dispatch(
                P.EXECUTION_END, ExecutionEndContext(status="failed" if error else "completed")
            )
            frame.finish(error, outcome)
    outer = recorder.begin_execution(flow_run(FLOW))
    inner = recorder.begin_execution(crew_run(CREW))
    assert outer is not None
    assert inner is not None
    dispatch_blocked()
    inner.finish(None)
    outer.cut_off()
    outer.finish(None)


def test_everything_that_is_declared_is_emitted(memory: Memory, record: Record) -> None:
    recorder = record(
        uuid="as crewAI gives one",
        capture_exception_message=True,
        abort_status="error",
        max_hook_names=1,
        max_sources=1,
        capture_content="span_and_event",
    )
    LIVE.points, LIVE.crewai_version = {point.value: True for point in P}, "1.15.30"

    def collect(_ctx: Any) -> None:
        memory.findings()  # what is open is seen only while it is

    register_hook(P.OUTPUT, collect)
    with execution({}, name="mine"):
        pass
    clear_all_hooks()
    dispatch_everything()
    run_everything(recorder)
    recorder.failed("dispatch.finish", Loud())
    for point in P:
        recorder.operation(point.value)
    with scoped_hooks():
        for point in P:
            register_scoped(point, passes)
            register_hook(point, passes)
        assert memory.findings() == []
    LIVE.points = {}
    assert memory.findings() == []
    assert memory.check.unseen() == []

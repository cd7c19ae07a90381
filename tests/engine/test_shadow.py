"""A hook in shadow mode decides, and nothing comes of it."""

# Which loop a dispatcher runs shows in no other way; what a lambda is given, its test knows.
# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest

from hookspan.contract.contexts import (
    InputContext,
    LLMCallHookContext,
    MemoryWriteContext,
    ToolCallHookContext,
)
from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Change, HookOutcome, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, dispatch, register_hook
from hookspan.engine.decorators import on
from hookspan.engine.dispatcher import run_hooks
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.policy import POLICIES
from hookspan.engine.probe import Chain
from tests.engine.specimens import INPUT, raising, returning

MODEL, TOOL = InterceptionPoint.PRE_MODEL_CALL, InterceptionPoint.PRE_TOOL_CALL
AFTER_TOOL = InterceptionPoint.POST_TOOL_CALL


@pytest.fixture(params=["bare", "observed"])
def loop(request: pytest.FixtureRequest) -> Generator[None]:
    """Run the test in both loops."""
    if request.param == "bare":
        assert DISPATCHER._run is run_hooks
        yield
        return
    undo = DISPATCHES.observe(lambda _chain: lambda _error: None)
    yield
    undo()


def edits(ctx: Any) -> None:
    ctx.payload["inner"].append("edited")


def assigns(ctx: Any) -> None:
    ctx.payload = {"assigned": 1}
    ctx.agent_role = "other"


def edits_and_denies(ctx: Any) -> None:
    edits(ctx)
    reason = "no"
    raise HookAborted(reason)


def edits_and_crashes(ctx: Any) -> None:
    edits(ctx)
    raise EOFError


VERDICTS: list[tuple[Any, HookOutcome, Change | None]] = [
    (returning(None), HookOutcome.PASSED, None),
    (returning({"new": 1}), HookOutcome.WOULD_MODIFY, Change.REPLACED),
    (edits, HookOutcome.WOULD_MODIFY, Change.IN_PLACE),
    (assigns, HookOutcome.WOULD_MODIFY, Change.IN_PLACE),
    (edits_and_denies, HookOutcome.WOULD_ABORT, None),
    (edits_and_crashes, HookOutcome.ERRORED, None),
]


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("index", range(len(VERDICTS)))
def test_whatever_it_does_has_no_effect(index: int) -> None:
    seen: list[Any] = []
    on(INPUT, mode="shadow")(VERDICTS[index][0])
    register_hook(INPUT, lambda ctx: seen.append(ctx.payload))
    payload = {"inner": ["a"]}
    ctx = InputContext(payload, agent_role="clerk")
    assert dispatch(INPUT, ctx) is ctx
    assert ctx == InputContext({"inner": ["a"]}, agent_role="clerk")
    assert ctx.payload is payload
    assert seen == [payload]


@pytest.mark.parametrize("index", range(len(VERDICTS)))
def test_what_it_would_have_done_is_told(chains: list[Chain], index: int) -> None:
    hook, outcome, change = VERDICTS[index]
    on(INPUT, mode="shadow")(hook)
    dispatch(INPUT, InputContext({"inner": []}))
    (chain,) = chains
    (result,) = chain.results()
    assert (result.outcome, result.change) == (outcome, change)
    assert (chain.outcome, chain.change, chain.abort) == (Outcome.PROCEEDED, None, None)
    kinds = {HookOutcome.WOULD_ABORT: HookAborted, HookOutcome.ERRORED: EOFError}
    assert type(result.error) is kinds.get(outcome, type(None))
    assert getattr(result.error, "source", hook) is hook


@pytest.mark.usefixtures("loop")
def test_every_value_is_a_copy_and_every_actor_the_live_one() -> None:
    seen: list[Any] = []

    def spoils(ctx: Any) -> None:
        seen.append(ctx)
        for name in ("messages", "tool_input", "raw_tool_result", "metadata", "payload"):
            value = getattr(ctx, name, None)
            if isinstance(value, dict | list):
                value.clear()  # pyright: ignore[reportUnknownMemberType] - of anything
        for name in ("response", "tool_result"):
            if hasattr(ctx, name):
                setattr(ctx, name, "spoiled")

    actors: dict[str, Any] = {name: threading.Lock() for name in ("agent", "task", "crew")}
    contexts: list[tuple[InterceptionPoint, Any]] = [
        (MODEL, LLMCallHookContext([{"content": "a"}], executor=object(), llm=object(), **actors)),
        (MODEL, LLMCallHookContext([{"content": "a"}], "answer", **actors)),
        (TOOL, ToolCallHookContext("t", {"a": [1]}, tool=object(), **actors)),
        (AFTER_TOOL, ToolCallHookContext("t", {"a": 1}, None, **actors, tool_result="r")),
        (AFTER_TOOL, ToolCallHookContext("t", {}, tool_result="r", raw_tool_result={"a": 1})),
        (InterceptionPoint.MEMORY_WRITE, MemoryWriteContext(["v"], metadata={"a": 1}, **actors)),
    ]
    for point, ctx in contexts:
        on(point, mode="shadow")(spoils)
        before = repr(ctx)
        dispatch(point, ctx)
        assert repr(ctx) == before
        twin = seen[-1]
        assert twin is not ctx
        for name in ("agent", "task", "crew", "executor", "llm", "tool"):
            assert getattr(twin, name, None) is getattr(ctx, name, None)
        DISPATCHER.registry.clear_all()


@pytest.mark.usefixtures("loop")
def test_what_is_one_object_is_one_in_the_copy() -> None:
    """A runtime may keep the payload under its alias as a field of its own."""
    seen: list[Any] = []
    inputs: dict[str, Any] = {"a": []}
    ctx = SimpleNamespace(payload=inputs, inputs=inputs, output=[inputs], agent=None)
    on(INPUT, mode="shadow")(seen.append)
    dispatch(INPUT, ctx)
    (twin,) = seen
    assert twin.payload is twin.inputs is twin.output[0]
    assert twin.payload is not inputs
    assert twin.payload["a"] is not inputs["a"]


class Slotted:
    """A context without a dict."""

    __slots__ = ("payload",)

    def __init__(self, payload: Any) -> None:
        self.payload = payload


def iter_nothing() -> Generator[int]:
    yield from ()


@pytest.mark.parametrize(
    "ctx",
    [
        InputContext({"lock": threading.Lock()}),
        InputContext({"generator": iter_nothing()}),
        LLMCallHookContext([threading.Lock()]),
        Slotted({}),
    ],
)
def test_what_cannot_be_copied_is_not_run(chains: list[Chain], ctx: Any) -> None:
    calls: list[Any] = []
    on(INPUT, mode="shadow")(calls.append)
    dispatch(INPUT, ctx)
    assert calls == []
    (chain,) = chains
    assert chain.results()[0][1:] == (HookOutcome.NOT_RUN, 0, None, None)
    assert chain.outcome is Outcome.PROCEEDED


def test_a_copy_that_raises_stays_here(chains: list[Chain]) -> None:
    class Hostile:
        def __deepcopy__(self, _memo: Any) -> Any:
            raise LookupError

    on(INPUT, mode="shadow")(raising(AssertionError("never called")))
    dispatch(INPUT, InputContext(Hostile()))
    assert chains[0].results()[0].outcome is HookOutcome.NOT_RUN


def test_filters_come_first(chains: list[Chain]) -> None:
    calls: list[Any] = []
    on(TOOL, tools=["delete"], mode="shadow")(calls.append)
    dispatch(TOOL, ToolCallHookContext("read"))
    dispatch(TOOL, ToolCallHookContext("delete"))
    outcomes = [chain.results()[0].outcome for chain in chains]
    assert outcomes == [HookOutcome.FILTERED, HookOutcome.PASSED]
    assert len(calls) == 1


@pytest.mark.usefixtures("loop")
def test_a_legacy_false_blocks_nothing() -> None:
    on(MODEL, mode="shadow")(returning(False))
    on(TOOL, mode="shadow")(returning(False))
    dispatch(MODEL, LLMCallHookContext(["a"]))
    dispatch(TOOL, ToolCallHookContext("t"))


def test_a_legacy_result_is_told_as_it_would_have_counted(chains: list[Chain]) -> None:
    hook = returning(False)
    on(MODEL, mode="shadow")(hook)
    on(AFTER_TOOL, mode="shadow")(returning("other"))
    on(AFTER_TOOL, mode="shadow")(returning({"no": "text"}))
    dispatch(MODEL, LLMCallHookContext(["a"]))
    ctx = ToolCallHookContext("t", tool_result="r")
    dispatch(AFTER_TOOL, ctx)
    assert ctx.tool_result == "r"
    blocked, *after = [result for chain in chains for result in chain.results()]
    assert blocked.outcome is HookOutcome.WOULD_ABORT
    assert str(blocked.error) == "before_llm_call hook returned False"
    assert isinstance(blocked.error, HookAborted)
    assert blocked.error.source is hook
    assert [result.outcome for result in after] == [HookOutcome.WOULD_MODIFY, HookOutcome.PASSED]


@pytest.mark.usefixtures("loop")
def test_in_shadow_a_guard_that_fails_closed_closes_nothing() -> None:
    on(INPUT, mode="shadow", on_error="abort")(raising(EOFError()))
    dispatch(INPUT, InputContext({}))


def test_hooks_around_it_change_what_it_sees_and_not_the_other_way(chains: list[Chain]) -> None:
    seen: list[Any] = []

    def first(ctx: Any) -> None:
        ctx.payload["first"] = 1

    def last(ctx: Any) -> dict[str, Any]:
        return {**ctx.payload, "last": 1}

    def shadowed(ctx: Any) -> None:
        seen.append(dict(ctx.payload))
        ctx.payload["shadow"] = 1

    register_hook(INPUT, first)
    on(INPUT, mode="shadow")(shadowed)
    register_hook(INPUT, last)
    assert dispatch(INPUT, InputContext({})).payload == {"first": 1, "last": 1}
    assert seen == [{"first": 1}]
    assert [result.outcome for result in chains[0].results()][1:] == [
        HookOutcome.WOULD_MODIFY,
        HookOutcome.MODIFIED,
    ]


def test_by_pattern_too(chains: list[Chain]) -> None:
    register_hook(INPUT, edits_and_denies)
    undo = POLICIES.configure(shadow=["*.edits_and_denies"])
    ctx = InputContext({"inner": []})
    dispatch(INPUT, ctx)
    undo()
    assert ctx.payload == {"inner": []}
    assert chains[0].results()[0].outcome is HookOutcome.WOULD_ABORT
    with pytest.raises(HookAborted):
        dispatch(INPUT, ctx)


def test_the_copying_is_not_the_hooks_time(chains: list[Chain]) -> None:
    class Slow:
        def __deepcopy__(self, _memo: Any) -> Slow:
            time.sleep(0.05)
            return self

    on(INPUT, mode="shadow")(lambda _ctx: time.sleep(0.001))
    dispatch(INPUT, InputContext(Slow()))
    assert 1e6 <= chains[0].results()[0].duration_ns < 40e6


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interrupt_is_not_the_hooks_and_goes_through(error: BaseException) -> None:
    on(INPUT, mode="shadow")(raising(error))
    with pytest.raises(type(error)) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is error

"""Guards that fail closed, in the loop that nobody observes and in the one that somebody does."""

# Which loop a dispatcher runs shows in no other way; what a lambda is given, its test knows.
# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext, ToolCallHookContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import HookOutcome, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, dispatch, register_hook
from hookspan.engine.decorators import on
from hookspan.engine.dispatcher import run_hooks
from hookspan.engine.loop import Loop
from hookspan.engine.observe import DISPATCHES, observed
from hookspan.engine.policy import POLICIES
from hookspan.engine.probe import Chain
from tests.engine.specimens import INPUT, noting, raising

TOOL = InterceptionPoint.PRE_TOOL_CALL
HERE = __name__


class Foreign(Exception):  # noqa: N818 - named as the contract says, below
    """Another runtime's abort."""

    source: Any = None


Foreign.__name__ = Foreign.__qualname__ = "HookAborted"


@pytest.fixture(params=["bare", "observed"])
def loop(request: pytest.FixtureRequest) -> Generator[str]:
    """Run the test in both loops."""
    if request.param == "bare":
        assert DISPATCHER._run is run_hooks
        yield "bare"
        return
    undo = DISPATCHES.observe(lambda _chain: lambda _error: None)
    yield "observed"
    undo()


def guard(_ctx: Any) -> None:
    message = "secret"
    raise EOFError(message)


@pytest.mark.usefixtures("loop")
def test_the_crash_of_a_guard_becomes_an_abort(log: list[str]) -> None:
    on(INPUT, on_error="abort")(guard)
    register_hook(INPUT, noting(log, "later"))
    with pytest.raises(HookAborted) as caught:
        dispatch(INPUT, InputContext({}))
    abort = caught.value
    assert type(abort) is HookAborted
    assert abort.reason == str(abort) == f"{HERE}.guard failed closed: EOFError"
    assert abort.source is guard
    assert isinstance(abort.__cause__, EOFError)
    assert str(abort.__cause__) == "secret"
    assert log == []


@pytest.mark.usefixtures("loop")
def test_a_guard_that_does_not_crash_is_a_hook_like_others(log: list[str]) -> None:
    on(INPUT, on_error="abort", name="first")(lambda _ctx: {"replaced": 1})
    on(INPUT, on_error="continue")(guard)
    register_hook(INPUT, noting(log, "later"))
    assert dispatch(INPUT, InputContext({})).payload == {"replaced": 1}
    assert log == ["later"]


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("fails", [True, False])
def test_an_abort_passes_through_a_guard_as_the_same_object(fails: bool) -> None:
    class Denied(HookAborted):
        """A user's own."""

    for error in (HookAborted("no", "policy"), Denied("no", "policy")):
        hook = raising(error)
        on(TOOL, on_error="abort" if fails else "continue")(hook)
        with pytest.raises(HookAborted) as caught:
            dispatch(TOOL, ToolCallHookContext("t"))
        assert caught.value is error
        assert (error.source, error.__cause__) == ("policy", None)
        DISPATCHER.registry.clear_all()


@pytest.mark.usefixtures("loop")
def test_the_abort_of_another_runtime_passes_through_a_guard_too() -> None:
    error = Foreign("no")
    on(INPUT, on_error="abort")(raising(error))
    with pytest.raises(Foreign) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is error
    assert error.__cause__ is None


@pytest.mark.usefixtures("loop")
def test_without_a_guard_the_abort_of_another_runtime_is_a_crash() -> None:
    register_hook(INPUT, raising(Foreign("no")))
    assert dispatch(INPUT, InputContext({"a": 1})).payload == {"a": 1}


@pytest.mark.usefixtures("loop")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_is_no_error_of_a_hook_is_untouched(error: BaseException) -> None:
    on(INPUT, on_error="abort")(raising(error))
    with pytest.raises(type(error)) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is error
    assert error.__cause__ is None


@pytest.mark.usefixtures("loop")
def test_a_filter_that_cannot_be_asked_fails_closed_too() -> None:
    class Context(InputContext):
        @property
        def tool_name(self) -> str:
            message = "no tool"
            raise LookupError(message)

    on(INPUT, tools=["delete"], on_error="abort", name="deletes")(lambda _ctx: None)
    with pytest.raises(HookAborted, match="deletes failed closed: LookupError"):
        dispatch(INPUT, Context({}))


@pytest.mark.usefixtures("loop")
def test_a_guard_that_is_filtered_out_does_not_run() -> None:
    on(TOOL, tools=["delete"], on_error="abort")(guard)
    dispatch(TOOL, ToolCallHookContext("read"))
    with pytest.raises(HookAborted):
        dispatch(TOOL, ToolCallHookContext("Delete"))


@pytest.mark.usefixtures("loop")
def test_a_bound_method_and_a_partial_may_be_guards() -> None:
    policy = SimpleNamespace(check=guard)
    on(INPUT, on_error="abort", name="the policy")(policy.check)
    with pytest.raises(HookAborted, match="the policy failed closed: EOFError") as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value.source is policy.check


def test_the_chain_says_that_it_failed_closed(chains: list[Chain]) -> None:
    on(INPUT, on_error="abort")(guard)
    register_hook(INPUT, lambda _ctx: None)
    with pytest.raises(HookAborted) as caught:
        dispatch(INPUT, InputContext({}))
    (chain,) = chains
    assert (chain.outcome, chain.failed_closed) == (Outcome.ABORTED, True)
    assert chain.abort is caught.value
    assert [result.outcome for result in chain.results()] == [
        HookOutcome.ERRORED,
        HookOutcome.NOT_REACHED,
    ]
    assert chain.results()[0].error is caught.value.__cause__


def test_the_chain_says_that_another_runtimes_abort_was_one(chains: list[Chain]) -> None:
    error = Foreign("no")
    hook = raising(error)
    on(INPUT, on_error="abort")(hook)
    with pytest.raises(Foreign):
        dispatch(INPUT, InputContext({}))
    (chain,) = chains
    assert (chain.outcome, chain.failed_closed, chain.abort) == (Outcome.ABORTED, False, error)
    assert chain.results()[0].outcome is HookOutcome.ABORTED
    assert error.source is hook


def test_a_loop_with_an_abort_of_its_own_gets_that_one() -> None:
    """What another runtime's loop lets out is made from ours, cause and all."""
    seen: list[BaseException] = []

    def run(_point: Any, ctx: Any, hooks: Any, **_kwargs: Any) -> None:
        try:
            hooks[0](ctx)
        except Foreign as abort:
            seen.append(abort)

    def convert(abort: HookAborted) -> BaseException:
        return Foreign(abort.reason)

    undo = DISPATCHES.observe(lambda _chain: lambda _error: None)
    on(INPUT, on_error="abort")(guard)
    (hook,) = DISPATCHER.registry.store.table[INPUT]
    observed(run, Loop(abort_type=Foreign, convert=convert))(INPUT, InputContext({}), [hook])
    undo()
    (abort,) = seen
    assert str(abort) == f"{HERE}.guard failed closed: EOFError"
    assert isinstance(abort.__cause__, EOFError)


@pytest.mark.parametrize("pattern", [f"{HERE}.guard", f"{HERE}.*", "*", "nothing", f"{HERE}.GUARD"])
def test_code_that_nobody_touches_is_hardened_by_pattern(chains: list[Chain], pattern: str) -> None:
    register_hook(INPUT, guard)
    undo = POLICIES.configure(fail_closed=["other.*", pattern])
    closes = pattern not in ("nothing", f"{HERE}.GUARD")
    with pytest.raises(HookAborted) if closes else nullcontext():
        dispatch(INPUT, InputContext({}))
    undo()
    assert not POLICIES.active
    dispatch(INPUT, InputContext({}))
    assert [chain.failed_closed for chain in chains] == [closes, False]


def test_undoing_a_configuration_brings_back_the_one_before(chains: list[Chain]) -> None:
    register_hook(INPUT, guard)
    undo = POLICIES.configure(fail_closed=["*"], budget=1.0)
    undo_inner = POLICIES.configure(shadow=["*"])
    dispatch(INPUT, InputContext({}))
    undo_inner()
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    undo()
    assert [chain.failed_closed for chain in chains] == [False, True]


@pytest.mark.usefixtures("loop")
def test_an_abort_that_will_not_say_who_is_an_abort(caplog: pytest.LogCaptureFixture) -> None:
    class Mute(HookAborted):
        @property
        def source(self) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] - so too
            return None

    register_hook(INPUT, raising(Mute.__new__(Mute)))
    with caplog.at_level(logging.WARNING), pytest.raises((Mute, AttributeError)):
        dispatch(INPUT, InputContext({}))
    assert caplog.records == []

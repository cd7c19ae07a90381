"""What is known of each hook of a dispatch that is observed."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import pytest

from hookspan.contract.contexts import ExecutionEndContext, InputContext, LLMCallHookContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Effect, HookOutcome, HookResult, Outcome
from hookspan.contract.points import InterceptionPoint
from hookspan.engine import probe
from hookspan.engine.api import dispatch, register_hook
from hookspan.engine.decorators import on
from hookspan.engine.hooks import function_of, hook_name
from hookspan.engine.probe import Chain, probed_hook
from tests.engine.specimens import INPUT, noting, raising, returning

PASSED, MODIFIED, ABORTED = HookOutcome.PASSED, HookOutcome.MODIFIED, HookOutcome.ABORTED
ERRORED, FILTERED, NOT_REACHED = (
    HookOutcome.ERRORED,
    HookOutcome.FILTERED,
    HookOutcome.NOT_REACHED,
)


def outcomes(chain: Chain) -> list[tuple[HookOutcome, BaseException | None]]:
    return [(result.outcome, result.error) for result in chain.results()]


def test_each_hook_is_credited_with_what_it_did(chains: list[Chain]) -> None:
    error, abort = RuntimeError("boom"), HookAborted("no")
    hooks: list[Any] = [returning(None), returning({}), raising(error), raising(abort), print]
    register_hook(INPUT, hooks[0])
    on(INPUT, agents=["Editor"])(hooks[1])
    for hook in hooks[1:]:
        register_hook(INPUT, hook)

    ctx = InputContext({"a": 1}, agent_role="Writer")
    with pytest.raises(HookAborted):
        dispatch(INPUT, ctx)

    (chain,) = chains
    assert outcomes(chain) == [
        (PASSED, None),
        (FILTERED, None),
        (MODIFIED, None),
        (ERRORED, error),
        (ABORTED, abort),
        (NOT_REACHED, None),
    ]
    assert [function_of(result.hook) for result in chain.results()] == [
        hooks[0],
        *hooks[1:2],
        *hooks[1:],
    ]
    assert (chain.point, chain.ctx, len(chain.hooks)) == (INPUT, ctx, 6)
    assert (chain.outcome, chain.abort, chain.effect) == (Outcome.ABORTED, abort, Effect.RAISED)


@pytest.mark.parametrize(
    ("hooks", "outcome", "effect"),
    [
        ([returning(None)], Outcome.PROCEEDED, Effect.CONTINUED),
        ([raising(RuntimeError())], Outcome.PROCEEDED, Effect.CONTINUED),
        ([returning(0), returning(None)], Outcome.MODIFIED, Effect.REPLACED),
        ([returning(0), raising(RuntimeError())], Outcome.MODIFIED, Effect.REPLACED),
    ],
)
def test_the_whole_is_what_its_hooks_came_to(
    chains: list[Chain], hooks: list[Any], outcome: Outcome, effect: Effect
) -> None:
    for hook in hooks:
        register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    assert [(chain.outcome, chain.abort, chain.effect) for chain in chains] == [
        (outcome, None, effect)
    ]


@pytest.mark.parametrize(
    ("hook", "status", "effect"),
    [
        (returning(None), "failed", Effect.CONTINUED),
        (returning("new"), "failed", Effect.IGNORED),
        (raising(HookAborted("no")), "failed", Effect.IGNORED),
        (returning("new"), "completed", Effect.REPLACED),
        (raising(HookAborted("no")), "completed", Effect.RAISED),
    ],
)
def test_at_the_end_of_a_failed_run_a_verdict_has_no_effect(
    chains: list[Chain], hook: Any, status: Any, effect: Effect
) -> None:
    """'there is nothing left to abort'."""
    register_hook(InterceptionPoint.EXECUTION_END, hook)
    ctx = ExecutionEndContext("output", status=status)
    with contextlib.suppress(HookAborted):
        dispatch(InterceptionPoint.EXECUTION_END, ctx)
    assert [chain.effect for chain in chains] == [effect]


def test_a_legacy_false_is_an_abort_of_the_hook_that_returned_it(chains: list[Chain]) -> None:
    hooks = [returning(None), returning(False), returning(None)]
    for hook in hooks:
        register_hook(InterceptionPoint.PRE_MODEL_CALL, hook)
    with pytest.raises(HookAborted) as caught:
        dispatch(InterceptionPoint.PRE_MODEL_CALL, LLMCallHookContext())

    (chain,) = chains
    assert outcomes(chain) == [(PASSED, None), (ABORTED, caught.value), (NOT_REACHED, None)]
    assert (chain.abort, caught.value.source) == (caught.value, hooks[1])


def test_a_crash_of_the_reducer_is_one_of_the_hook_before_it(chains: list[Chain]) -> None:
    error = RuntimeError("cannot be applied")

    def reducer(_ctx: Any, result: Any) -> bool:
        if result == "bad":
            raise error
        return False

    register_hook(INPUT, lambda _ctx: "bad")
    register_hook(INPUT, lambda _ctx: "good")
    dispatch(INPUT, InputContext({}), reducer=reducer, verbose=False)

    assert outcomes(chains[0]) == [(ERRORED, error), (PASSED, None)]


def test_a_base_exception_is_an_error_of_its_hook(chains: list[Chain]) -> None:
    interrupt = KeyboardInterrupt()
    register_hook(INPUT, raising(interrupt))
    register_hook(INPUT, print)
    with pytest.raises(KeyboardInterrupt) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is interrupt
    assert outcomes(chains[0]) == [(ERRORED, interrupt), (NOT_REACHED, None)]
    assert (chains[0].abort, chains[0].outcome) == (None, Outcome.PROCEEDED)


def test_durations_are_of_the_hook_alone(
    monkeypatch: pytest.MonkeyPatch, chains: list[Chain]
) -> None:
    now = itertools.count(step=1)
    spent = [7, 0, 40]

    def clock() -> int:
        return next(now)

    def busy(_ctx: Any) -> None:
        for _ in range(spent[0]):
            next(now)

    def crash(_ctx: Any) -> None:
        for _ in range(spent[2]):
            next(now)
        raise RuntimeError

    monkeypatch.setattr(probe, "_now", clock)
    register_hook(INPUT, busy)
    on(INPUT, agents=["Editor"])(busy)
    register_hook(INPUT, crash)
    register_hook(INPUT, raising(HookAborted("no")))
    register_hook(INPUT, busy)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}, agent_role="Writer"))

    assert [result.duration_ns for result in chains[0].results()] == [8, 0, 41, 1, 0]


def test_nested_dispatches_have_chains_of_their_own(chains: list[Chain]) -> None:
    def outer(_ctx: Any) -> dict[str, Any]:
        dispatch(InterceptionPoint.OUTPUT, InputContext({}))
        return {}

    register_hook(INPUT, outer)
    register_hook(InterceptionPoint.OUTPUT, raising(RuntimeError()))
    dispatch(INPUT, InputContext({}))

    assert [(chain.point, [entry[1] for entry in chain]) for chain in chains] == [
        (InterceptionPoint.OUTPUT, [ERRORED]),
        (INPUT, [MODIFIED]),
    ]


def test_a_swallowed_error_is_logged_by_the_hooks_own_name(
    chains: list[Chain], caplog: pytest.LogCaptureFixture
) -> None:
    crash = on(INPUT, agents=["any"])(raising(RuntimeError("secret")))
    dispatch(INPUT, InputContext({}))
    assert [record.getMessage() for record in caplog.records] == [
        f"{hook_name(crash)} at input raised RuntimeError, ignored"
    ]
    assert len(chains) == 1


def test_a_probe_shows_the_hook_inside(log: list[str], chains: list[Chain]) -> None:
    hook = noting(log, "hook")
    register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    (probed,) = chains[0].probes()
    assert (probed_hook(probed), probed_hook(hook)) == (hook, hook)


def test_a_result_has_these_fields() -> None:
    assert HookResult(print, PASSED) == (print, PASSED, 0, None, None)
    assert HookResult._fields == ("hook", "outcome", "duration_ns", "error", "change")

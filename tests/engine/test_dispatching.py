"""One dispatch: the four actions of a hook, composition, fail-open, the fast path."""

# Which loop a dispatcher runs shows in no other way.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

import pytest

from hookspan.contract.contexts import InputContext, InterceptionContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import (
    DISPATCHER,
    clear_all_hooks,
    dispatch,
    register_hook,
    unregister_hook,
)
from hookspan.engine.decorators import on
from tests.engine.specimens import INPUT, Hook, noting, raising

# The points whose return value replaces the payload; the others are legacy points.
REPLACING = [
    point for point in InterceptionPoint if not point.value.endswith(("_model_call", "_tool_call"))
]


def register(*hooks: Hook) -> None:
    for hook in hooks:
        register_hook(INPUT, hook)


@pytest.mark.parametrize("point", InterceptionPoint)
def test_without_hooks_the_very_context_comes_back(point: InterceptionPoint) -> None:
    """'When no hook is registered for a point, dispatch is a single dict lookup'."""
    ctx = object()
    assert dispatch(point, ctx) is ctx


def test_the_fast_path_looks_up_once_and_never_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """'no-op fast path, so unused points cost effectively nothing'."""
    lookups: list[Any] = []

    class Table(dict[Any, Any]):
        def __getitem__(self, point: Any) -> Any:
            lookups.append(point)
            return super().__getitem__(point)

    monkeypatch.setattr(DISPATCHER, "_table", Table(DISPATCHER._table))
    monkeypatch.setattr(DISPATCHER, "_run", raising(AssertionError()))
    dispatch(INPUT, object())

    assert lookups == [INPUT]


def test_returning_none_proceeds() -> None:
    """'Proceed | `return None` (or nothing) | Operation continues unchanged'."""
    payload = {"a": 1}
    register(lambda _ctx: None)

    ctx = dispatch(INPUT, InputContext(payload))

    assert ctx == InputContext({"a": 1})
    assert ctx.payload is payload


def test_a_change_in_place_is_visible_downstream() -> None:
    """'Mutate | Change `ctx.payload` / fields in place | Change is visible downstream'."""
    seen: list[Any] = []

    def mutate(ctx: Any) -> None:
        ctx.payload["locale"] = "en-US"
        ctx.agent_role = "Editor"

    register(mutate, lambda ctx: seen.append((dict(ctx.payload), ctx.agent_role)))
    ctx = dispatch(INPUT, InputContext({}))

    assert seen == [({"locale": "en-US"}, "Editor")]
    assert ctx == InputContext({"locale": "en-US"}, agent_role="Editor")


def test_an_assigned_payload_is_a_change_too() -> None:
    """'2. Mutate in place: change ctx.payload or nested fields directly'."""

    def assign(ctx: Any) -> None:
        ctx.inputs = {"b": 2}

    register(assign)
    assert dispatch(INPUT, InputContext({"a": 1})).payload == {"b": 2}


@pytest.mark.parametrize("point", REPLACING)
@pytest.mark.parametrize("replacement", [{"b": 2}, {}, [], "", 0, False])
def test_a_value_that_is_not_none_replaces_the_payload(
    point: InterceptionPoint, replacement: Any
) -> None:
    """'A non-`None` return replaces `ctx.payload`'."""
    register_hook(point, lambda _ctx: replacement)
    assert dispatch(point, InterceptionContext({"a": 1})).payload is replacement


def test_a_context_without_payload_is_left_alone() -> None:
    class Bare:
        """No payload to replace."""

    register(lambda _ctx: "replacement")
    ctx = dispatch(INPUT, Bare())
    assert vars(ctx) == {}


def test_the_payload_flows_from_one_hook_to_the_next() -> None:
    """'The (possibly mutated) payload flows from one hook to the next'."""
    register(
        lambda ctx: [*ctx.payload, "first"],
        lambda ctx: ctx.payload.append("second"),
        lambda ctx: [*ctx.payload, "third"],
    )
    assert dispatch(INPUT, InputContext([])).payload == ["first", "second", "third"]


def test_an_abort_stops_the_chain_and_propagates(log: list[str]) -> None:
    """'`HookAborted` propagates by design and stops the chain'; 'the reason propagates'."""
    abort = HookAborted("not allowed", "policy")
    register(noting(log, "before"), raising(abort), noting(log, "after"))

    with pytest.raises(HookAborted) as caught:
        dispatch(INPUT, InputContext({}))

    assert caught.value is abort
    assert (abort.reason, abort.source, abort.__cause__) == ("not allowed", "policy", None)
    assert log == ["before"]


@pytest.mark.parametrize("filters", [{}, {"agents": ["any"]}])
def test_the_source_defaults_to_the_aborting_hook(filters: Any) -> None:
    """'The `source` defaults to the aborting hook when omitted'."""

    @on(INPUT, **filters)
    def guard(_ctx: Any) -> None:
        raise HookAborted(reason="no")

    with pytest.raises(HookAborted) as caught:
        dispatch(INPUT, InputContext({}))

    assert caught.value.source is guard


@pytest.mark.parametrize("source", ["", 0, ["policy", 7]])
def test_a_given_source_stays(source: Any) -> None:
    register(raising(HookAborted("no", source)))
    with pytest.raises(HookAborted) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value.source is source


def test_an_abort_of_a_subclass_with_a_constructor_of_its_own_is_an_abort() -> None:
    class Denied(HookAborted):
        def __init__(self) -> None:
            """Does not call the constructor above it."""

    denied = Denied()
    hook = raising(denied)
    register(hook)
    with pytest.raises(Denied) as caught:
        dispatch(INPUT, InputContext({}))
    assert (caught.value is denied, denied.source) == (True, hook)


def test_a_reducer_that_is_given_decides_what_a_return_value_does() -> None:
    applied: list[Any] = []

    def reducer(ctx: Any, result: Any) -> bool:
        applied.append((ctx.payload, result))
        return False

    register(lambda _ctx: "a", lambda _ctx: None)
    ctx = dispatch(INPUT, InputContext("kept"), reducer=reducer)

    assert applied == [("kept", "a"), ("kept", None)]
    assert ctx.payload == "kept"


def test_a_hook_that_changes_the_registry_disturbs_no_running_dispatch(log: list[str]) -> None:
    last, added = noting(log, "last"), noting(log, "added")

    def meddle(_ctx: Any) -> None:
        log.append("meddle")
        unregister_hook(INPUT, last)
        register(added)

    register(meddle, last)
    dispatch(INPUT, InputContext({}))
    assert log == ["meddle", "last"]

    log.clear()
    dispatch(INPUT, InputContext({}))
    assert log == ["meddle", "added"]


def test_a_hook_that_clears_everything_lets_the_others_of_its_dispatch_run(log: list[str]) -> None:
    register(lambda _ctx: clear_all_hooks(), noting(log, "still here"))

    dispatch(INPUT, InputContext({}))
    dispatch(INPUT, InputContext({}))

    assert log == ["still here"]


def test_a_hook_may_dispatch_another_point(log: list[str]) -> None:
    def outer(_ctx: Any) -> None:
        log.append("outer begins")
        dispatch(InterceptionPoint.OUTPUT, InterceptionContext())
        log.append("outer ends")

    register(outer)
    register_hook(InterceptionPoint.OUTPUT, noting(log, "inner"))
    dispatch(INPUT, InputContext({}))

    assert log == ["outer begins", "inner", "outer ends"]

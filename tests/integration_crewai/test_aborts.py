"""Aborts of either library, and of a user's kinds of them, at each native seam: all do the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hookspan
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

SEAMS = [point.value for point in DISPATCH.InterceptionPoint]
CREWAIS: Any = DISPATCH.HookAborted


class OfCrewAI(CREWAIS):  # type: ignore[misc]  # crewAI's own is untyped here
    """A user's own kind of crewAI's abort."""


class OfHookspan(hookspan.HookAborted):
    """A user's own kind of ours."""


KINDS: list[Any] = [CREWAIS, hookspan.HookAborted, OfCrewAI, OfHookspan]
REGISTER: list[Callable[[Any, Any], Any]] = [DISPATCH.register, hookspan.register_hook]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", SEAMS)
def test_abort(instrumented: Memory, point: str, kind: Any) -> None:
    # Each kind meets either way of registering at half of the seams.
    register = REGISTER[(SEAMS.index(point) + KINDS.index(kind)) % 2]
    aborted = kind("not now")

    def guard(ctx: Any) -> None:
        raise aborted

    register(DISPATCH.InterceptionPoint(point), guard)
    crew = crews.native_tool_crew()
    if point == "pre_tool_call":
        assert str(kickoff(crew)) == "both"
        assert "Tool execution blocked by hook" in llm_of(crew).calls[-1].prompt
        assert "Brest: high" not in llm_of(crew).calls[-1].prompt
    else:
        with pytest.raises(kind) as raised:
            kickoff(crew)
        assert raised.value is aborted
    assert aborted.source is guard
    (run,) = instrumented.trees()
    blocked = point == "pre_tool_call"
    assert [
        (
            span.name,
            span.attributes["crewai.hook.outcome"],
            span.attributes["crewai.hook.effect"],
            span.attributes["crewai.hook.abort.reason"],
        )
        for span in run.children
    ] == [(f"run_hooks {point}", "aborted", "blocked" if blocked else "raised", "not now")] * (
        2 if blocked else 1
    )
    outcome = "completed" if blocked else "aborted"
    assert run.attributes["crewai.execution.outcome"] == outcome
    assert run.attributes["crewai.execution.denied"] is True
    assert run.attributes["crewai.execution.abort.count"] == len(run.children)


def test_hooks_of_both_libraries_are_one_queue(instrumented: Memory) -> None:
    called: list[str] = []
    point = DISPATCH.InterceptionPoint.PRE_STEP

    def first(ctx: Any) -> None:
        called.append("first")

    def second(ctx: Any) -> None:
        called.append("second")

    def third(ctx: Any) -> None:
        called.append("third")

    def scoped(ctx: Any) -> None:
        called.append("scoped")

    def never(ctx: Any) -> None:
        called.append("never")

    def stop(ctx: Any) -> None:
        raise hookspan.HookAborted("enough")  # noqa: EM101 - a reason is no message

    DISPATCH.on(point)(first)
    hookspan.on(hookspan.InterceptionPoint.PRE_STEP)(second)
    DISPATCH.register(point, third)
    with hookspan.scoped_hooks():
        hookspan.register_scoped(point, scoped)
        hookspan.register_scoped(point, stop)
        hookspan.register_scoped(point, never)
        with pytest.raises(CREWAIS):
            kickoff(crews.simple_crew())
    assert called == ["first", "second", "third", "scoped"]
    (span,) = instrumented.named("run_hooks pre_step")
    chain = [entry.rpartition(".")[2] for entry in span.attributes["crewai.hook.chain"]]
    assert chain == [
        "first=passed",
        "second=passed",
        "third=passed",
        "scoped=passed",
        "stop=aborted",
        "never=not_reached",
    ]


def test_a_blocked_model_call_is_an_abort_of_each_attempt(instrumented: Memory) -> None:
    @hookspan.before_llm_call
    def block(ctx: Any) -> bool:
        return False

    with pytest.raises(ValueError, match="blocked"):
        kickoff(crews.simple_crew())
    (run,) = instrumented.trees()
    assert run.attributes["crewai.execution.outcome"] == "aborted"
    assert run.attributes["crewai.execution.abort.count"] == len(run.children) == 3
    counted = instrumented.points("crewai.executions")
    assert list(counted.values()) == [1]

"""What users have been bitten by, on real crewAI: each hook's own truth beside that of the run."""

from __future__ import annotations

import time
from typing import Any

import crewai.hooks as crewai_hooks
import pytest

from hookspan import InterceptionPoint
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.registering import POINT, on
from tests.integration_crewai.seen import (
    chain,
    dispatches,
    invocations,
    only,
    total,
    verdict,
)
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, key


def trace_of(span: Any) -> tuple[int, int]:
    context = span.get_span_context()
    return context.trace_id, context.span_id


def test_crashed_hook_is_told_though_the_tool_runs(instrumented: Memory) -> None:  # C11
    @on("pre_tool_call")
    def guard(ctx: Any) -> None:
        message = "x-secret"
        raise EOFError(message)

    crew = crews.native_tool_crew(verbose=False)
    assert str(kickoff(crew)) == "both"
    assert ["Brest: high" in llm_of(crew).calls[-1].prompt] == [True]  # the tool did run

    first, second = dispatches(instrumented, "pre_tool_call")
    name = f"{__name__}.test_crashed_hook_is_told_though_the_tool_runs.<locals>.guard"
    assert instrumented.points("crewai.hook.exceptions") == {
        key(crewai__hook__point="pre_tool_call", crewai__hook__name=name, error__type="EOFError"): 2
    }
    for node in (first, second):
        assert verdict(node.attributes) == ("proceeded", None, "continued")
        assert node.attributes["crewai.hook.result"] == "errored"
        assert node.attributes["crewai.hook.exception.count"] == 1
        assert node.status == "UNSET"
        (event,) = node.span.events
        assert (event.name, dict(event.attributes or {})) == (
            "exception",
            {"crewai.hook.name": name, "exception.type": "EOFError"},
        )
    records = instrumented.records()
    assert [record.log_record.event_name for record in records] == ["crewai.hook.exception"] * 2
    assert [record.log_record.severity_text for record in records] == ["WARN"] * 2
    assert [(r.log_record.trace_id, r.log_record.span_id) for r in records] == [
        trace_of(node.span) for node in (first, second)
    ]
    assert total(instrumented, "crewai.hook.dispatches", crewai__hook__outcome="aborted") == 0
    assert instrumented.points("crewai.hook.aborts") == {}
    (run,) = instrumented.trees()
    assert [run.attributes[f"crewai.execution.{x}"] for x in ("exception.count", "denied")] == [
        2,
        False,
    ]


@pytest.mark.parametrize("edited", [True, False])
def test_edit_in_place_is_laid_at_the_hook_that_did_it(
    instrumented: Memory, edited: bool
) -> None:  # C12
    def edits(ctx: Any) -> None:
        ctx.payload["topic"] = "other-secret"

    def reads(ctx: Any) -> None:
        assert ctx.payload["topic"]

    if edited:
        on("input")(edits)
    on("input")(reads)
    crew = crews.echo_crew()
    assert str(kickoff(crew)) == ("about other" if edited else "about tides")
    attributes = only(instrumented, "input")
    if not edited:
        assert verdict(attributes) == ("proceeded", None, "continued")
        assert invocations(instrumented) == {("reads", "passed"): 1}
        return
    assert verdict(attributes) == ("modified", "in_place", "replaced")
    assert chain(attributes) == [("edits", "modified"), ("reads", "passed")]
    (node,) = dispatches(instrumented, "input")
    changes = [child.attributes.get("crewai.hook.change") for child in node.children]
    assert changes == ["in_place", None]
    assert invocations(instrumented) == {("edits", "modified"): 1, ("reads", "passed"): 1}
    assert "secret" not in str([(s.name, dict(s.attributes or {})) for s in instrumented.spans()])


def edits(ctx: Any) -> None:
    ctx.payload["topic"] = "winds"


def crashes(ctx: Any) -> None:
    message = "broken"
    raise ValueError(message)


def sleeps(ctx: Any) -> None:
    time.sleep(0.05)


def stops(ctx: Any) -> None:
    reason = "stop"
    raise crewai_hooks.HookAborted(reason, "p4")


never: list[Any] = []


def unreached(ctx: Any) -> None:
    never.append(ctx)


def test_five_hooks_each_have_their_own_record(instrumented: Memory) -> None:  # C13, M
    for hook in (edits, crashes, sleeps, stops, unreached):
        on("input")(hook)
    crew = crews.simple_crew()
    with pytest.raises(crewai_hooks.HookAborted) as raised:
        kickoff(crew)
    assert [raised.value.reason, never, llm_of(crew).calls] == ["stop", [], ()]

    (node,) = dispatches(instrumented, "input")
    assert node.attributes["crewai.hook.chain"] == (
        f"{__name__}.edits=modified",
        f"{__name__}.crashes=errored",
        f"{__name__}.sleeps=passed",
        f"{__name__}.stops=aborted",
        f"{__name__}.unreached=not_reached",
    )
    assert verdict(node.attributes) == ("aborted", "in_place", "raised")
    assert node.attributes["crewai.hook.abort.source"] == "p4"
    results = [
        (child.attributes["crewai.hook.name"].rpartition(".")[2], child.status)
        for child in node.children
    ]
    assert results == [
        ("edits", "UNSET"),
        ("crashes", "ERROR"),
        ("sleeps", "UNSET"),
        ("stops", "UNSET"),
    ]
    times = [(child.span.end_time or 0) - (child.span.start_time or 0) for child in node.children]
    assert [nanoseconds >= 50e6 for nanoseconds in times] == [False, False, True, False]
    own = instrumented.points("crewai.hook.invocation.duration")
    assert sorted(dict(at)["crewai.hook.name"].rpartition(".")[2] for at in own) == [
        "crashes",
        "edits",
        "sleeps",
        "stops",
    ]
    assert invocations(instrumented)["stops", "aborted"] == 1

    told = [
        (name, attributes["crewai.hook.name"], attributes.get("crewai.hook.abort.reason"))
        for name, attributes in instrumented.events()
    ]
    assert told == [
        ("crewai.hook.exception", f"{__name__}.crashes", None),
        ("crewai.hook.aborted", f"{__name__}.stops", "stop"),
    ]
    traces = {record.log_record.trace_id for record in instrumented.records()}
    assert traces == {trace_of(node.span)[0]}
    (run,) = instrumented.trees()
    for _, attributes in instrumented.events():
        for name in ("crewai.crew.id", "gen_ai.workflow.name", "crewai.execution_uuid"):
            assert attributes[name] == run.attributes[name]


def not_dispatched(memory: Memory) -> set[str]:
    """Do what the query "registered but not dispatched" does with the points as exported."""
    registered = {
        dict(at)["crewai.hook.point"]
        for at, value in memory.points("crewai.hook.registration.count").items()
        if value > 0
    }
    return {
        point
        for point in registered
        if total(memory, "crewai.hook.dispatches", crewai__hook__point=point) == 0
    }


def test_hook_that_nothing_asks_shows_as_zero(instrumented: Memory) -> None:  # C18, D
    def guard(ctx: Any) -> None:
        pass

    on("pre_tool_call")(guard)
    on("post_model_call")(guard)
    kickoff(crews.simple_crew())

    name = f"{__name__}.test_hook_that_nothing_asks_shows_as_zero.<locals>.guard"

    def gauge() -> dict[str, int]:
        points = instrumented.points("crewai.hook.registration.count")
        assert all(dict(at)["crewai.hook.name"] == name for at in points)
        assert all(dict(at)["crewai.hook.scope"] == "global" for at in points)
        return {dict(at)["crewai.hook.point"]: value for at, value in points.items()}

    assert gauge() == {"pre_tool_call": 1, "post_model_call": 1}
    for outcome in ("proceeded", "modified", "aborted"):
        at = key(
            crewai__hook__point="pre_tool_call",
            crewai__hook__outcome=outcome,
            gen_ai__workflow__name="research",
        )
        assert instrumented.points("crewai.hook.dispatches")[at] == 0
    assert not_dispatched(instrumented) == {"pre_tool_call"}
    assert DISPATCH.unregister(POINT.PRE_TOOL_CALL, guard)
    assert gauge() == {"pre_tool_call": 0, "post_model_call": 1}
    assert not_dispatched(instrumented) == set()


def test_duplicates_are_told_apart(instrumented: Memory) -> None:  # D
    @on("input")
    @on("input")
    def twice(ctx: Any) -> None:
        pass

    kickoff(crews.simple_crew())
    attributes = only(instrumented, InterceptionPoint.INPUT)
    assert attributes["crewai.hook.duplicate.count"] == 1
    assert chain(attributes) == [("twice", "passed"), ("twice#2", "passed")]
    (count,) = instrumented.points("crewai.hook.registration.count").values()
    assert count == 2

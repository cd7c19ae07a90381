"""FLOW_TRANSITION and ROUTER_DECISION: where a flow goes is where the hooks let it go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from crewai.flow.flow import Flow, and_, listen, or_, router, start

from hookspan import FlowTransitionContext, InterceptionPoint, RouterDecisionContext
from tests.integration_crewai import crews, flows
from tests.integration_crewai.points.asked import (
    Asked,
    change,
    deny,
    give,
    is_denied,
    outcome,
    told,
)
from tests.kit.memory import Memory

MOVE, DECIDE = InterceptionPoint.FLOW_TRANSITION, InterceptionPoint.ROUTER_DECISION


class Fork(Flow[dict[str, Any]]):
    """Goes left, by a router, and does something on the side; notes what ran."""

    ran: Any = None

    def note(self, name: str) -> str:
        """Note that a method ran, and return its name."""
        self.ran = [*(self.ran or []), name]
        return name

    @start()
    def begin(self) -> str:
        """Run first."""
        return self.note("begin")

    @router(begin)
    def choose(self) -> Literal["left", "right"]:
        """Choose the left."""
        self.note("choose")
        return "left"

    @listen("left")
    def go_left(self) -> str:
        """Run on the left."""
        return self.note("go_left")

    @listen("right")
    async def go_right(self) -> str:
        """Run on the right."""
        return self.note("go_right")

    @listen(begin)
    def aside(self) -> str:
        """Run on the side."""
        return self.note("aside")


RUNS: dict[str, Callable[[Any], Any]] = {
    "sync": lambda flow: flow.kickoff(),
    "async": lambda flow: asyncio.run(flow.kickoff_async()),
}


def fork(kind: Any = Fork) -> Any:
    return kind(suppress_flow_events=True)


def moves(asked: Asked) -> list[tuple[Any, ...]]:
    return [
        (ctx.from_method, ctx.trigger, payload)
        for ctx, payload in zip(asked, asked.payloads, strict=True)
    ]


@pytest.mark.parametrize("run", RUNS)
def test_every_move_is_asked_about_once(instrumented: Memory, run: str) -> None:
    asked, decided, flow = Asked(MOVE), Asked(DECIDE), fork()
    RUNS[run](flow)
    assert sorted(flow.ran) == ["aside", "begin", "choose", "go_left"]
    assert moves(asked) == [
        ("begin", "begin", ["choose"]),
        ("begin", "begin", ["aside"]),
        ("begin", "left", ["go_left"]),
    ]
    assert {type(ctx) for ctx in asked} == {FlowTransitionContext}
    (decision,) = decided
    assert type(decision) is RouterDecisionContext
    assert (decision.payload, decision.router_name) == ("left", "choose")
    for ctx in (*asked, *decided):
        assert (ctx.flow, ctx.crew, ctx.agent, ctx.task) == (flow, None, None, None)
    assert told(instrumented, MOVE) == [("proceeded", "continued")] * 3
    assert told(instrumented, DECIDE) == [("proceeded", "continued")]


def dropping(name: str) -> Callable[[Any], Any]:
    """Return a hook that takes a target out in place."""

    def drop(ctx: Any) -> None:
        if name in ctx.to_methods:
            ctx.to_methods.remove(name)

    return drop


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", ["aside", "go_left", "choose"])
def test_a_target_that_is_taken_out_does_not_run(instrumented: Memory, name: str, run: str) -> None:
    Asked(MOVE, dropping(name))
    flow = fork()
    RUNS[run](flow)
    gone = {"choose", "go_left"} if name == "choose" else {name}
    assert set(flow.ran) == {"begin", "choose", "aside", "go_left"} - gone
    assert ("modified", "replaced") in told(instrumented, MOVE)


def test_a_target_that_is_added_runs(instrumented: Memory) -> None:
    Asked(MOVE, lambda ctx: [*ctx.payload, "go_right"] if "aside" in ctx.payload else None)
    flow = fork()
    flow.kickoff()
    assert "go_right" in flow.ran


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("point", [MOVE, DECIDE])
def test_an_abort_leaves_the_run(instrumented: Memory, point: InterceptionPoint, run: str) -> None:
    ends = Asked(InterceptionPoint.EXECUTION_END)
    Asked(point, deny())
    flow = fork()
    assert is_denied(outcome(lambda: RUNS[run](flow)))
    assert "go_left" not in flow.ran
    assert [ctx.status for ctx in ends] == ["failed"]
    assert told(instrumented, point) == [("aborted", "raised")]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    "hook", [give("right"), change(lambda ctx: setattr(ctx, "route", "right"))]
)
def test_the_flow_takes_the_hooks_route(instrumented: Memory, hook: Any, run: str) -> None:
    Asked(DECIDE, hook)
    flow = fork()
    RUNS[run](flow)
    assert ("go_right" in flow.ran, "go_left" in flow.ran) == (True, False)
    assert told(instrumented, DECIDE) == [("modified", "replaced")]


class Side(Enum):
    """Where to go."""

    LEFT = "left"
    NOWHERE = None


class ByEnum(Flow[dict[str, Any]]):
    """Decides by members of an enum; notes what ran."""

    ran: str = ""
    choice: Any = Side.LEFT

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @router(begin)
    def choose(self) -> Any:
        """Choose what the flow was made with."""
        return self.choice

    @listen("left")
    def go_left(self) -> None:
        """Run on the left."""
        self.ran = "left"

    @listen("right")
    def go_right(self) -> None:
        """Run on the right."""
        self.ran = "right"


def test_a_route_that_is_a_member_of_an_enum_is_a_label(instrumented: Memory) -> None:
    asked = Asked(DECIDE)
    flow = fork(ByEnum)
    flow.kickoff()
    assert (asked.payloads, flow.ran) == (["left"], "left")
    Asked(DECIDE, give("right"))
    flow = fork(ByEnum)
    flow.kickoff()
    assert flow.ran == "right"


@pytest.mark.parametrize("choice", [None, Side.NOWHERE])
def test_no_route_is_no_decision(instrumented: Memory, choice: Any) -> None:
    asked = Asked(DECIDE)
    ByEnum(suppress_flow_events=True, choice=choice).kickoff()
    assert asked == []


class StartsByRouter(Flow[dict[str, Any]]):
    """Has a start method that is a router."""

    @start()
    @router(None)  # no condition: it is a start
    def choose(self) -> Literal["left"]:
        """Choose the left."""
        return "left"

    @listen("left")
    def go_left(self) -> None:
        """Run on the left."""


def test_a_route_of_a_start_method_comes_from_that_method(instrumented: Memory) -> None:
    asked, decided = Asked(MOVE), Asked(DECIDE)
    fork(StartsByRouter).kickoff()
    assert moves(asked) == [("choose", "left", ["go_left"])]
    assert [ctx.router_name for ctx in decided] == ["choose"]


def test_spans_name_the_method_and_no_route(instrumented: Memory) -> None:
    Asked(MOVE)
    Asked(DECIDE)
    fork(StartsByRouter).kickoff()
    spans = [*instrumented.named("run_hooks flow_transition")]
    spans += instrumented.named("run_hooks router_decision")
    for span in spans:
        assert span.attributes["crewai.step.kind"] == "flow_method"
        assert span.attributes["crewai.step.name"] == "choose"
        assert "left" not in span.attributes.values()
    assert len(spans) == 2


class Started(Flow[dict[str, Any]]):
    """Begins again when its routers say so, twice."""

    rounds: int = 0

    @start()
    def first(self) -> str:
        """Run first."""
        return "first"

    @router(first)
    def into(self) -> Literal["again"]:
        """Go into the loop."""
        return "again"

    @start("again")
    def begin(self) -> str:
        """Run on `again`."""
        self.rounds += 1
        return "begun"

    @router(begin)
    def enough(self) -> Literal["again", "done"]:
        """Want two rounds."""
        return "again" if self.rounds < 2 else "done"


def test_a_start_that_is_triggered_again_is_a_move(instrumented: Memory) -> None:
    asked, flow = Asked(MOVE), fork(Started)
    flow.kickoff()
    assert flow.rounds == 2
    assert [move[2] for move in moves(asked)].count(["begin"]) == 2


def test_a_start_that_is_taken_out_is_not_run_again(instrumented: Memory) -> None:
    Asked(MOVE, dropping("begin"))
    flow = fork(Started)
    flow.kickoff()
    assert flow.rounds == 0


class Either(Flow[dict[str, Any]]):
    """Has a method that listens to either of two, and one that waits for both."""

    heard: int = 0
    both: int = 0

    @start()
    def one(self) -> str:
        """Run first."""
        return "one"

    @listen(one)
    def two(self) -> str:
        """Run second."""
        return "two"

    @listen(or_(one, two))
    def either(self) -> str:
        """Run once."""
        self.heard += 1
        return "heard"

    @listen(and_(one, two))
    def after_both(self) -> str:
        """Run once, last."""
        self.both += 1
        return "both"


def test_a_listener_that_was_taken_out_once_hears_the_next_event(instrumented: Memory) -> None:
    """'or' listeners run once: a move that did not take place must not count for one."""
    Asked(MOVE, lambda ctx: dropping("either")(ctx) if ctx.trigger == "one" else None)
    flow = fork(Either)
    flow.kickoff()
    assert (flow.heard, flow.both) == (1, 1)


def test_a_resumed_flow_does_not_move_again_where_it_has_been(
    instrumented: Memory, tmp_path: Path
) -> None:
    asked = Asked(MOVE)
    flow: Any = flows.pausing_flow(tmp_path)
    flow.kickoff()
    assert asked == []
    flows.paused_flow(tmp_path, flow.flow_id).resume("yes")
    assert moves(asked) == [("draft", "draft", ["publish"])]


class Three(Flow[dict[str, Any]]):
    """Has three methods in a row."""

    @start()
    def one(self) -> str:
        """Run first."""
        return "one"

    @listen(one)
    def two(self) -> str:
        """Run second."""
        return "two"

    @listen(two)
    def three(self) -> str:
        """Run third."""
        return "three"


def test_what_a_restored_flow_only_passes_is_no_move(instrumented: Memory) -> None:
    asked, flow = Asked(MOVE), fork(Three)
    flow._completed_methods = {"one", "two"}  # as crewAI has it after a restart
    flow._is_execution_resuming = True
    asyncio.run(flow._execute_start_method("one"))
    assert moves(asked) == [("two", "two", ["three"])]


def test_crewais_own_flows_ask_nobody(instrumented: Memory, tmp_path: Path) -> None:
    asked, decided = Asked(MOVE), Asked(DECIDE)
    crews.kickoff(crews.tool_crew())
    assert (asked, decided) == ([], [])


def test_a_crew_in_a_flow_keeps_its_own_identity(instrumented: Memory) -> None:
    tools = Asked(InterceptionPoint.TOOL_SELECTION)
    flow: Any = flows.OfCrew
    flow(suppress_flow_events=True).kickoff()
    assert [(ctx.crew.name, ctx.flow) for ctx in tools] == [("research", None)]

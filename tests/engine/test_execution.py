"""The execution boundary of runs that go well."""

from __future__ import annotations

import asyncio
import re
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from hookspan.contract.contexts import (
    ExecutionEndContext,
    ExecutionStartContext,
    InputContext,
    OutputContext,
)
from hookspan.contract.events import HookDispatchedEvent
from hookspan.engine.api import register_hook, scoped_hooks
from hookspan.engine.decorators import on
from hookspan.engine.execution import execution
from tests.engine.boundaries import END, INPUT, OUTPUT, START, note_boundaries, told
from tests.engine.specimens import noting


def test_the_points_fire_in_this_order(log: list[str]) -> None:
    """'EXECUTION_START → before_kickoff callbacks → INPUT → tasks execute → OUTPUT → ...END'."""
    note_boundaries(log)
    with execution(before=[noting(log, "before 1"), noting(log, "before 2")]):
        log.append("body")
    assert log == [
        "EXECUTION_START",
        "before 1",
        "before 2",
        "INPUT",
        "body",
        "OUTPUT",
        "EXECUTION_END",
    ]


def test_each_point_receives_its_typed_context() -> None:
    """'before any work starts, when inputs are resolved, when the final result is ready'."""
    seen: list[Any] = []
    for point in (START, INPUT, OUTPUT, END):
        register_hook(point, seen.append)

    with execution({"a": 1}, crew="crew", flow="flow") as run:
        run.output = "result"

    assert seen == [
        ExecutionStartContext({"a": 1}, crew="crew", flow="flow"),
        InputContext({"a": 1}, crew="crew", flow="flow"),
        OutputContext("result", crew="crew", flow="flow"),
        ExecutionEndContext("result", crew="crew", flow="flow", status="completed"),
    ]
    assert [type(ctx) for ctx in seen] == [
        ExecutionStartContext,
        InputContext,
        OutputContext,
        ExecutionEndContext,
    ]


def test_agent_and_task_are_not_populated_at_execution_boundaries() -> None:
    """'agent ... Not populated at execution boundaries'."""
    seen: list[Any] = []
    for point in (START, INPUT, OUTPUT, END):
        register_hook(point, lambda ctx: seen.append((ctx.agent, ctx.agent_role, ctx.task)))
    with execution(crew="crew"):
        pass
    assert seen == [(None, None, None)] * 4


@pytest.mark.parametrize("inputs", [None, {}, MappingProxyType({"a": 1})])
def test_the_payload_of_a_start_is_a_dict_whatever_was_passed(inputs: Any) -> None:
    """'`EXECUTION_START` | A crew or flow is about to begin | inputs `dict`'."""
    seen: list[Any] = []
    register_hook(START, lambda ctx: seen.append(ctx.payload))
    with execution(inputs) as run:
        assert run.inputs == dict(inputs or {})
    assert [type(payload) for payload in seen] == [dict]


def test_inputs_are_rewritten_in_place_and_the_callers_stay() -> None:
    """'Rewritten inputs flow into task interpolation'; the example's `add_defaults`."""

    @on(INPUT)
    def add_defaults(ctx: Any) -> None:
        if ctx.crew is None:
            return
        ctx.payload.setdefault("locale", "en-US")
        ctx.payload["topic"] = ctx.payload["topic"].strip().lower()

    given = {"topic": "  Hooks "}
    with execution(given, crew=object()) as run:
        assert run.inputs == {"topic": "hooks", "locale": "en-US"}
    assert given == {"topic": "  Hooks "}


def test_inputs_may_be_replaced_at_every_stage() -> None:
    """'Rewrites at EXECUTION_START are still honored — ... they also feed the before_kickoff'."""

    def stage(name: str) -> Any:
        def hook(ctx: Any) -> dict[str, Any]:
            return {**ctx.payload, name: len(seen)}

        return hook

    seen: list[Any] = []
    register_hook(START, stage("start"))

    def before(inputs: dict[str, Any]) -> dict[str, Any]:
        seen.append(dict(inputs))
        return {**inputs, "before": True}

    def edits(inputs: dict[str, Any]) -> None:
        seen.append(dict(inputs))
        inputs["edited"] = True

    register_hook(INPUT, stage("input"))
    with execution({"a": 1}, before=[before, edits]) as run:
        assert run.inputs == {"a": 1, "start": 0, "before": True, "edited": True, "input": 2}
    assert seen == [{"a": 1, "start": 0}, {"a": 1, "start": 0, "before": True}]


def test_an_output_is_redacted_in_place() -> None:
    """'the final rewritten value is what kickoff() returns'; the example's `redact_emails`."""

    @on(OUTPUT)
    def redact_emails(ctx: Any) -> None:
        if ctx.crew is None:
            return
        pattern = r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"
        ctx.payload.raw = re.sub(pattern, "[EMAIL-REDACTED]", ctx.payload.raw)

    with execution(crew=object()) as run:
        run.output = SimpleNamespace(raw="write to a.b@c.example now")
    assert run.output.raw == "write to [EMAIL-REDACTED] now"


@pytest.mark.parametrize(("crew", "output"), [("crew", "stripped"), (None, " stripped ")])
def test_hooks_discriminate_by_runtime(crew: Any, output: str) -> None:
    """'Discriminate by runtime': `if ctx.crew is None: return None`."""
    register_hook(OUTPUT, lambda ctx: None if ctx.crew is None else ctx.payload.strip())
    with execution(crew=crew, flow=None if crew else "flow") as run:
        run.output = " stripped "
    assert run.output == output


def test_output_and_end_both_see_what_hooks_before_have_left() -> None:
    """'`OUTPUT` runs before `EXECUTION_END`, and both see the (possibly replaced) payload'."""
    seen: list[Any] = []
    register_hook(OUTPUT, lambda ctx: f"{ctx.output}+first")
    register_hook(OUTPUT, lambda ctx: seen.append(ctx.output))
    register_hook(END, lambda ctx: seen.append(ctx.output))
    register_hook(END, lambda ctx: f"{ctx.output}+end")

    with execution() as run:
        run.output = "body"

    assert seen == ["body+first", "body+first"]
    assert run.output == "body+first+end"


@pytest.mark.parametrize("falsy", ["", 0, False, []])
def test_a_falsy_output_of_a_hook_counts(falsy: Any) -> None:
    register_hook(OUTPUT, lambda _ctx: falsy)
    with execution() as run:
        run.output = "body"
    assert run.output is falsy


def test_end_fires_once_and_says_completed(log: list[str]) -> None:
    """'receives status ... "completed"'; 'fires exactly once per execution, on success'."""
    ends = note_boundaries(log)
    with execution() as run:
        run.output = "result"
    assert told(ends) == [("completed", None, "result")]
    assert log.count("EXECUTION_END") == 1


def test_hooks_of_a_boundary_run_global_first_then_scoped(log: list[str]) -> None:
    """'Hooks at the same point run in registration order, global hooks first'."""
    with scoped_hooks({END: [noting(log, "scoped")]}):
        register_hook(END, noting(log, "global 1"))
        register_hook(END, noting(log, "global 2"))
        with execution():
            pass
    assert log == ["global 1", "global 2", "scoped"]


def test_an_event_is_emitted_for_each_boundary(
    log: list[str], events: list[HookDispatchedEvent]
) -> None:
    """'Telemetry (HookDispatchedEvent) is emitted per dispatch'."""
    note_boundaries(log)
    register_hook(OUTPUT, lambda _ctx: "new")
    with execution():
        pass
    assert [(event.interception_point, event.outcome, event.hook_count) for event in events] == [
        ("execution_start", "proceeded", 1),
        ("input", "proceeded", 1),
        ("output", "modified", 2),
        ("execution_end", "proceeded", 2),
    ]


def test_a_hook_that_crashes_at_a_boundary_stops_nothing(log: list[str]) -> None:
    """'so a single buggy hook can't crash a run'."""
    for point in (START, INPUT, OUTPUT, END):
        register_hook(point, lambda ctx: ctx.no_such_field)
    ends = note_boundaries(log)
    with execution() as run:
        run.output = "result"
    assert (run.output, told(ends)) == ("result", [("completed", None, "result")])


def test_the_body_may_await(log: list[str]) -> None:
    note_boundaries(log)

    async def kickoff(name: str) -> Any:
        with execution({"name": name}) as run:
            await asyncio.sleep(0)
            run.output = run.inputs["name"]
        return run.output

    async def both() -> list[Any]:
        return list(await asyncio.gather(kickoff("a"), kickoff("b")))

    assert asyncio.run(both()) == ["a", "b"]
    assert log.count("EXECUTION_START") == log.count("EXECUTION_END") == 2


def test_runs_nest(log: list[str]) -> None:
    register_hook(START, lambda ctx: log.append(f"{ctx.crew} starts"))
    register_hook(END, lambda ctx: log.append(f"{ctx.crew} ends"))
    with execution(crew="outer"), execution(crew="inner"):
        log.append("body")
    assert log == ["outer starts", "inner starts", "body", "inner ends", "outer ends"]

"""Hooks as spans below their dispatch."""

# A tracer is broken, or slowed down, where it is kept.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import time
from threading import Lock
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from hookspan import (
    HookAborted,
    InputContext,
    InterceptionPoint,
    ToolCallHookContext,
    dispatch,
    on,
    register_hook,
)
from tests.kit.memory import Memory, Node
from tests.kit.tree import assert_tree
from tests.telemetry.conftest import Record
from tests.telemetry.hooks import HERE, crashes, denies, edits, passes, replaces, sleeps

INPUT, TOOL = InterceptionPoint.INPUT, InterceptionPoint.PRE_TOOL_CALL
SHOWN = [
    *("crewai.hook.name", "crewai.hook.result", "crewai.hook.mode", "crewai.hook.change"),
    *("crewai.hook.version", "crewai.hook.failed_closed", "crewai.hook.over_budget", "error.type"),
]
"""What a test states of each span here; the dispatch's own attributes have a file of their own."""


def children(memory: Memory) -> list[Node]:
    (root,) = memory.trees()
    return root.children


@pytest.mark.parametrize(
    ("mode", "hooks", "count"),
    [
        ("auto", 1, 0),
        ("auto", 2, 2),
        ("always", 1, 1),
        ("always", 3, 3),
        ("never", 1, 0),
        ("never", 3, 0),
    ],
)
def test_which_dispatches_have_them(
    memory: Memory, record: Record, mode: str, hooks: int, count: int
) -> None:
    record(hook_spans=mode)
    for _ in range(hooks):
        register_hook(INPUT, passes)
    dispatch(INPUT, InputContext({}))
    assert [child.name for child in children(memory)] == [f"run_hook {HERE}.passes"] * count


def test_every_result_with_its_attributes(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, version="7", name="first")(passes)
    for hook in (edits, replaces, crashes, passes):
        register_hook(INPUT, hook)
    on(INPUT, mode="shadow", version="beta")(denies)
    on(INPUT, mode="shadow")(edits)
    register_hook(INPUT, denies)
    register_hook(INPUT, passes)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    point = "crewai.hook.point='input'"
    assert_tree(
        [span for span in memory.spans() if span.name.startswith("run_hook ")],
        f"""
        (orphan) run_hook {HERE}.passes [UNSET] code.function.name='{HERE}.passes' \
            crewai.hook.mode='enforce' crewai.hook.name='first' {point} \
            crewai.hook.result='passed' crewai.hook.version='7'
        (orphan) run_hook {HERE}.edits [UNSET] code.function.name='{HERE}.edits' \
            crewai.hook.change='in_place' crewai.hook.mode='enforce' \
            crewai.hook.name='{HERE}.edits' {point} crewai.hook.result='modified'
        (orphan) run_hook {HERE}.replaces [UNSET] code.function.name='{HERE}.replaces' \
            crewai.hook.change='replaced' crewai.hook.mode='enforce' \
            crewai.hook.name='{HERE}.replaces' {point} crewai.hook.result='modified'
        (orphan) run_hook {HERE}.crashes [ERROR] code.function.name='{HERE}.crashes' \
            crewai.hook.mode='enforce' crewai.hook.name='{HERE}.crashes' {point} \
            crewai.hook.result='errored' error.type='EOFError'
        (orphan) run_hook {HERE}.passes [UNSET] code.function.name='{HERE}.passes' \
            crewai.hook.mode='enforce' crewai.hook.name='{HERE}.passes' {point} \
            crewai.hook.result='passed'
        (orphan) run_hook {HERE}.denies [UNSET] code.function.name='{HERE}.denies' \
            crewai.hook.mode='shadow' crewai.hook.name='{HERE}.denies' {point} \
            crewai.hook.result='would_abort' crewai.hook.version='beta'
        (orphan) run_hook {HERE}.edits [UNSET] code.function.name='{HERE}.edits' \
            crewai.hook.change='in_place' crewai.hook.mode='shadow' \
            crewai.hook.name='{HERE}.edits#2' {point} crewai.hook.result='would_modify'
        (orphan) run_hook {HERE}.denies [UNSET] code.function.name='{HERE}.denies' \
            crewai.hook.mode='enforce' crewai.hook.name='{HERE}.denies#2' {point} \
            crewai.hook.result='aborted'
        """,
    )
    (root,) = memory.named("run_hooks input")
    assert len(root.children) == 8
    assert root.attributes["crewai.hook.chain"] == (
        "first=passed",
        f"{HERE}.edits=modified",
        f"{HERE}.replaces=modified",
        f"{HERE}.crashes=errored",
        f"{HERE}.passes=passed",
        f"{HERE}.denies=would_abort",
        f"{HERE}.edits#2=would_modify",
        f"{HERE}.denies#2=aborted",
        f"{HERE}.passes#2=not_reached",
    )


def test_what_a_hook_does_is_below_its_own_span(memory: Memory, record: Record) -> None:
    record()
    tracer = memory.tracer_provider.get_tracer("app")

    def calls(_ctx: Any) -> None:
        with tracer.start_as_current_span("policy service"):
            tracer.start_span("connection").end()

    register_hook(INPUT, calls)
    register_hook(INPUT, crashes)
    register_hook(INPUT, calls)
    with tracer.start_as_current_span("request") as request:
        dispatch(INPUT, InputContext({}))
        assert trace.get_current_span() is request
    name = f"run_hook {__name__}.{calls.__qualname__}"
    below: Any = [("policy service", [("connection", [])])]
    (root,) = memory.trees()
    assert root.names() == (
        "request",
        [("run_hooks input", [(name, below), (f"run_hook {HERE}.crashes", []), (name, below)])],
    )


def test_a_span_lasts_as_long_as_its_hook(memory: Memory, record: Record) -> None:
    record()
    for hook in (passes, sleeps, passes):
        register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    (root,) = memory.trees()
    times = [(node.span.start_time or 0, node.span.end_time or 0) for node in root.children]
    flat = [root.span.start_time or 0, *sum(times, ()), root.span.end_time or 0]
    assert flat == sorted(flat)
    assert [(end - start) / 1e9 > 0.019 for start, end in times] == [False, True, False]


def test_a_hook_that_is_not_run_has_no_length(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, mode="shadow")(passes)
    register_hook(INPUT, sleeps)
    dispatch(INPUT, InputContext({"lock": Lock()}))
    skipped, slow = children(memory)
    assert skipped.attributes["crewai.hook.result"] == "not_run"
    assert (skipped.span.end_time or 0) <= (slow.span.start_time or 0)


def test_a_hook_that_a_filter_keeps_out_has_none(memory: Memory, record: Record) -> None:
    record(hook_spans="always")
    on(TOOL, tools=["delete"])(denies)
    register_hook(TOOL, passes)
    dispatch(TOOL, ToolCallHookContext("read"))
    (root,) = memory.trees()
    assert [child.name for child in root.children] == [f"run_hook {HERE}.passes"]
    assert root.children[0].attributes["crewai.hook.name"] == f"{HERE}.passes"
    assert root.attributes["crewai.hook.chain"] == (
        f"{HERE}.denies=filtered",
        f"{HERE}.passes=passed",
    )


def test_a_guard_that_failed_closed_says_so(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, crashes)
    on(INPUT, on_error="abort")(crashes)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    ignored, closed = children(memory)
    assert "crewai.hook.failed_closed" not in ignored.attributes
    assert closed.attributes["crewai.hook.failed_closed"] is True
    assert closed.attributes["crewai.hook.result"] == "errored"
    assert (closed.status, closed.attributes["error.type"]) == ("ERROR", "EOFError")
    assert [event.name for node in (ignored, closed) for event in node.span.events] == []


def test_a_hook_over_its_budget_says_so(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, budget=0.001)(sleeps)
    on(INPUT, budget=30)(passes)
    dispatch(INPUT, InputContext({}))
    slow, quick = children(memory)
    assert slow.attributes["crewai.hook.over_budget"] is True
    assert "crewai.hook.over_budget" not in quick.attributes
    (root,) = memory.trees()
    assert root.attributes["crewai.hook.over_budget"] is True


def test_what_a_span_costs_is_not_the_hooks_time(memory: Memory, record: Record) -> None:
    """A sampler of the user's may be slow; the budget is the hook's."""
    recorder = record(hook_spans="always")
    on(INPUT, budget=0.01)(passes)
    tracer: Any = recorder._dispatch_tracer
    start = tracer.start_span

    def slow(*args: Any, **kwargs: Any) -> Any:
        time.sleep(0.02)
        return start(*args, **kwargs)

    tracer.start_span = slow
    dispatch(INPUT, InputContext({}))
    tracer.start_span = start
    (child,) = children(memory)
    assert "crewai.hook.over_budget" not in child.attributes


def test_without_dispatch_spans_there_are_none(memory: Memory, record: Record) -> None:
    record(spans="off", hook_spans="always")
    register_hook(INPUT, passes)
    dispatch(INPUT, InputContext({}))
    assert memory.spans() == []


def test_an_unsampled_dispatch_has_none_and_its_metrics_stay(record: Record) -> None:
    memory = Memory(sampler=ALWAYS_OFF)
    record(memory, hook_spans="always")
    for hook in (passes, crashes):
        register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    assert memory.spans() == []
    assert sum(memory.points("crewai.hook.invocations").values()) == 2
    assert memory.findings() == []
    memory.close()


@pytest.mark.usefixtures("contained")
def test_a_tracer_that_fails_leaves_the_hook_alone(memory: Memory, record: Record) -> None:
    recorder = record()
    calls: list[Any] = []
    for _ in range(2):
        register_hook(INPUT, calls.append)
    tracer: Any = recorder._dispatch_tracer
    start = tracer.start_span

    def broken(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("run_hook "):
            raise LookupError(name)
        return start(name, *args, **kwargs)

    tracer.start_span = broken
    dispatch(INPUT, InputContext({}))
    tracer.start_span = start
    assert len(calls) == 2
    assert children(memory) == []
    assert sum(memory.points("hookspan.errors").values()) == 2

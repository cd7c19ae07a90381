"""What guards, shadow mode and budgets are in metrics, records and attributes; and content."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from contextlib import nullcontext
from typing import Any

import pytest

from hookspan import (
    HookAborted,
    InputContext,
    InterceptionPoint,
    LLMCallHookContext,
    ToolCallHookContext,
    dispatch,
    on,
    register_hook,
)
from hookspan.contract.outcomes import HookOutcome
from hookspan.engine.change import LIMIT
from hookspan.engine.policy import POLICIES
from tests.engine.specimens import raising
from tests.kit.memory import Memory, key
from tests.telemetry.conftest import Record
from tests.telemetry.hooks import HERE, crashes, denies, edits, passes, replaces, sleeps, without

INPUT, TOOL = InterceptionPoint.INPUT, InterceptionPoint.PRE_TOOL_CALL
MODEL = InterceptionPoint.PRE_MODEL_CALL
SECRET = "4111-1111-1111-1111"  # noqa: S105 - what must not be seen


def invocations(memory: Memory) -> dict[tuple[str, str], int]:
    """Return the count of each hook and result."""
    return {
        (
            dict(point)["crewai.hook.name"].removeprefix(f"{HERE}."),
            dict(point)["crewai.hook.result"],
        ): n
        for point, n in memory.points("crewai.hook.invocations").items()
    }


class FileTool(InputContext):
    """A context that names a tool, so that a filter can keep a hook out."""

    tool_name = "read_file"


def test_every_result_is_counted_per_hook(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, tools=["delete_file"], name="filtered")(passes)
    shadowed: list[Any] = [denies, replaces, passes]
    for hook in shadowed:
        on(INPUT, mode="shadow", name=f"shadow {hook.__name__}")(hook)
    enforced: list[Any] = [edits, replaces, crashes, sleeps, denies, passes]
    for hook in enforced:
        register_hook(INPUT, hook)
    for payload in ({}, {"lock": threading.Lock()}):
        with pytest.raises(HookAborted):
            dispatch(INPUT, FileTool(payload))
    assert invocations(memory) == {
        ("filtered", "filtered"): 2,
        ("shadow denies", "would_abort"): 1,
        ("shadow denies", "not_run"): 1,
        ("shadow replaces", "would_modify"): 1,
        ("shadow replaces", "not_run"): 1,
        ("shadow passes", "passed"): 1,
        ("shadow passes", "not_run"): 1,
        ("edits", "modified"): 2,
        ("replaces", "modified"): 2,
        ("crashes", "errored"): 2,
        ("sleeps", "passed"): 2,
        ("denies", "aborted"): 2,
    }
    results = {result for _, result in invocations(memory)}
    assert results == {outcome.value for outcome in HookOutcome} - {"not_reached"}
    timed = memory.points("crewai.hook.invocation.duration")
    assert sum(timed.values()) == 3 + 5 * 2
    assert key(crewai__hook__point="input", crewai__hook__name="filtered") not in timed


def test_what_is_not_run_is_counted_and_not_timed(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, mode="shadow")(passes)
    dispatch(INPUT, InputContext(threading.Lock()))
    assert invocations(memory) == {("passes", "not_run"): 1}
    assert memory.points("crewai.hook.invocation.duration") == {}
    assert memory.trees()[0].attributes["crewai.hook.result"] == "not_run"


def test_over_budget_is_counted_marked_and_said_once(
    memory: Memory, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    record()
    on(INPUT, budget=0.001)(sleeps)
    on(TOOL, budget=0.001)(sleeps)
    for _ in range(3):
        dispatch(INPUT, InputContext({}))
    dispatch(TOOL, ToolCallHookContext("t"))
    assert memory.points("crewai.hook.budget.exceeded") == {
        key(crewai__hook__point="input", crewai__hook__name=f"{HERE}.sleeps"): 3,
        key(crewai__hook__point="pre_tool_call", crewai__hook__name=f"{HERE}.sleeps"): 1,
    }
    assert [node.attributes["crewai.hook.over_budget"] for node in memory.trees()] == [True] * 4
    lines = [(line.levelname, line.getMessage()) for line in caplog.records]
    assert [level for level, _ in lines] == ["WARNING", "WARNING"]
    assert lines[0][1].startswith(f"{HERE}.sleeps at input took 0.0")
    assert lines[1][1].startswith(f"{HERE}.sleeps at pre_tool_call took 0.0")


def test_a_budget_by_configuration_is_for_hooks_without_one(memory: Memory, record: Record) -> None:
    record()
    undo = POLICIES.configure(budget=0.001)
    register_hook(INPUT, sleeps)
    on(INPUT, budget=30, name="patient")(sleeps)
    dispatch(INPUT, InputContext({}))
    undo()
    dispatch(INPUT, InputContext({}))
    assert memory.points("crewai.hook.budget.exceeded") == {
        key(crewai__hook__point="input", crewai__hook__name=f"{HERE}.sleeps"): 1
    }


def test_a_guard_that_fails_closed_is_an_abort_and_a_crash(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, on_error="abort", version="3")(crashes)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    reason = f"{HERE}.crashes failed closed: EOFError"
    assert without(node.attributes, "crewai.hook.duration") == {
        "crewai.hook.point": "input",
        "crewai.hook.count": 1,
        "crewai.hook.outcome": "aborted",
        "crewai.hook.effect": "raised",
        "crewai.hook.chain": (f"{HERE}.crashes=errored",),
        "crewai.hook.name": f"{HERE}.crashes",
        "crewai.hook.result": "errored",
        "crewai.hook.mode": "enforce",
        "crewai.hook.version": "3",
        "crewai.hook.failed_closed": True,
        "crewai.hook.exception.count": 1,
        "crewai.hook.abort.source": f"{HERE}.crashes",
        "crewai.hook.abort.reason": reason,
    }
    shared = {
        "crewai.hook.point": "input",
        "crewai.hook.name": f"{HERE}.crashes",
        "crewai.hook.version": "3",
        "crewai.hook.effect": "raised",
        "crewai.hook.failed_closed": True,
    }
    said = {"crewai.hook.abort.source": f"{HERE}.crashes", "crewai.hook.abort.reason": reason}
    assert memory.events() == [
        ("crewai.hook.exception", {**shared, "exception.type": "EOFError"}),
        ("crewai.hook.aborted", {**shared, **said}),
    ]
    assert [record.log_record.severity_text for record in memory.records()] == ["ERROR", "WARN"]
    assert invocations(memory) == {("crashes", "errored"): 1}
    assert len(memory.points("crewai.hook.exceptions")) == 1
    assert list(memory.points("crewai.hook.aborts").values()) == [1]


def test_only_the_crash_that_closed_is_severe(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, crashes)
    on(INPUT, on_error="abort", name="guard")(crashes)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    told = [
        (log.log_record.severity_text, attributes.get("crewai.hook.failed_closed"))
        for log, (_, attributes) in zip(memory.records(), memory.events(), strict=True)
    ]
    assert told == [("WARN", None), ("ERROR", True), ("WARN", True)]


def test_a_shadow_abort_is_a_record_of_its_own(memory: Memory, record: Record) -> None:
    record()
    on(INPUT, mode="shadow", version="beta")(denies)
    dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert without(node.attributes, "crewai.hook.duration") == {
        "crewai.hook.point": "input",
        "crewai.hook.count": 1,
        "crewai.hook.outcome": "proceeded",
        "crewai.hook.effect": "continued",
        "crewai.hook.chain": (f"{HERE}.denies=would_abort",),
        "crewai.hook.name": f"{HERE}.denies",
        "crewai.hook.result": "would_abort",
        "crewai.hook.mode": "shadow",
        "crewai.hook.version": "beta",
    }
    (log,) = memory.records()
    assert log.log_record.severity_text == "INFO"
    assert memory.events() == [
        (
            "crewai.hook.would_abort",
            {
                "crewai.hook.point": "input",
                "crewai.hook.name": f"{HERE}.denies",
                "crewai.hook.version": "beta",
                "crewai.hook.abort.source": "policy",
                "crewai.hook.abort.reason": "not allowed",
            },
        )
    ]
    assert node.span.context is not None
    assert log.log_record.span_id == node.span.context.span_id
    assert memory.points("crewai.hook.aborts") == {}


def test_duplicates_are_counted_on_the_span(memory: Memory, record: Record) -> None:
    record()
    for hook in (passes, passes, edits, passes):
        register_hook(INPUT, hook)
    dispatch(INPUT, InputContext({}))
    attributes = memory.named("run_hooks input")[0].attributes
    assert attributes["crewai.hook.duplicate.count"] == 2
    assert attributes["crewai.hook.chain"][3] == f"{HERE}.passes#3=passed"
    assert invocations(memory)["passes#3", "passed"] == 1


HUGE = {"many": list(range(LIMIT))}
CHANGES: list[tuple[list[Any], Any, tuple[str, str | None]]] = [
    ([passes], {}, ("proceeded", None)),
    ([edits], {}, ("modified", "in_place")),
    ([replaces], {}, ("modified", "replaced")),
    ([edits, replaces], {}, ("modified", "replaced")),
    ([passes], HUGE, ("proceeded", "unknown")),
    ([edits], HUGE, ("proceeded", "unknown")),
    ([replaces, edits], HUGE, ("modified", "replaced")),
    ([edits, denies], {}, ("aborted", "in_place")),
]


@pytest.mark.parametrize("index", range(len(CHANGES)))
def test_how_a_payload_was_changed(memory: Memory, record: Record, index: int) -> None:
    record()
    hooks, payload, (outcome, change) = CHANGES[index]
    for hook in hooks:
        register_hook(INPUT, hook)
    with pytest.raises(HookAborted) if denies in hooks else nullcontext():
        dispatch(INPUT, InputContext(dict(payload)))
    attributes = memory.named("run_hooks input")[0].attributes
    assert attributes["crewai.hook.outcome"] == outcome
    assert attributes.get("crewai.hook.change") == change
    assert list(memory.points("crewai.hook.dispatches")) == [
        key(crewai__hook__point="input", crewai__hook__outcome=outcome)
    ]


def redacts(text: str) -> str:
    return text.replace(SECRET, "<card>")


def fails(text: str) -> str:
    raise LookupError(text)


def lengthens(text: str) -> str:
    return text + "é" * 2000


def spoils(_text: str) -> str:
    return "\ud800"


@pytest.mark.parametrize(
    ("redactor", "left"),
    [
        (redacts, "card <card> refused"),
        (fails, "<redactor failed: LookupError>"),
        (lengthens, f"card {SECRET} refused" + "é" * 496),
        (spoils, "?"),
    ],
)
def test_a_redactor_sees_every_text_of_the_users(
    memory: Memory, record: Record, redactor: Any, left: str
) -> None:
    record(redactor=redactor, capture_exception_message=True, capture_content="span_and_event")

    text = f"card {SECRET} refused"
    register_hook(INPUT, raising(EOFError(text)))
    register_hook(INPUT, raising(HookAborted(text)))
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext(text))
    (node,) = memory.named("run_hooks input")
    (event,) = node.span.events
    (_, crash), (_, abort) = memory.events()
    texts = [
        node.attributes["crewai.hook.abort.reason"],
        node.attributes["crewai.hook.payload.content"],
        dict(event.attributes or {})["exception.message"],
        crash["exception.message"],
        crash["crewai.hook.payload.content"],
        abort["crewai.hook.abort.reason"],
        abort["crewai.hook.payload.content"],
    ]
    assert texts == [left] * 7


def dispatch_content() -> None:
    """Dispatch with a secret at three points, one of which aborts."""
    register_hook(INPUT, denies)
    register_hook(TOOL, denies)
    register_hook(MODEL, passes)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({"card": SECRET}))
    with pytest.raises(HookAborted):
        dispatch(TOOL, ToolCallHookContext("pay", {"card": SECRET}))
    dispatch(MODEL, LLMCallHookContext([{"role": "user", "content": SECRET}]))


METRICS = ["crewai.hook.dispatches", "crewai.hook.invocations", "crewai.hook.aborts"]
WHERE: dict[str, tuple[str, ...]] = {
    "no_content": (),
    "span_only": ("span",),
    "event_only": ("event",),
}
WHERE["span_and_event"] = ("span", "event")


@pytest.mark.parametrize("switch", [None, *WHERE])
@pytest.mark.parametrize("points", [[], ["pre_tool_call"]])
def test_content_leaves_only_where_it_is_switched_on(
    memory: Memory, record: Record, switch: str | None, points: list[str]
) -> None:
    record(capture_content=switch, content_points=points)
    dispatch_content()
    where = WHERE[switch or "no_content"]
    covered = points or ["input", "pre_tool_call", "pre_model_call"]
    spans = {node.attributes["crewai.hook.point"]: node.attributes for node in memory.trees()}
    events = {attributes["crewai.hook.point"]: attributes for _, attributes in memory.events()}
    expected = {
        "input": {"card": SECRET},
        "pre_tool_call": {"card": SECRET},
        "pre_model_call": [{"role": "user", "content": SECRET}],
    }
    assert set(spans) == set(expected)
    assert set(events) == {"input", "pre_tool_call"}
    for kind, signals in (("span", spans), ("event", events)):
        for point, attributes in signals.items():
            told = {name for name in attributes if name.startswith("crewai.hook.payload.")}
            if kind not in where or point not in covered:
                assert told == set()
                assert SECRET not in repr(attributes)
                continue
            text = json.dumps(expected[point])
            assert attributes["crewai.hook.payload.content"] == text
            assert attributes["crewai.hook.payload.size"] == len(text)
            digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            assert attributes["crewai.hook.payload.digest"] == digest
    metrics = [memory.points(metric) for metric in METRICS]
    assert all(metrics)
    assert SECRET not in repr(metrics)


def test_content_is_capped_and_its_size_and_digest_are_of_the_whole(
    memory: Memory, record: Record
) -> None:
    record(capture_content="span_only")
    register_hook(INPUT, passes)
    text = "é" * 5000
    dispatch(INPUT, InputContext(text))
    attributes = memory.trees()[0].attributes
    assert attributes["crewai.hook.payload.content"] == "é" * 512
    assert attributes["crewai.hook.payload.size"] == 10000
    assert (
        attributes["crewai.hook.payload.digest"] == hashlib.sha256(text.encode()).hexdigest()[:16]
    )


class Mute:
    """Cannot be rendered."""

    def __str__(self) -> str:
        raise LookupError


@pytest.mark.parametrize(
    ("payload", "content"),
    [(Mute(), "<Mute>"), ({1: Mute()}, "<dict>"), ({("a", "b"): 1}, "<dict>"), ("\ud800", "?")],
)
def test_content_that_cannot_be_rendered_is_its_class(
    memory: Memory, record: Record, payload: Any, content: str
) -> None:
    record(capture_content="span_only")
    register_hook(INPUT, passes)
    dispatch(INPUT, InputContext(payload))
    assert memory.trees()[0].attributes["crewai.hook.payload.content"] == content


def test_an_abort_that_says_nothing_is_told_all_the_same(
    memory: Memory, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever a subclass does: the abort gets through, is counted and has a name."""
    record()

    class Mute(HookAborted):
        def __init__(self) -> None:
            """Say nothing, not even to the class above."""

    @on(INPUT, name="mute")
    def hook(_ctx: Any) -> None:
        raise Mute

    with caplog.at_level(logging.DEBUG, "hookspan"), pytest.raises(Mute):
        dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert node.attributes["crewai.hook.name"] == "mute"
    assert node.attributes["crewai.hook.abort.reason"] == ""
    assert list(memory.points("crewai.hook.aborts").values()) == [1]
    assert [name for name, _ in memory.events()] == ["crewai.hook.aborted"]

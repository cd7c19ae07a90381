"""What a dispatch is as a span, a metric and a log record."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from hookspan import (
    ExecutionEndContext,
    HookAborted,
    InputContext,
    InterceptionPoint,
    ToolCallHookContext,
    dispatch,
    execution,
    on,
    register_hook,
)
from hookspan.engine.probe import Chain
from tests.kit.memory import Memory, key
from tests.telemetry.conftest import Record

INPUT, TOOL = InterceptionPoint.INPUT, InterceptionPoint.PRE_TOOL_CALL
HERE = __name__


def passes(_ctx: Any) -> None:
    """Let everything through."""


def replaces(_ctx: Any) -> dict[str, int]:
    return {"replaced": 1}


def crashes(_ctx: Any) -> None:
    message = "secret"
    raise EOFError(message)


def denies(_ctx: Any) -> None:
    reason = "not allowed"
    raise HookAborted(reason, "policy")


def without_duration(attributes: dict[str, Any]) -> dict[str, Any]:
    """Take out the one value that no test can know, having looked at it."""
    assert 0 < attributes.pop("crewai.hook.duration") < 60
    return attributes


def test_one_hook_that_passes(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, passes)
    dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert (node.name, node.status, node.children) == ("run_hooks input", "UNSET", [])
    assert without_duration(node.attributes) == {
        "crewai.hook.point": "input",
        "crewai.hook.count": 1,
        "crewai.hook.outcome": "proceeded",
        "crewai.hook.effect": "continued",
        "crewai.hook.chain": (f"{HERE}.passes=passed",),
        "crewai.hook.name": f"{HERE}.passes",
        "crewai.hook.result": "passed",
        "crewai.hook.mode": "enforce",
    }
    outcome = {"crewai__hook__point": "input", "crewai__hook__outcome": "proceeded"}
    assert memory.points("crewai.hook.dispatches") == {key(**outcome): 1}
    assert memory.points("crewai.hook.dispatch.duration") == {key(**outcome): 1}
    assert memory.records() == []


def test_an_abort_names_who_why_and_what_was_not_reached(memory: Memory, record: Record) -> None:
    record()
    for hook in (replaces, denies, passes):
        register_hook(INPUT, hook)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert node.status == "UNSET"
    assert without_duration(node.attributes) == {
        "crewai.hook.point": "input",
        "crewai.hook.count": 3,
        "crewai.hook.outcome": "aborted",
        "crewai.hook.effect": "raised",
        "crewai.hook.chain": (
            f"{HERE}.replaces=modified",
            f"{HERE}.denies=aborted",
            f"{HERE}.passes=not_reached",
        ),
        "crewai.hook.change": "replaced",
        "crewai.hook.abort.source": "policy",
        "crewai.hook.abort.reason": "not allowed",
    }
    assert memory.points("crewai.hook.aborts") == {
        key(crewai__hook__point="input", crewai__hook__abort__source="policy"): 1
    }
    assert memory.events() == [
        (
            "crewai.hook.aborted",
            {
                "crewai.hook.point": "input",
                "crewai.hook.name": f"{HERE}.denies",
                "crewai.hook.effect": "raised",
                "crewai.hook.abort.source": "policy",
                "crewai.hook.abort.reason": "not allowed",
            },
        )
    ]
    (log,) = memory.records()
    assert node.span.context is not None
    assert log.log_record.span_id == node.span.context.span_id
    assert log.log_record.trace_id == node.span.context.trace_id
    assert log.log_record.timestamp is not None


def test_a_crashed_hook_is_seen_and_its_message_is_not(memory: Memory, record: Record) -> None:
    record()
    register_hook(INPUT, crashes)
    register_hook(INPUT, passes)
    dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert node.status == "UNSET"
    attributes = without_duration(node.attributes)
    assert attributes["crewai.hook.outcome"] == "proceeded"
    assert attributes["crewai.hook.exception.count"] == 1
    assert attributes["crewai.hook.chain"] == (f"{HERE}.crashes=errored", f"{HERE}.passes=passed")
    (event,) = node.span.events
    assert (event.name, dict(event.attributes or {})) == (
        "exception",
        {"exception.type": "EOFError", "crewai.hook.name": f"{HERE}.crashes"},
    )
    crash = key(
        crewai__hook__point="input", crewai__hook__name=f"{HERE}.crashes", error__type="EOFError"
    )
    assert memory.points("crewai.hook.exceptions") == {crash: 1}
    ((name, said),) = memory.events()
    assert name == "crewai.hook.exception"
    assert said["exception.type"] == "EOFError"
    assert "secret" not in repr(memory.spans()) + repr(memory.events())


def test_a_message_leaves_only_on_request(memory: Memory, record: Record) -> None:
    record(capture_exception_message=True)
    register_hook(INPUT, crashes)
    dispatch(INPUT, InputContext({}))
    (event,) = memory.spans()[0].events
    assert dict(event.attributes or {})["exception.message"] == "secret"
    assert memory.events()[0][1]["exception.message"] == "secret"


def test_a_reason_stays_where_it_is_switched_off(memory: Memory, record: Record) -> None:
    record(capture_abort_reason=False)
    register_hook(INPUT, denies)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    assert "not allowed" not in repr(memory.spans()[0].attributes) + repr(memory.events())
    assert memory.spans()[0].attributes["crewai.hook.abort.source"] == "policy"  # type: ignore[index]  # set


def test_a_long_reason_is_cut_to_valid_text(memory: Memory, record: Record) -> None:
    record()

    @on(INPUT)
    def hook(_ctx: Any) -> None:
        raise HookAborted("é" * 5000 + "\ud800")

    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    attributes = dict(memory.spans()[0].attributes or {})
    reason = str(attributes["crewai.hook.abort.reason"])
    assert len(reason.encode()) == 1024
    assert set(reason) == {"é"}
    assert attributes["crewai.hook.abort.reason_truncated"] is True


@pytest.mark.parametrize("reason", [None, 7, object(), b"bytes", "\ud800", {"a": "secret"}])
def test_a_reason_of_any_type_is_text_without_content(
    memory: Memory, record: Record, reason: Any
) -> None:
    record()

    @on(INPUT)
    def hook(_ctx: Any) -> None:
        raise HookAborted(reason, reason)

    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    attributes = dict(memory.spans()[0].attributes or {})
    for name in ("crewai.hook.abort.reason", "crewai.hook.abort.source"):
        assert isinstance(attributes[name], str)
        assert str(attributes[name]).encode()
    assert "secret" not in repr(attributes)
    assert len(memory.points("crewai.hook.aborts")) == 1


def test_an_abort_may_be_an_error(memory: Memory, record: Record) -> None:
    record(abort_status="error")
    register_hook(INPUT, denies)
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    (node,) = memory.trees()
    assert node.status == "ERROR"
    assert node.attributes["error.type"] == "hookspan.contract.errors.HookAborted"


def test_what_a_hook_does_is_below_its_dispatch(memory: Memory, record: Record) -> None:
    record()
    tracer = memory.tracer_provider.get_tracer("app")

    @on(INPUT)
    def hook(_ctx: Any) -> None:
        tracer.start_span("policy service").end()

    with tracer.start_as_current_span("request") as request:
        dispatch(INPUT, InputContext({}))
        assert trace.get_current_span() is request
    (root,) = memory.trees()
    assert root.names() == ("request", [("run_hooks input", [("policy service", [])])])


def test_identity_of_agent_task_tool_and_step(memory: Memory, record: Record) -> None:
    record()
    register_hook(TOOL, passes)

    class Agent:
        role = "Researcher on secret"
        _original_role = "Researcher on {topic}"

    dispatch(TOOL, ToolCallHookContext("delete_file", {}, agent=Agent()))
    attributes = memory.trees()[0].attributes
    assert attributes["gen_ai.agent.name"] == "Researcher on {topic}"
    assert attributes["gen_ai.tool.name"] == "delete_file"


def test_a_context_whose_attributes_raise_is_recorded_all_the_same(
    memory: Memory, record: Record
) -> None:
    record()
    register_hook(INPUT, passes)

    class Hostile(InputContext):
        def __getattribute__(self, name: str) -> Any:
            if name in ("agent", "task", "crew", "flow", "tool_name", "llm", "kind"):
                raise RuntimeError(name)
            return super().__getattribute__(name)

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]  # as hostile as can be

        def __repr__(self) -> str:
            raise RuntimeError

    dispatch(INPUT, Hostile({}))
    assert memory.trees()[0].attributes["crewai.hook.outcome"] == "proceeded"


def test_points_that_telemetry_does_not_cover_still_run(memory: Memory, record: Record) -> None:
    record(points=["output"])
    register_hook(INPUT, replaces)
    assert dispatch(INPUT, InputContext({})).payload == {"replaced": 1}
    assert memory.spans() == []
    assert memory.points("crewai.hook.dispatches") == {}


def test_without_spans_metrics_and_records_stay(memory: Memory, record: Record) -> None:
    record(spans="off")
    register_hook(INPUT, denies)
    tracer = memory.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("request"), pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    assert [span.name for span in memory.spans()] == ["request"]
    assert sum(memory.points("crewai.hook.dispatches").values()) == 1
    (log,) = memory.records()
    request = memory.spans()[0].context
    assert request is not None
    assert log.log_record.span_id == request.span_id


def test_an_unsampled_trace_keeps_metrics_and_records(record: Record) -> None:
    memory = Memory(sampler=ALWAYS_OFF)
    record(memory)
    register_hook(INPUT, denies)
    with pytest.raises(HookAborted), execution({}, name="w"):
        pass
    assert memory.spans() == []
    assert sum(memory.points("crewai.hook.dispatches").values()) == 1
    assert sum(memory.points("crewai.executions").values()) == 1
    assert [name for name, _ in memory.events()] == ["crewai.hook.aborted"]
    assert memory.findings() == []
    memory.close()


def test_a_chain_of_many_hooks_is_capped(memory: Memory, record: Record) -> None:
    record()
    for _ in range(40):
        register_hook(INPUT, passes)
    dispatch(INPUT, InputContext({}))
    chain: Any = memory.trees()[0].attributes["crewai.hook.chain"]
    assert len(chain) == 32
    assert chain[30:] == (f"{HERE}.passes#31=passed", "_OTHER=9")


def test_a_failed_end_says_so_and_an_abort_there_is_ignored(memory: Memory, record: Record) -> None:
    record()
    register_hook(InterceptionPoint.EXECUTION_END, denies)
    ctx = ExecutionEndContext(status="failed", error=RuntimeError())
    with pytest.raises(HookAborted):
        dispatch(InterceptionPoint.EXECUTION_END, ctx)
    attributes = memory.trees()[0].attributes
    assert attributes["crewai.execution.status"] == "failed"
    assert attributes["crewai.hook.effect"] == "ignored"


def test_a_look_that_fails_leaves_no_span_open(
    memory: Memory, record: Record, contained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    record()
    register_hook(INPUT, passes)

    def fail(_chain: Chain) -> None:
        raise RuntimeError

    monkeypatch.setattr(Chain, "watch", fail)
    before = trace.get_current_span()
    assert dispatch(INPUT, InputContext({"a": 1})).payload == {"a": 1}
    assert trace.get_current_span() is before
    assert memory.points("crewai.hook.dispatch.active") == {}

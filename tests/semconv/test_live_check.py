"""The live check finds each way in which telemetry can differ from the registry."""

from __future__ import annotations

from typing import Any

import pytest

from hookspan.contract.points import InterceptionPoint
from semconv import live_check, registry

SIGNALS = registry.load()
ABSENT = object()
DISPATCH: dict[str, object] = {
    "crewai.hook.point": "pre_tool_call",
    "crewai.hook.count": 2,
    "crewai.hook.outcome": "proceeded",
    "crewai.hook.duration": 0.001,
    "crewai.hook.chain": ("guards.a=passed", "guards.b=errored"),
    "crewai.hook.exception.count": 1,
    "gen_ai.tool.name": "search",
}
EXECUTION: dict[str, object] = {
    "crewai.execution.kind": "crew",
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": "research",
    "crewai.execution.outcome": "completed",
    "crewai.execution.nested": False,
    "crewai.execution.closed_by": "frame",
    "crewai.execution.denied": True,
    "crewai.execution.abort.count": 1,
    "crewai.execution.exception.count": 0,
}
ABORTED: dict[str, object] = {
    "crewai.hook.point": "pre_tool_call",
    "crewai.hook.name": "guards.a",
    "crewai.hook.abort.source": "guards.a",
    "crewai.hook.abort.reason": "no",
}
BOUNDS = (0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
COUNTER = live_check.Point(
    "crewai.hook.aborts",
    "counter",
    "{abort}",
    1,
    {"crewai.hook.point": "input", "crewai.hook.abort.source": "guards.a"},
)
HISTOGRAM = live_check.Point(
    "gen_ai.invoke_workflow.duration",
    "histogram",
    "s",
    12.5,
    {"crewai.execution.nested": False, "error.type": "_OTHER"},
    BOUNDS,
)


def changed(attributes: dict[str, object], changes: dict[str, object]) -> dict[str, object]:
    """Return the attributes with some set and, where `ABSENT`, some removed."""
    return {k: value for k, value in {**attributes, **changes}.items() if value is not ABSENT}


def dispatch(changes: dict[str, object], **options: Any) -> list[str]:
    """Check a dispatch span that differs from a right one."""
    options = {"name": "run_hooks pre_tool_call", "kind": "INTERNAL", **options}
    return live_check.check_span(SIGNALS, attributes=changed(DISPATCH, changes), **options)


def test_right_dispatch_span_with_event() -> None:
    event = ("exception", {"exception.type": "ValueError", "crewai.hook.name": "guards.b"})
    assert dispatch({}, events=[event]) == []


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"crewai.hook.colour": "red"}, "undeclared attribute crewai.hook.colour"),
        ({"crewai.execution.denied": True}, "undeclared attribute crewai.execution.denied"),
        ({"crewai.hook.count": ABSENT}, "crewai.hook.count is missing"),
        ({"crewai.hook.count": "2"}, "crewai.hook.count is '2', not int"),
        ({"crewai.hook.count": True}, "crewai.hook.count is True, not int"),
        ({"crewai.hook.count": 2.0}, "crewai.hook.count is 2.0, not int"),
        ({"crewai.hook.duration": 1}, "crewai.hook.duration is 1, not double"),
        (
            {"crewai.hook.outcome": "denied"},
            "crewai.hook.outcome is 'denied', not one of its members",
        ),
        ({"crewai.hook.outcome": 3}, "crewai.hook.outcome is 3, not string"),
        ({"crewai.hook.chain": "a=passed"}, "crewai.hook.chain is 'a=passed', not string[]"),
        ({"crewai.hook.chain": ("a", 1)}, "crewai.hook.chain is ('a', 1), not string[]"),
        ({"gen_ai.tool.name": None}, "gen_ai.tool.name is None, not string"),
        ({"crewai.hook.outcome": "aborted"}, "crewai.hook.abort.source is missing"),
        ({"crewai.hook.outcome": "modified"}, "crewai.hook.change is missing"),
        (
            {"crewai.hook.abort.reason_truncated": "true"},
            "crewai.hook.abort.reason_truncated is 'true', not boolean",
        ),
    ],
)
def test_wrong_attribute_of_a_dispatch_span(changes: dict[str, object], finding: str) -> None:
    assert dispatch(changes) == [f"run_hooks pre_tool_call: {finding}"]


def test_text_that_is_an_enum_is_no_text() -> None:
    point = InterceptionPoint.PRE_TOOL_CALL
    assert dispatch({"crewai.hook.point": point}, name=f"run_hooks {point}") == [
        f"run_hooks {point}: crewai.hook.point is {point!r}, not string"
    ]


def test_open_enumeration_admits_another_value() -> None:
    assert dispatch({"crewai.hook.point": "pre_sleep"}, name="run_hooks pre_sleep") == []


def test_single_hook_is_named_with_its_result() -> None:
    single: dict[str, object] = {"crewai.hook.count": 1, "crewai.hook.chain": ["guards.a=passed"]}
    named: dict[str, object] = {"crewai.hook.name": "guards.a", "crewai.hook.result": "passed"}
    assert dispatch({**single, **named}) == []
    assert dispatch(single) == [
        "run_hooks pre_tool_call: crewai.hook.name is missing",
        "run_hooks pre_tool_call: crewai.hook.result is missing",
    ]


def test_conditions_that_hold_are_satisfied() -> None:
    aborted = {"crewai.hook.outcome": "aborted", "crewai.hook.abort.source": "guards.a"}
    modified = {"crewai.hook.outcome": "modified", "crewai.hook.change": "replaced"}
    assert dispatch({**aborted}) == []
    assert dispatch({**modified}) == []


@pytest.mark.parametrize(
    ("options", "findings"),
    [
        ({"name": "call guards.a"}, ["call guards.a: undeclared span"]),
        ({"name": "run_hooks input"}, ["run_hooks input: name does not fit attributes"]),
        ({"name": "run_hooks"}, ["run_hooks: name does not fit attributes"]),
        ({"kind": "CLIENT"}, ["run_hooks pre_tool_call: kind is client, not internal"]),
        (
            {"events": [("retry", {"attempt": 2})]},
            ["run_hooks pre_tool_call: undeclared span event retry"],
        ),
        (
            {"events": [("crewai.hook.aborted", ABORTED)]},
            ["run_hooks pre_tool_call: undeclared span event crewai.hook.aborted"],
        ),
        (
            {"events": [("exception", {"exception.stacktrace": "..."})]},
            [
                "run_hooks pre_tool_call: exception: undeclared attribute exception.stacktrace",
                "run_hooks pre_tool_call: exception: exception.type is missing",
            ],
        ),
    ],
)
def test_wrong_dispatch_span(options: dict[str, Any], findings: list[str]) -> None:
    assert dispatch({}, **options) == findings


@pytest.mark.parametrize(
    ("name", "changes", "findings"),
    [
        ("invoke_workflow research", {}, []),
        ("invoke_workflow", {"gen_ai.workflow.name": ABSENT}, []),
        (
            "invoke_agent Researcher",
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Researcher"},
            [],
        ),
        (
            "invoke_workflow",
            {},
            ["invoke_workflow: name does not fit attributes"],
        ),
        (
            "invoke_workflow research",
            {"crewai.execution.outcome": "failed"},
            ["invoke_workflow research: error.type is missing"],
        ),
        (
            "invoke_workflow research",
            {"crewai.execution.outcome": "failed", "error.type": "ValueError"},
            [],
        ),
        (
            "invoke_workflow research",
            {"crewai.execution.nested": 0},
            ["invoke_workflow research: crewai.execution.nested is 0, not boolean"],
        ),
    ],
)
def test_execution_span(name: str, changes: dict[str, object], findings: list[str]) -> None:
    attributes = changed(EXECUTION, changes)
    assert live_check.check_span(SIGNALS, name, "internal", attributes) == findings


@pytest.mark.parametrize("point", [COUNTER, HISTOGRAM])
def test_right_point(point: live_check.Point) -> None:
    assert live_check.check_point(SIGNALS, point) == []


@pytest.mark.parametrize(
    ("point", "finding"),
    [
        (COUNTER._replace(name="crewai.hook.vetoes"), "undeclared metric"),
        (COUNTER._replace(unit="1"), "unit is 1, not {abort}"),
        (COUNTER._replace(instrument="updowncounter"), "instrument is updowncounter, not counter"),
        (COUNTER._replace(value=1.0), "value type is double, not int"),
        (COUNTER._replace(boundaries=(1,)), "boundaries is [1.0], not None"),
        (
            COUNTER._replace(attributes=changed(dict(COUNTER.attributes), {"user.id": "7"})),
            "undeclared attribute user.id",
        ),
        (
            COUNTER._replace(attributes={"crewai.hook.point": "input"}),
            "crewai.hook.abort.source is missing",
        ),
        (HISTOGRAM._replace(value=12), "value type is int, not double"),
        (HISTOGRAM._replace(unit="ms"), "unit is ms, not s"),
        (
            HISTOGRAM._replace(boundaries=(0.0, 5.0)),
            f"boundaries is [0.0, 5.0], not {[float(bound) for bound in BOUNDS]}",
        ),
        (
            HISTOGRAM._replace(boundaries=None),
            f"boundaries is None, not {[float(bound) for bound in BOUNDS]}",
        ),
        (
            HISTOGRAM._replace(attributes={"crewai.execution.nested": "no"}),
            "crewai.execution.nested is 'no', not boolean",
        ),
    ],
)
def test_wrong_point(point: live_check.Point, finding: str) -> None:
    assert live_check.check_point(SIGNALS, point) == [f"{point.name}: {finding}"]


def test_overflow_replaces_all_attributes_or_is_undeclared() -> None:
    overflow: dict[str, object] = {"otel.metric.overflow": True}
    assert live_check.check_point(SIGNALS, COUNTER._replace(attributes=overflow)) == []
    both = {**COUNTER.attributes, **overflow}
    assert live_check.check_point(SIGNALS, COUNTER._replace(attributes=both)) == [
        "crewai.hook.aborts: undeclared attribute otel.metric.overflow"
    ]


@pytest.mark.parametrize(
    ("name", "severity", "changes", "findings"),
    [
        ("crewai.hook.aborted", "WARN", {}, []),
        ("crewai.hook.aborted", "INFO", {}, ["severity is INFO, not WARN"]),
        ("crewai.hook.denied", "WARN", {}, ["undeclared log record"]),
        ("exception", "WARN", {}, ["undeclared log record"]),
        (
            "crewai.hook.aborted",
            "WARN",
            {"crewai.hook.name": ABSENT, "crewai.hook.effect": "stopped", "body": "x"},
            [
                "undeclared attribute body",
                "crewai.hook.name is missing",
                "crewai.hook.effect is 'stopped', not one of its members",
            ],
        ),
    ],
)
def test_log_record(
    name: str, severity: str, changes: dict[str, object], findings: list[str]
) -> None:
    found = live_check.check_record(SIGNALS, name, severity, changed(ABORTED, changes))
    assert found == [f"{name}: {finding}" for finding in findings]

from __future__ import annotations

import json
from typing import Any

from hookspan.cli.delivery import Delivery
from hookspan.cli.document import document
from hookspan.cli.summary import Abort, Crash, Ending, PointSummary, summarize
from hookspan.cli.tree import build
from tests.cli import specimens

ROOTS = build(specimens.program(), specimens.FOREIGN)
NOWHERE = Delivery(disabled=False, targets={}, delivered=True)


def test_every_dispatch_is_counted_at_its_point_in_the_order_of_the_catalogue() -> None:
    assert summarize(ROOTS).points == [
        PointSummary("execution_start", 1, aborted=1, slowest=0.001),
        PointSummary("input", 1, modified=1, slowest=0.001),
        PointSummary("output", 1, proceeded=1, slowest=0.001),
        PointSummary("pre_tool_call", 1, aborted=1, crashed=1, slowest=0.004),
    ]
    assert summarize(ROOTS).total == PointSummary(
        "total", 4, proceeded=1, modified=1, aborted=2, crashed=1, slowest=0.004
    )


def test_a_point_that_is_not_in_the_catalogue_comes_last() -> None:
    spans = [
        specimens.dispatch(1, "tomorrow", "proceeded", []),
        specimens.dispatch(2, "post_step", "proceeded", []),
    ]

    assert [point.point for point in summarize(build(spans)).points] == ["post_step", "tomorrow"]


def test_what_was_denied_crashed_and_ended() -> None:
    summary = summarize(ROOTS)

    deletion = Abort(
        "pre_tool_call",
        "delete_file",
        "support",
        "policy",
        "file deletion is not allowed",
        "blocked",
    )
    start = Abort("execution_start", "", "desk", "access", "unauthorized", "raised")
    assert summary.aborts == {deletion: 1, start: 1}
    assert summary.crashes == {Crash("app.hooks.quota", "KeyError", "pre_tool_call"): 1}
    assert list(summary.runs.items()) == [
        (Ending("flow", "desk", "completed", denied=True), 1),
        (Ending("crew", "support", "completed", denied=True), 1),
        (Ending("flow", "desk", "aborted", denied=True), 1),
    ]


def test_the_same_again_is_counted() -> None:
    summary = summarize([*ROOTS, *ROOTS])

    assert set(summary.aborts.values()) == {2}
    assert set(summary.crashes.values()) == {2}
    assert set(summary.runs.values()) == {2}
    assert summary.total.dispatches == 8


def test_nothing_comes_to_nothing() -> None:
    summary = summarize([])

    assert summary.total == PointSummary("total")
    assert (summary.points, summary.aborts, summary.crashes, summary.runs) == ([], {}, {}, {})


def test_the_document_holds_every_attribute_and_the_summary() -> None:
    content: dict[str, Any] = json.loads(document(ROOTS, NOWHERE, not_kept=3))

    tool = content["runs"][0]["children"][1]["children"][0]
    assert tool == {
        "type": "dispatch",
        "name": "run_hooks pre_tool_call",
        "trace_id": "0" * 31 + "a",
        "span_id": "0" * 15 + "4",
        "start": "2023-11-14T22:13:20.020000+00:00",
        "duration": 0.004,
        "status": "UNSET",
        "attributes": {
            "crewai.hook.point": "pre_tool_call",
            "crewai.hook.outcome": "aborted",
            "crewai.hook.chain": [
                "app.hooks.quota=errored",
                "app.hooks.guard=aborted",
                "app.hooks.log=not_reached",
            ],
            "crewai.execution.kind": "crew",
            "gen_ai.workflow.name": "support",
            **specimens.DENIAL,
            "crewai.hook.exception.count": 1,
        },
        "crashes": [{"hook": "app.hooks.quota", "exception": "KeyError"}],
        "children": [],
    }
    assert content["spans_not_kept"] == 3
    assert content["summary"]["total"] == {
        "point": "total",
        "dispatches": 4,
        "proceeded": 1,
        "modified": 1,
        "aborted": 2,
        "crashed": 1,
        "slowest": 0.004,
    }
    assert content["summary"]["crashes"] == [
        {"hook": "app.hooks.quota", "exception": "KeyError", "point": "pre_tool_call", "count": 1}
    ]
    assert content["summary"]["runs"][0] == {
        "kind": "flow",
        "name": "desk",
        "outcome": "completed",
        "denied": True,
        "count": 1,
    }
    assert content["telemetry"] == {
        "line": NOWHERE.line,
        "disabled": False,
        "targets": {},
        "delivered": True,
    }

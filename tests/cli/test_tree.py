from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from hookspan.cli.tree import Node, build
from hookspan.pipeline.collector import SpanCollector
from tests.cli import specimens


def names(node: Node) -> Any:
    return (node.name, [names(child) for child in node.children])


DESK: Any = (
    "invoke_workflow desk",
    [
        ("run_hooks input", []),
        ("invoke_workflow support", [("run_hooks pre_tool_call", [])]),
        ("run_hooks output", []),
    ],
)
DENIED: Any = ("invoke_workflow desk", [("run_hooks execution_start", [])])


def test_what_ran_inside_what_past_spans_of_others() -> None:
    roots = build(specimens.program(), specimens.FOREIGN)

    assert [names(root) for root in roots] == [DESK, DENIED]


def test_the_order_in_which_spans_end_does_not_matter() -> None:
    roots = build(reversed(specimens.program()), specimens.FOREIGN)

    assert [names(root) for root in roots] == [DESK, DENIED]


def test_a_dispatch_whose_run_is_not_known_is_a_root() -> None:
    roots = build([specimens.dispatch(3, "input", "proceeded", [], parent=99)])

    assert [names(root) for root in roots] == [("run_hooks input", [])]


def test_a_circle_of_foreign_parents_ends() -> None:
    spans = [specimens.dispatch(3, "input", "proceeded", [], parent=98)]

    assert [names(root) for root in build(spans, {98: 99, 99: 98})] == [("run_hooks input", [])]


def test_what_a_node_says_of_a_dispatch() -> None:
    (node,) = build([specimens.program()[1]])

    assert (node.is_dispatch, node.point, node.about, node.outcome, node.title) == (
        True,
        "pre_tool_call",
        "delete_file",
        "aborted",
        "support",
    )
    assert node.hooks == [
        ("app.hooks.quota", "errored"),
        ("app.hooks.guard", "aborted"),
        ("app.hooks.log", "not_reached"),
    ]
    assert node.crashes == [("app.hooks.quota", "KeyError")]
    assert (node.duration, node.start) == (0.004, specimens.EPOCH + 20 * specimens.MILLI)
    assert (node.trace_id, node.span_id) == ("0" * 31 + "a", "0" * 15 + "4")


def test_what_a_node_says_of_a_run() -> None:
    (node,) = build([specimens.program()[-1]])

    assert (node.is_dispatch, node.kind, node.title, node.outcome, node.status) == (
        False,
        "flow",
        "desk",
        "aborted",
        "ERROR",
    )


def test_the_title_of_an_agent_is_its_role_and_of_a_nameless_run_its_kind() -> None:
    about = {"crewai.execution.kind": "agent", "gen_ai.agent.name": "Writer"}
    inside_a_crew = {**about, "gen_ai.workflow.name": "support"}
    nameless = {"crewai.execution.kind": "crew", "gen_ai.agent.name": "Writer"}
    roots = build(
        specimens.span(number, "run", attributes, start=number)
        for number, attributes in enumerate([about, inside_a_crew, nameless], 1)
    )

    assert [root.title for root in roots] == ["Writer", "Writer", "crew"]


def test_the_collector_notes_what_foreign_spans_are_in() -> None:
    collector = SpanCollector()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(collector)
    ours, theirs = provider.get_tracer("hookspan"), provider.get_tracer("theirs")

    with (
        theirs.start_as_current_span("root"),
        ours.start_as_current_span("run"),
        theirs.start_as_current_span("task"),
        theirs.start_as_current_span("tool"),
        ours.start_as_current_span("dispatch"),
    ):
        pass

    roots = build(collector.spans, collector.foreign)
    assert [names(root) for root in roots] == [("run", [("dispatch", [])])]

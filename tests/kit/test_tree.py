"""Span trees as text: complete, the same for both kinds of span, the same in every run."""

from __future__ import annotations

import re

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.kit.exporters import exporters_to
from tests.kit.receiver import Receiver
from tests.kit.tree import assert_tree, render_tree

EXPECTED = r"""
    run crew [ERROR] crewai.crew.id=<uuid> crewai.crew.key=<id> error.type='ValueError'
      step [UNSET] crewai.hook.chain=['a=passed', 'b=aborted'] crewai.hook.count=2 \
          crewai.hook.duration=<s> ratio=0.5 text='of <uuid>' thread.id=<id> yes=True
        * exception exception.type='ValueError'
        ~ link why='retry'
      step [UNSET]
"""


def spans() -> tuple[ReadableSpan, ...]:
    """Return spans with every kind of value; two of them are siblings of one name."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("t")
    identity = {
        "crewai.crew.id": "0b3c1a9e-1111-4222-8333-444455556666",
        "error.type": "ValueError",
    }
    root = tracer.start_span("run crew", attributes=identity, start_time=10)
    root.set_attribute("crewai.crew.key", "0123456789abcdef0123456789abcdef")
    root.set_status(trace.StatusCode.ERROR)
    inside = trace.set_span_in_context(root)
    later = tracer.start_span("step", inside, start_time=30)
    earlier = tracer.start_span(
        "step",
        inside,
        attributes={
            "crewai.hook.chain": ["a=passed", "b=aborted"],
            "crewai.hook.count": 2,
            "crewai.hook.duration": 0.0017,
            "ratio": 0.5,
            "text": "of 0b3c1a9e-1111-4222-8333-444455556666",
            "thread.id": 1234,
            "yes": True,
        },
        links=[trace.Link(root.get_span_context(), {"why": "retry"})],
        start_time=20,
    )
    earlier.add_event("exception", {"exception.type": "ValueError"})
    for span in (later, earlier, root):
        span.end()
    return exporter.get_finished_spans()


def test_whole_tree() -> None:
    assert_tree(spans(), EXPECTED.replace("\\\n", ""))


def test_received_spans_give_the_same_tree(receiver: Receiver) -> None:
    recorded = spans()
    with exporters_to(receiver, "http") as official:
        official.spans.export(recorded)
    assert render_tree(receiver.spans()) == render_tree(recorded)


def test_only_selected_attributes() -> None:
    assert_tree(
        spans(),
        """
        run crew [ERROR] error.type='ValueError'
          step [UNSET] crewai.hook.count=2
            * exception
            ~ link
          step [UNSET]
        """,
        only={"error.type", "crewai.hook.count"},
    )


@pytest.mark.parametrize(
    ("wrong", "difference"),
    [
        (EXPECTED.replace(" yes=True", ""), r"^\+ +yes=True$"),
        (EXPECTED.replace("yes=True", "yes=1"), r"^- +yes=1$"),
        (EXPECTED.replace("=2 ", "='2' "), r"^- +crewai.hook.count='2'$"),
        (EXPECTED.replace(" ratio=0.5", " ratio=0.5 rest=''"), r"^- +rest=''$"),
        (EXPECTED.replace("[ERROR]", "[OK]"), r"^- run crew \[OK\]$"),
        (EXPECTED + "      step [UNSET]\n", r"^-   step \[UNSET\]$"),
        (EXPECTED.replace("  step [UNSET]\n", "    step [UNSET]\n"), r"^\+   step \[UNSET\]$"),
    ],
)
def test_any_difference_fails_and_is_shown(wrong: str, difference: str) -> None:
    with pytest.raises(AssertionError) as failed:
        assert_tree(spans(), wrong.replace("\\\n", ""))
    shown, _, passing = str(failed.value).partition("\n\nall:\n")
    assert re.search(difference, shown, re.MULTILINE)
    assert_tree(spans(), passing)


def test_nothing_expected_and_nothing_recorded() -> None:
    assert_tree([], "")
    with pytest.raises(AssertionError):
        assert_tree(spans(), "")


def test_missing_parent_is_marked() -> None:
    without_root = spans()[:-1]
    assert_tree(
        without_root,
        """
        (orphan) step [UNSET]
          * exception
          ~ link
        (orphan) step [UNSET]
        """,
        only=(),
    )


def test_parent_of_another_trace_is_no_parent() -> None:
    span, root = spans()[0], spans()[-1]
    assert_tree(
        [span, root],
        """
        run crew [ERROR]
        (orphan) step [UNSET]
        """,
        only=(),
    )


def test_siblings_of_concurrent_runs_are_ordered_by_text() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("t")
    for name, begin in (("b", 1), ("c", 2), ("a", 2)):
        tracer.start_span(name, start_time=begin).end()
    recorded = exporter.get_finished_spans()
    assert render_tree(recorded) == "b [UNSET]\na [UNSET]\nc [UNSET]"
    assert render_tree(recorded, concurrent=True) == "a [UNSET]\nb [UNSET]\nc [UNSET]"

"""Spans as trees of plain nodes: what ran inside what, in the order in which it began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.trace import SpanContext

from hookspan.pipeline.collector import ReadableSpan
from hookspan.telemetry import semconv


@dataclass
class Node:
    """A run or a dispatch, and what ran inside it.

    Attributes:
        trace_id: Id of its trace, 32 hex digits.
        span_id: Id of its span, 16 hex digits.
        name: Name of its span.
        start: When it began, in nanoseconds since 1970.
        duration: How long it took, in seconds.
        status: ``UNSET`` or ``ERROR``.
        attributes: Attributes of its span.
        crashes: Name and exception type of each hook of the dispatch that crashed.
        children: What ran inside it.
    """

    trace_id: str
    span_id: str
    name: str
    start: int
    duration: float
    status: str = "UNSET"
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    crashes: Sequence[tuple[str, str]] = ()
    children: list[Node] = field(default_factory=list["Node"])

    @property
    def is_dispatch(self) -> bool:
        """Whether it is a dispatch; else it is a run."""
        return semconv.CREWAI_HOOK_POINT in self.attributes

    @property
    def outcome(self) -> str:
        """What it came to."""
        key = semconv.CREWAI_HOOK_OUTCOME if self.is_dispatch else semconv.CREWAI_EXECUTION_OUTCOME
        return self.text(key)

    @property
    def point(self) -> str:
        """The point of a dispatch."""
        return self.text(semconv.CREWAI_HOOK_POINT)

    @property
    def kind(self) -> str:
        """The kind of a run, or of the run that a dispatch is in."""
        return self.text(semconv.CREWAI_EXECUTION_KIND)

    @property
    def title(self) -> str:
        """The name of a run, of the agent or else the crew or flow; its kind where it has none."""
        agent = self.text(semconv.GEN_AI_AGENT_NAME)
        if self.kind == semconv.CREWAI_EXECUTION_KIND_AGENT and agent:
            return agent
        return self.text(semconv.GEN_AI_WORKFLOW_NAME) or self.kind

    @property
    def about(self) -> str:
        """What a dispatch is about: a tool or a step; empty where the point says it all."""
        return self.text(semconv.GEN_AI_TOOL_NAME) or self.text(semconv.CREWAI_STEP_NAME)

    @property
    def hooks(self) -> list[tuple[str, str]]:
        """Name and result of each hook of a dispatch, in order."""
        chain = self.attributes.get(semconv.CREWAI_HOOK_CHAIN, ())
        return [(name, result) for name, _, result in (str(item).rpartition("=") for item in chain)]

    def text(self, key: str) -> str:
        """Return an attribute as text, empty when it is not there."""
        return str(self.attributes.get(key, ""))

    def count(self, key: str) -> int:
        """Return an attribute as a number, 0 when it is not there."""
        return int(self.attributes.get(key, 0))

    def walk(self) -> Iterator[Node]:
        """Yield the node and all that are below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def build(spans: Iterable[ReadableSpan], foreign: Mapping[int, int] | None = None) -> list[Node]:
    """Return the roots of the trees that spans make, in the order in which they began.

    Args:
        spans: Finished spans of hookspan's, in any order.
        foreign: The parent's id of each span of another scope, by its own id.
    """
    nodes: dict[int, Node] = {}
    parents: dict[int, int] = dict(foreign or {})
    for span in spans:
        context = span.get_span_context()
        if context is None:
            continue
        if not _is_single_hook(span):  # the chain of its dispatch tells of it
            nodes[context.span_id] = _node(span, context)
        if span.parent is not None:
            parents[context.span_id] = span.parent.span_id
    roots: list[Node] = []
    for span_id, node in sorted(nodes.items(), key=lambda item: item[1].start):
        outer = _enclosing(span_id, nodes, parents)
        (roots if outer is None else outer.children).append(node)
    return roots


def _is_single_hook(span: ReadableSpan) -> bool:
    return semconv.CODE_FUNCTION_NAME in (span.attributes or {})


def _enclosing(span_id: int, nodes: Mapping[int, Node], parents: Mapping[int, int]) -> Node | None:
    """Return the nearest node above a span, past spans that are not ours."""
    seen = {span_id}
    above = parents.get(span_id)
    while above is not None and above not in seen:
        if above in nodes:
            return nodes[above]
        seen.add(above)
        above = parents.get(above)
    return None


def _node(span: ReadableSpan, context: SpanContext) -> Node:
    start, end = span.start_time or 0, span.end_time or 0
    return Node(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        name=span.name,
        start=start,
        duration=max(0, end - start) / 1e9,
        status=span.status.status_code.name,
        attributes=dict(span.attributes or {}),
        crashes=list(_crashes(span)),
    )


def _crashes(span: ReadableSpan) -> Iterator[tuple[str, str]]:
    for event in span.events:
        if event.name == semconv.EVENT_EXCEPTION:
            attributes = event.attributes or {}
            name = attributes.get(semconv.CREWAI_HOOK_NAME, "")
            yield str(name), str(attributes.get(semconv.EXCEPTION_TYPE, ""))

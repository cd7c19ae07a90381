"""Spans as a tree in text, so that a test states a whole tree with every attribute.

    run [ERROR] crewai.crew.id=<uuid> error.type='ValueError'
      step [UNSET] crewai.hook.duration=<s>
        * exception exception.type='ValueError'

One line per span: name, status, attributes sorted by key. Events follow with `*`, links with `~`.
A span whose parent is not there begins with `(orphan)`.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opentelemetry.sdk.trace import ReadableSpan

from tests.kit.signals import Span

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX_ID = re.compile(r"(?:[0-9a-f]{16}){1,2}")
_BEFORE_ATTRIBUTE = re.compile(r" (?=[\w.]+=)")


@dataclass(frozen=True)
class _Node:
    """A span of either kind, reduced to what a tree shows."""

    name: str
    status: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    links: tuple[Mapping[str, Any], ...]
    key: tuple[str, str]
    parent: tuple[str, str] | None
    start_ns: int


def render_tree(
    spans: Iterable[Span | ReadableSpan],
    *,
    only: Collection[str] | None = None,
    concurrent: bool = False,
) -> str:
    """Return spans as text.

    Args:
        spans: Finished spans, in any order, of any number of traces.
        only: Attributes to show; None for all of them.
        concurrent: Order siblings by their text, instead of by start time and then name.
    """
    nodes = [_node(span) for span in spans]
    keys = {node.key for node in nodes}
    children: defaultdict[tuple[str, str] | None, list[_Node]] = defaultdict(list)
    for node in nodes:
        children[node.parent if node.parent in keys else None].append(node)
    return "\n".join(_Renderer(children, only, concurrent=concurrent).lines(None))


def assert_tree(
    spans: Iterable[Span | ReadableSpan],
    expected: str,
    *,
    only: Collection[str] | None = None,
    concurrent: bool = False,
) -> None:
    r"""Fail unless spans render to this text.

    Args:
        spans: As for `render_tree`.
        expected: The text; common indentation does not count. Break long lines with `\`: the
            blanks between attributes may be any number.
        only: As for `render_tree`.
        concurrent: As for `render_tree`.

    Raises:
        AssertionError: With a difference by span and attribute, and the text that would pass.
    """
    actual = _tidied(render_tree(spans, only=only, concurrent=concurrent))
    wanted = _tidied(expected)
    if actual == wanted:
        return
    difference = "\n".join(difflib.ndiff(_exploded(wanted), _exploded(actual)))
    text = "\n".join(actual)
    message = f"other spans than expected (-) were recorded (+):\n{difference}\n\nall:\n{text}"
    raise AssertionError(message)


@dataclass(frozen=True)
class _Renderer:
    children: Mapping[tuple[str, str] | None, list[_Node]]
    only: Collection[str] | None
    concurrent: bool

    def lines(self, parent: tuple[str, str] | None) -> list[str]:
        """Return the lines of a span's descendants; None stands above the roots."""
        siblings = sorted(
            self.children.get(parent, ()), key=lambda node: (node.start_ns, node.name)
        )
        blocks = [self._block(node, orphan=not parent and bool(node.parent)) for node in siblings]
        if self.concurrent:
            blocks.sort()
        return [line for block in blocks for line in block]

    def _block(self, node: _Node, *, orphan: bool) -> list[str]:
        below = [f"* {name}{self._attributes(values)}" for name, values in node.events]
        below += [f"~ link{self._attributes(values)}" for values in node.links]
        below += self.lines(node.key)
        head = f"{node.name} [{node.status}]{self._attributes(node.attributes)}"
        return [f"(orphan) {head}" if orphan else head, *(f"  {line}" for line in below)]

    def _attributes(self, values: Mapping[str, Any]) -> str:
        shown = sorted(key for key in values if self.only is None or key in self.only)
        return "".join(f" {key}={_value(key, values[key])}" for key in shown)


def _value(key: str, value: Any) -> str:
    """Return a value as text, without what is another in each run."""
    if isinstance(value, float) and key.endswith("duration"):
        return "<s>"
    if isinstance(value, int) and key.endswith(".id"):
        return "<id>"
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return f"[{', '.join(_value(key, item) for item in items)}]"
    if isinstance(value, str):
        return _text(value)
    return repr(value)


def _text(value: str) -> str:
    if _HEX_ID.fullmatch(value):
        return "<id>"
    if _UUID.fullmatch(value):
        return "<uuid>"
    return repr(_UUID.sub("<uuid>", value))


def _tidied(text: str) -> list[str]:
    """Return the lines of a tree, without blank ones and common indentation."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    margin = min(indents, default=0)
    return [
        " " * (indent - margin) + re.sub(" +", " ", line.strip())
        for line, indent in zip(lines, indents, strict=True)
    ]


def _exploded(lines: list[str]) -> list[str]:
    """Return lines with each attribute on one of its own, so that a difference points at it."""
    exploded: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        head, *attributes = _BEFORE_ATTRIBUTE.split(line)
        exploded += [head, *(f"{indent}{attribute}" for attribute in attributes)]
    return exploded


def _node(span: Span | ReadableSpan) -> _Node:
    if isinstance(span, Span):
        return _Node(
            name=span.name,
            status=span.status,
            attributes=span.attributes,
            events=tuple((event.name, event.attributes) for event in span.events),
            links=tuple(link.attributes for link in span.links),
            key=(span.trace_id, span.span_id),
            parent=(span.trace_id, span.parent_id) if span.parent_id else None,
            start_ns=span.start_ns,
        )
    return _node_of_sdk(span)


def _node_of_sdk(span: ReadableSpan) -> _Node:
    parent, context = span.parent, span.get_span_context()
    if context is None:  # only a span that was made by hand
        raise ValueError(span)
    return _Node(
        name=span.name,
        status=span.status.status_code.name,
        attributes=span.attributes or {},
        events=tuple((event.name, event.attributes or {}) for event in span.events),
        links=tuple(link.attributes or {} for link in span.links),
        key=(f"{context.trace_id:032x}", f"{context.span_id:016x}"),
        parent=(f"{parent.trace_id:032x}", f"{parent.span_id:016x}") if parent else None,
        start_ns=span.start_time or 0,
    )

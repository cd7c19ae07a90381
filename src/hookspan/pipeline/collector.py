"""Keeps the spans of this process, for those who show them on the spot."""

from __future__ import annotations

import threading
from collections.abc import Callable

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from hookspan.telemetry import semconv

__all__ = ["ReadableSpan", "SpanCollector"]


class SpanCollector(SpanProcessor):
    """Takes the finished spans of hookspan's own scope.

    Attributes:
        dropped: How many were not kept.
        foreign: The parent's id of each span of another scope, by its own id: what leads from a
            span of ours to the one of ours that it is in.

    Args:
        on_end: Called with each, on the thread that ended it.
        limit: How many are kept; of more, the first ones are, and `dropped` counts the rest.
    """

    def __init__(
        self, on_end: Callable[[ReadableSpan], None] | None = None, limit: int = 100_000
    ) -> None:
        self.dropped = 0
        self.foreign: dict[int, int] = {}
        self._spans: list[ReadableSpan] = []
        self._lock = threading.Lock()
        self._on_end = on_end
        self._limit = limit

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Note what a span of another scope is in."""
        del parent_context
        if not _is_ours(span) and span.parent is not None and len(self.foreign) < self._limit:
            self.foreign[span.get_span_context().span_id] = span.parent.span_id

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span of ours."""
        if not _is_ours(span):
            return
        with self._lock:
            if len(self._spans) >= self._limit:
                self.dropped += 1
                return
            self._spans.append(span)
        if self._on_end is not None:
            self._on_end(span)

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended so far, in the order in which they ended."""
        with self._lock:
            return list(self._spans)


def _is_ours(span: ReadableSpan) -> bool:
    scope = span.instrumentation_scope
    return scope is not None and scope.name == semconv.SCOPE

"""Keeps the spans of this process, for those who show them on the spot."""

from __future__ import annotations

import threading
from collections.abc import Callable

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from hookspan.telemetry import semconv


class SpanCollector(SpanProcessor):
    """Takes the finished spans of hookspan's own scope.

    Args:
        on_end: Called with each, on the thread that ended it.
        limit: How many are kept; of more, the first ones are, and `dropped` counts the rest.
    """

    def __init__(
        self, on_end: Callable[[ReadableSpan], None] | None = None, limit: int = 100_000
    ) -> None:
        self.dropped = 0
        self._spans: list[ReadableSpan] = []
        self._lock = threading.Lock()
        self._on_end = on_end
        self._limit = limit

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Take no notice of a span that starts."""

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span of ours."""
        scope = span.instrumentation_scope
        if scope is None or scope.name != semconv.SCOPE:
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

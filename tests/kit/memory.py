"""Providers that keep everything in memory, and a view of it that tests can compare as a whole."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

from hookspan.telemetry.semconv import SCOPE
from semconv import registry
from semconv.exported import LiveCheck

Key = frozenset[tuple[str, Any]]

_declared = functools.cache(registry.load)
"""Reads the registry once: that takes a quarter of a second."""


@dataclass
class Node:
    """A span and those below it, in the order in which they started."""

    span: ReadableSpan
    children: list[Node] = field(default_factory=list["Node"])

    @property
    def name(self) -> str:
        """The span's name."""
        return self.span.name

    @property
    def attributes(self) -> dict[str, Any]:
        """The span's attributes."""
        return dict(self.span.attributes or {})

    @property
    def status(self) -> str:
        """The span's status."""
        return self.span.status.status_code.name

    def names(self) -> Any:
        """The names of this span and of those below it, as nested pairs."""
        return (self.name, [child.names() for child in self.children])


class Memory:
    """In-memory providers, whose contents are checked against the registry of signals."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._spans = InMemorySpanExporter()
        self.tracer_provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meter_provider = MeterProvider([self._reader], shutdown_on_exit=False)
        self._logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # so it is
        self.logger_provider = LoggerProvider(shutdown_on_exit=False)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.check = LiveCheck(_declared())

    @property
    def providers(self) -> dict[str, Any]:
        """The three providers, as `hookspan.instrument` takes them."""
        return {
            "tracer_provider": self.tracer_provider,
            "meter_provider": self.meter_provider,
            "logger_provider": self.logger_provider,
        }

    def spans(self) -> list[ReadableSpan]:
        """All finished spans, in the order in which they ended."""
        return list(self._spans.get_finished_spans())

    def trees(self) -> list[Node]:
        """The spans as trees, one for each that has no parent here."""
        nodes = {span.context.span_id: Node(span) for span in self.spans() if span.context}
        roots: list[Node] = []
        for node in sorted(nodes.values(), key=lambda node: node.span.start_time or 0):
            parent = node.span.parent
            home = nodes.get(parent.span_id) if parent else None
            (home.children if home else roots).append(node)
        return roots

    def named(self, name: str) -> list[Node]:
        """The spans of a name, with what is below each."""
        found: list[Node] = []
        rest = self.trees()
        while rest:
            node = rest.pop(0)
            rest[:0] = node.children
            if node.name == name:
                found.append(node)
        return found

    def points(self, metric: str) -> dict[Key, Any]:
        """The value of each point of a metric by its attributes; of a histogram its count."""
        found: dict[Key, Any] = {}
        for point in self._data_points(metric):
            labels: dict[str, Any] = dict(point.attributes or {})
            found[frozenset(labels.items())] = getattr(
                point, "value", getattr(point, "count", None)
            )
        return found

    def records(self) -> list[ReadableLogRecord]:
        """All log records."""
        return list(self._logs.get_finished_logs())

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Event name and attributes of each log record."""
        return [
            (record.log_record.event_name or "", dict(record.log_record.attributes or {}))
            for record in self.records()
        ]

    def forget_logs(self) -> None:
        """Drop the log records, which keep the context of whoever wrote them."""
        self.check.logs(self.records())
        self._logs.clear()

    def findings(self) -> list[str]:
        """Everything that is not as the registry declares it."""
        self.check.spans(self.spans())
        self.check.metrics(self._reader.get_metrics_data())
        self.check.logs(self.records())
        return self.check.findings

    def close(self) -> None:
        """End the providers."""
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()
        self.logger_provider.shutdown()

    def _data_points(self, name: str) -> list[Any]:
        data: MetricsData | None = self._reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            if scope.scope.name == SCOPE
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


def key(**attributes: Any) -> Key:
    """Attributes of a point as `Memory.points` has them, with `__` for a dot."""
    return frozenset((name.replace("__", "."), value) for name, value in attributes.items())


def dropping_providers() -> dict[str, Any]:
    """Return three real providers whose exports are dropped: for runs without an end."""
    traces = TracerProvider(shutdown_on_exit=False)
    traces.add_span_processor(SimpleSpanProcessor(_Dropping()))
    meters = MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)
    return {
        "tracer_provider": traces,
        "meter_provider": meters,
        "logger_provider": LoggerProvider(shutdown_on_exit=False),
    }


class _Dropping(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

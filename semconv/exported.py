"""Check what the OpenTelemetry SDK exported against the registry, and what it never did.

A test suite feeds one `LiveCheck` with all that its in-memory exporters hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.metrics.export import HistogramDataPoint, NumberDataPoint, Sum

from semconv.live_check import Point, check_point, check_record, check_span, find_span
from semconv.registry import SCOPE, Enumeration, Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk.metrics.export import DataPointT, Metric, MetricsData
    from opentelemetry.sdk.trace import ReadableSpan

    from semconv.registry import Signal


class LiveCheck:
    """Collects findings and what has been seen; looks at hookspan's own scope only.

    Attributes:
        findings: What was not as declared, a sentence each, in the order it was fed.
    """

    def __init__(self, registry: Registry) -> None:
        """Start with nothing seen.

        Args:
            registry: What is declared.
        """
        self.findings: list[str] = []
        self._registry = registry
        self._seen: set[str] = set()

    def spans(self, spans: Iterable[ReadableSpan]) -> None:
        """Check finished spans."""
        for span in spans:
            if span.instrumentation_scope and span.instrumentation_scope.name == SCOPE:
                self._span(span)

    def metrics(self, data: MetricsData | None) -> None:
        """Check what a reader collected; None where it had nothing."""
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics if scope.scope.name == SCOPE else ():
                    for point in metric.data.data_points:
                        self._point(metric, point)

    def logs(self, records: Iterable[ReadableLogRecord]) -> None:
        """Check finished log records."""
        for record in records:
            if record.instrumentation_scope and record.instrumentation_scope.name == SCOPE:
                log = record.log_record
                name, attributes = log.event_name or "", log.attributes or {}
                severity = log.severity_number.name if log.severity_number else ""
                self.findings += check_record(self._registry, name, severity, attributes)
                self._see(name, attributes)

    def unseen(self) -> list[str]:
        """Return what the registry declares and nothing emitted, sorted.

        One entry per signal, per attribute of a signal as `signal: attribute`, and per value of a
        closed enumeration as `attribute=value`.
        """
        return sorted(self._declared() - self._seen)

    def _span(self, span: ReadableSpan) -> None:
        attributes = span.attributes or {}
        events = [(event.name, event.attributes or {}) for event in span.events]
        kind = span.kind.name
        self.findings += check_span(self._registry, span.name, kind, attributes, events)
        declared = find_span(self._registry, span.name)
        self._see(declared.type if declared else "", attributes)
        for name, values in events:
            self._see(name, values)

    def _point(self, metric: Metric, point: DataPointT) -> None:
        attributes = point.attributes or {}
        value = point.value if isinstance(point, NumberDataPoint) else point.sum
        bounds = point.explicit_bounds if isinstance(point, HistogramDataPoint) else None
        unit, instrument = metric.unit or "", _instrument(metric)
        plain = Point(metric.name, instrument, unit, value, attributes, bounds)
        self.findings += check_point(self._registry, plain)
        self._see(metric.name, attributes)

    def _see(self, signal: str, attributes: Mapping[str, object]) -> None:
        self._seen.add(signal)
        self._seen.update(f"{signal}: {key}" for key in attributes)
        self._seen.update(f"{key}={value}" for key, value in attributes.items())

    def _declared(self) -> set[str]:
        signals: list[tuple[str, Signal]] = [(span.type, span) for span in self._registry.spans]
        signals += [(metric.name, metric) for metric in self._registry.metrics]
        signals += [(event.name, event) for event in self._registry.events]
        declared = {name for name, _ in signals}
        declared |= {f"{name}: {key}" for name, signal in signals for key in signal.references}
        for key, attribute in self._registry.by_key.items():
            if isinstance(attribute.type, Enumeration) and not attribute.annotations.hookspan.open:
                declared |= {f"{key}={member.value}" for member in attribute.type.members}
        return declared


def _instrument(metric: Metric) -> str:
    if isinstance(metric.data, Sum):
        return "counter" if metric.data.is_monotonic else "updowncounter"
    return type(metric.data).__name__.lower()

"""Whether what was recorded has arrived.

A provider's ``force_flush`` says that the exporter was called, not that the receiver took
anything. Each exporter of ours is therefore watched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class Delivery:
    """Counts what exporters have delivered and what they have not.

    Attributes:
        undelivered: Names of the signals of which a batch was lost since the last `reset`.
    """

    def __init__(self) -> None:
        self.undelivered: set[str] = set()
        self._lock = threading.Lock()

    def note(self, signal: str, *, delivered: bool) -> None:
        """Note what became of one batch."""
        if not delivered:
            with self._lock:
                self.undelivered.add(signal)

    def reset(self) -> set[str]:
        """Return the signals that have lost something, and forget about it."""
        with self._lock:
            lost, self.undelivered = self.undelivered, set()
        return lost


class Shutdown:
    """Shuts an exporter down once, on whoever's request; later ones are silent."""

    def __init__(self, shutdown: Callable[[], None]) -> None:
        self.done = False
        self._shutdown = shutdown

    def __call__(self) -> None:
        """Shut the exporter down, the first time."""
        if not self.done:
            self.done = True
            self._shutdown()


class WatchedSpanExporter(SpanExporter):
    """An exporter of spans that notes what becomes of each batch.

    Attributes:
        close: Shuts it down, also while it is exporting.
    """

    def __init__(self, exporter: SpanExporter, delivery: Delivery) -> None:
        self.close = Shutdown(exporter.shutdown)
        self._exporter = exporter
        self._delivery = delivery

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch."""
        result = SpanExportResult.FAILURE
        try:
            if not self.close.done:
                result = self._exporter.export(spans)
        finally:
            self._delivery.note("traces", delivered=result is SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self.close()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)


class WatchedMetricExporter(MetricExporter):
    """An exporter of metrics that notes what becomes of each batch.

    Attributes:
        close: Shuts it down, also while it is exporting.
    """

    def __init__(self, exporter: MetricExporter, delivery: Delivery) -> None:
        super().__init__(
            preferred_temporality=exporter._preferred_temporality,  # noqa: SLF001 - no public way
            preferred_aggregation=exporter._preferred_aggregation,  # noqa: SLF001 - no public way
        )
        self._exporter: Any = exporter
        self.close = Shutdown(self._exporter.shutdown)
        self._delivery = delivery

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        """Export a batch."""
        result = MetricExportResult.FAILURE
        try:
            if not self.close.done:
                result = self._exporter.export(metrics_data, timeout_millis, **kwargs)
        finally:
            self._delivery.note("metrics", delivered=result is MetricExportResult.SUCCESS)
        return result

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        """Flush the exporter."""
        return bool(self._exporter.force_flush(timeout_millis))

    def shutdown(self, timeout_millis: float = 30_000, **_kwargs: Any) -> None:
        """Shut the exporter down, at once: what is under way was waited for before."""
        del timeout_millis
        self.close()


class WatchedLogExporter(LogRecordExporter):
    """An exporter of log records that notes what becomes of each batch.

    Attributes:
        close: Shuts it down, also while it is exporting.
    """

    def __init__(self, exporter: LogRecordExporter, delivery: Delivery) -> None:
        self.close = Shutdown(exporter.shutdown)
        self._exporter = exporter
        self._delivery = delivery

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Export a batch."""
        result = LogRecordExportResult.FAILURE
        try:
            if not self.close.done:
                result = self._exporter.export(batch)
        finally:
            self._delivery.note("logs", delivered=result is LogRecordExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self.close()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)

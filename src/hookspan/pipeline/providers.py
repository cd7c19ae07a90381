"""Making providers where the application has made none, and getting everything out of them."""

from __future__ import annotations

import threading
from typing import Any

from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from hookspan.pipeline.delivery import (
    Delivery,
    WatchedLogExporter,
    WatchedMetricExporter,
    WatchedSpanExporter,
)
from hookspan.pipeline.environment import SIGNALS, is_disabled, make_exporter, target_of
from hookspan.telemetry.listening import is_stand_in

_DELIVERY = Delivery()
_OWN: dict[str, Any] = {}
"""The providers that were made here, by signal."""


def provide(*processors: SpanProcessor) -> None:
    """Make a provider for each signal for which the application has set none.

    Where it sends, and what else it does, is read from the standard ``OTEL_*`` variables. With
    ``OTEL_SDK_DISABLED`` none is made.

    Args:
        *processors: Take every span beside the exporters.
    """
    if is_disabled():
        return
    resource = Resource.create()
    if is_stand_in(trace.get_tracer_provider()):
        _OWN["traces"] = _tracer_provider(resource, processors)
        trace.set_tracer_provider(_OWN["traces"])
    if is_stand_in(metrics.get_meter_provider()):
        _OWN["metrics"] = _meter_provider(resource)
        metrics.set_meter_provider(_OWN["metrics"])
    if is_stand_in(_logs.get_logger_provider()):
        _OWN["logs"] = _logger_provider(resource)
        _logs.set_logger_provider(_OWN["logs"])


def flush(timeout: float = 10.0) -> bool:
    """Send everything that was recorded up to now.

    Args:
        timeout: How long to wait, in seconds.

    Returns:
        Whether all of it was delivered: nothing is left, and no batch was lost since the last
        call. Of providers that the application made only the first half is known.
    """
    done: list[bool] = []
    worker = threading.Thread(
        target=lambda: done.append(_flush_all(timeout)), name="hookspan-flush", daemon=True
    )
    worker.start()
    worker.join(timeout)
    lost = _DELIVERY.reset()
    return done == [True] and not lost


def close() -> None:
    """End the providers that were made here."""
    while _OWN:
        _, provider = _OWN.popitem()
        provider.shutdown()


def own_signals() -> list[str]:
    """Return the signals whose provider was made here."""
    return [signal for signal in SIGNALS if signal in _OWN]


def undelivered() -> set[str]:
    """Return the signals of which a batch was lost since the last `flush`."""
    return set(_DELIVERY.undelivered)


def _flush_all(timeout: float) -> bool:
    providers = (
        trace.get_tracer_provider(),
        metrics.get_meter_provider(),
        _logs.get_logger_provider(),
    )
    flushes = [getattr(provider, "force_flush", None) for provider in providers]
    results = [flush(int(timeout * 1000)) for flush in flushes if flush is not None]
    return all(result is not False for result in results)


def _tracer_provider(resource: Resource, processors: tuple[SpanProcessor, ...]) -> TracerProvider:
    provider = TracerProvider(resource=resource)
    for processor in processors:
        provider.add_span_processor(processor)
    for name in target_of("traces").exporters:
        exporter = WatchedSpanExporter(make_exporter("traces", name), _DELIVERY)
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _meter_provider(resource: Resource) -> MeterProvider:
    readers = [
        PeriodicExportingMetricReader(
            WatchedMetricExporter(make_exporter("metrics", name), _DELIVERY)
        )
        for name in target_of("metrics").exporters
    ]
    return MeterProvider(readers, resource=resource)


def _logger_provider(resource: Resource) -> LoggerProvider:
    provider = LoggerProvider(resource=resource)
    for name in target_of("logs").exporters:
        exporter = WatchedLogExporter(make_exporter("logs", name), _DELIVERY)
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    return provider

"""Making providers where the application has made none, and getting everything out of them."""

from __future__ import annotations

import atexit
import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from hookspan.pipeline.closing import Closer, close_all, run_bounded
from hookspan.pipeline.delivery import (
    Delivery,
    WatchedLogExporter,
    WatchedMetricExporter,
    WatchedSpanExporter,
)
from hookspan.pipeline.environment import Target, is_disabled, make_exporter, target_of
from hookspan.telemetry.listening import is_stand_in
from hookspan.telemetry.recorder import cut_off_executions

logger = logging.getLogger("hookspan")

EXIT_TIMEOUT = 2.0
"""How long the end of the process may wait for what is still to be sent, in seconds."""

EXIT_GRACE = 0.8
"""How long more, once the exporters were told to give up, in seconds."""

_DELIVERY = Delivery()
_OWN: dict[str, Closer] = {}
"""What ends each provider that was made here, by signal."""

_ENDED: set[str] = set()
"""The signals whose provider was made here and has been ended."""


@dataclass(frozen=True)
class _Signal:
    """How a signal's provider is found, made and set."""

    name: str
    get: Callable[[], Any]
    set: Callable[[Any], None]
    make: Callable[[Resource, list[Any]], Any]
    watch: Callable[[Any, Delivery], Any]


def provide(*processors: SpanProcessor) -> list[Target]:
    """Make a provider for each signal for which the application has set none.

    Where it sends, and what else it does, is read from the standard ``OTEL_*`` variables. With
    ``OTEL_SDK_DISABLED`` none is made. What is not sent by then is sent at the end of the process,
    within `EXIT_TIMEOUT` and `EXIT_GRACE`.

    Args:
        *processors: Take every span beside the exporters, if the provider of spans is made here.

    Returns:
        Where each of those made sends to.
    """
    if is_disabled():
        return []
    missing = [signal for signal in _SIGNALS if is_stand_in(signal.get())]
    _report_ended({signal.name for signal in missing})
    targets = [target_of(signal.name) for signal in missing]
    resource = Resource.create()
    for signal, target in zip(missing, targets, strict=True):
        exporters = [
            signal.watch(make_exporter(signal.name, name), _DELIVERY) for name in target.exporters
        ]
        provider = signal.make(resource, exporters)
        if signal.name == "traces":
            for processor in processors:
                provider.add_span_processor(processor)
        signal.set(provider)
        _OWN[signal.name] = Closer(
            signal.name, provider.shutdown, functools.partial(_interrupt, exporters)
        )
    return targets


def _report_ended(missing: set[str]) -> None:
    """Say which signals are over for this process."""
    ended = [signal.name for signal in _SIGNALS if signal.name in _ENDED - missing]
    if ended:
        logger.warning(
            "%s were shut down before, and OpenTelemetry sets providers once: nothing more of them"
            " is sent by this process",
            ", ".join(ended),
        )


def flush(timeout: float = 10.0) -> bool:
    """Send everything that was recorded up to now.

    Args:
        timeout: How long to wait, in seconds.

    Returns:
        Whether all of it was delivered: nothing is left, and no batch was lost since the last
        call. Of providers that the application made only the first half is known.
    """
    flushes = [getattr(signal.get(), "force_flush", None) for signal in _SIGNALS]
    millis = int(timeout * 1000)
    done = run_bounded(
        [functools.partial(_flush, flush, millis) for flush in flushes if flush is not None],
        timeout,
    )
    return not _DELIVERY.reset() and done


def close(timeout: float = EXIT_TIMEOUT) -> bool:
    """Send everything and end the providers that were made here.

    Args:
        timeout: How long to wait for what is to be sent, in seconds; it takes `EXIT_GRACE` longer
            when a receiver does not answer.

    Returns:
        Whether all of it was delivered.
    """
    if _OWN:
        cut_off_executions()  # their spans would end when nobody takes them any more
    closers = list(_OWN.values())
    _ENDED.update(_OWN)
    _OWN.clear()
    done = close_all(closers, timeout, EXIT_GRACE)
    return not _DELIVERY.reset() and done


def own_signals() -> list[str]:
    """Return the signals whose provider was made here."""
    return list(_OWN)


def _flush(force_flush: Callable[[int], Any], millis: int) -> bool:
    return force_flush(millis) is not False


def _interrupt(exporters: list[Any]) -> None:
    for exporter in exporters:
        exporter.close()


def _tracer_provider(resource: Resource, exporters: list[WatchedSpanExporter]) -> TracerProvider:
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _meter_provider(resource: Resource, exporters: list[WatchedMetricExporter]) -> MeterProvider:
    readers = [PeriodicExportingMetricReader(exporter) for exporter in exporters]
    return MeterProvider(readers, resource=resource, shutdown_on_exit=False)


def _logger_provider(resource: Resource, exporters: list[WatchedLogExporter]) -> LoggerProvider:
    provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    return provider


_SIGNALS = (
    _Signal(
        "traces",
        trace.get_tracer_provider,
        trace.set_tracer_provider,
        _tracer_provider,
        WatchedSpanExporter,
    ),
    _Signal(
        "metrics",
        metrics.get_meter_provider,
        metrics.set_meter_provider,
        _meter_provider,
        WatchedMetricExporter,
    ),
    _Signal(
        "logs",
        _logs.get_logger_provider,
        _logs.set_logger_provider,
        _logger_provider,
        WatchedLogExporter,
    ),
)


@atexit.register
def _close_at_exit() -> None:
    names = ", ".join(_OWN)
    if _OWN and not close():
        logger.warning("the process ends before all %s were delivered, see the lines above", names)

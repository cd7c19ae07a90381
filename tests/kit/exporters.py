"""The official exporters, one set per protocol, and something to export with them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

import grpc  # type: ignore[import-untyped]  # no stubs among the test tools
from opentelemetry.exporter.otlp.proto.grpc import _log_exporter as grpc_logs
from opentelemetry.exporter.otlp.proto.grpc import metric_exporter as grpc_metrics
from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc_traces
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http import _log_exporter as http_logs
from opentelemetry.exporter.otlp.proto.http import metric_exporter as http_metrics
from opentelemetry.exporter.otlp.proto.http import trace_exporter as http_traces
from opentelemetry.sdk._logs.export import LogRecordExporter
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.trace.export import SpanExporter

from tests.kit.receiver import Receiver

Protocol: TypeAlias = Literal["http", "grpc"]


@dataclass(frozen=True)
class Exporters:
    """One exporter per signal."""

    spans: SpanExporter
    metrics: MetricExporter
    logs: LogRecordExporter


@contextmanager
def exporters_to(
    receiver: Receiver, protocol: Protocol, *, compressed: bool = False, timeout: float = 5
) -> Generator[Exporters]:
    """Give exporters that send to a receiver, and shut them down.

    Args:
        receiver: Where to send to.
        protocol: How to send.
        compressed: Whether with gzip.
        timeout: Seconds that an export may take, with all attempts.
    """
    exporters = (_http if protocol == "http" else _grpc)(receiver, compressed, timeout)
    try:
        yield exporters
    finally:
        exporters.spans.shutdown()
        # Its **kwargs have no type.
        exporters.metrics.shutdown()  # pyright: ignore[reportUnknownMemberType]
        exporters.logs.shutdown()  # type: ignore[no-untyped-call]  # the SDK forgot "-> None"


def _http(receiver: Receiver, compressed: bool, timeout: float) -> Exporters:
    url = receiver.endpoint_http
    headers = {"x-tenant": "acme"}
    compression = Compression.Gzip if compressed else Compression.NoCompression
    return Exporters(
        http_traces.OTLPSpanExporter(
            f"{url}/v1/traces", headers=headers, timeout=timeout, compression=compression
        ),
        http_metrics.OTLPMetricExporter(
            f"{url}/v1/metrics", headers=headers, timeout=timeout, compression=compression
        ),
        http_logs.OTLPLogExporter(
            f"{url}/v1/logs", headers=headers, timeout=timeout, compression=compression
        ),
    )


def _grpc(receiver: Receiver, compressed: bool, timeout: float) -> Exporters:
    url = receiver.endpoint_grpc
    headers = {"x-tenant": "acme"}
    compression = grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression
    return Exporters(
        grpc_traces.OTLPSpanExporter(
            url, headers=headers, timeout=timeout, compression=compression
        ),
        grpc_metrics.OTLPMetricExporter(
            url, headers=headers, timeout=timeout, compression=compression
        ),
        grpc_logs.OTLPLogExporter(url, headers=headers, timeout=timeout, compression=compression),
    )

"""From OTLP protobuf messages to plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import Message  # type: ignore[import-untyped]  # no stubs among the test tools
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1 import logs_pb2  # pyright: ignore[reportMissingTypeStubs]  # it has
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from tests.kit.signals import Attributes, Event, Exemplar, Link, LogRecord, MetricPoint, Scope, Span


def spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    """Yield the spans of one export call, in the order in which they were sent."""
    for group in request.resource_spans:
        for scoped in group.scope_spans:
            scope = _scope(scoped.scope, group.resource)
            for span in scoped.spans:
                yield _span(span, scope)


def metrics(request: ExportMetricsServiceRequest) -> Iterator[MetricPoint]:
    """Yield the points of one export call, in the order in which they were sent."""
    for group in request.resource_metrics:
        for scoped in group.scope_metrics:
            scope = _scope(scoped.scope, group.resource)
            for metric in scoped.metrics:
                yield from _points(metric, scope)


def logs(request: ExportLogsServiceRequest) -> Iterator[LogRecord]:
    """Yield the log records of one export call, in the order in which they were sent."""
    for group in request.resource_logs:
        for scoped in group.scope_logs:
            scope = _scope(scoped.scope, group.resource)
            for record in scoped.log_records:
                yield _log_record(record, scope)


def attributes(pairs: Iterable[KeyValue]) -> Attributes:
    """Return key-value pairs as a dict."""
    return {pair.key: value(pair.value) for pair in pairs}


def value(any_value: AnyValue) -> Any:
    """Return an attribute value as the Python value it was made from, an array as a list."""
    kind = any_value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    if kind == "kvlist_value":
        return attributes(any_value.kvlist_value.values)
    return getattr(any_value, kind)


def _scope(scope: InstrumentationScope, resource: Resource) -> Scope:
    return Scope(scope.name, scope.version, attributes(resource.attributes))


def _enum(message: Message, field: str, prefix: str) -> str:
    """Return the name of an enum value, without the prefix that all of its enum have."""
    enum: Any = message.DESCRIPTOR.fields_by_name[field].enum_type
    return str(enum.values_by_number[getattr(message, field)].name.removeprefix(prefix))


def _span(span: trace_pb2.Span, scope: Scope) -> Span:
    return Span(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() or None,
        kind=_enum(span, "kind", "SPAN_KIND_"),
        status=_enum(span.status, "code", "STATUS_CODE_"),
        status_description=span.status.message,
        attributes=attributes(span.attributes),
        events=tuple(
            Event(event.name, attributes(event.attributes), event.time_unix_nano)
            for event in span.events
        ),
        links=tuple(
            Link(link.trace_id.hex(), link.span_id.hex(), attributes(link.attributes))
            for link in span.links
        ),
        scope=scope,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
    )


def _points(metric: metrics_pb2.Metric, scope: Scope) -> Iterator[MetricPoint]:
    kind = metric.WhichOneof("data")
    if kind is None or kind == "summary":
        message = f"{metric.name}: cannot read a {kind}"
        raise ValueError(message)
    data = getattr(metric, kind)
    temporality = "aggregation_temporality"
    for point in data.data_points:
        yield MetricPoint(
            name=metric.name,
            unit=metric.unit,
            description=metric.description,
            type=kind,
            temporality=(
                None if kind == "gauge" else _enum(data, temporality, "AGGREGATION_TEMPORALITY_")
            ),
            monotonic=data.is_monotonic if kind == "sum" else None,
            value=_number(point) if kind in {"sum", "gauge"} else None,
            count=getattr(point, "count", None),
            sum=getattr(point, "sum", None),
            bounds=tuple(getattr(point, "explicit_bounds", ())),
            buckets=tuple(getattr(point, "bucket_counts", ())),
            attributes=attributes(point.attributes),
            exemplars=tuple(_exemplar(exemplar) for exemplar in point.exemplars),
            scope=scope,
            start_ns=point.start_time_unix_nano,
            time_ns=point.time_unix_nano,
        )


def _number(point: metrics_pb2.NumberDataPoint | metrics_pb2.Exemplar) -> float:
    return point.as_int if point.WhichOneof("value") == "as_int" else point.as_double


def _exemplar(exemplar: metrics_pb2.Exemplar) -> Exemplar:
    return Exemplar(
        value=_number(exemplar),
        trace_id=exemplar.trace_id.hex(),
        span_id=exemplar.span_id.hex(),
        attributes=attributes(exemplar.filtered_attributes),
    )


def _log_record(record: logs_pb2.LogRecord, scope: Scope) -> LogRecord:
    return LogRecord(
        event_name=record.event_name,
        severity_text=record.severity_text,
        severity_number=record.severity_number,
        body=value(record.body),
        attributes=attributes(record.attributes),
        trace_id=record.trace_id.hex() or None,
        span_id=record.span_id.hex() or None,
        scope=scope,
        time_ns=record.time_unix_nano,
        observed_ns=record.observed_time_unix_nano,
    )

"""Telemetry as plain data: what a receiver understood of the protobuf messages it was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Attributes: TypeAlias = dict[str, Any]
"""Attribute values are str, bool, int, float, bytes, None, and lists and dicts of them."""


@dataclass(frozen=True)
class Scope:
    """The library that recorded something, and the process it ran in."""

    name: str
    version: str
    resource: Attributes


@dataclass(frozen=True)
class Event:
    """Something that happened during a span."""

    name: str
    attributes: Attributes
    time_ns: int


@dataclass(frozen=True)
class Link:
    """A span that another one points at."""

    trace_id: str
    span_id: str
    attributes: Attributes


@dataclass(frozen=True)
class Span:
    """A finished span. Ids are lower-case hexadecimal, times are ns since the epoch."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str | None
    kind: str  # INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER
    status: str  # UNSET, OK, ERROR
    status_description: str
    attributes: Attributes
    events: tuple[Event, ...]
    links: tuple[Link, ...]
    scope: Scope
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Exemplar:
    """A recorded value together with the span that was current then."""

    value: float
    trace_id: str
    span_id: str
    attributes: Attributes


@dataclass(frozen=True)
class MetricPoint:
    """One series at one time: a `value`, or for histograms `count`, `sum`, `bounds`, `buckets`.

    An exponential histogram has no explicit bounds: its `bounds` and `buckets` are empty.
    """

    name: str
    unit: str
    description: str
    type: str  # sum, gauge, histogram, exponential_histogram
    temporality: str | None  # CUMULATIVE, DELTA; None for a gauge
    monotonic: bool | None  # None unless a sum
    value: float | None
    count: int | None
    sum: float | None
    bounds: tuple[float, ...]
    buckets: tuple[int, ...]
    attributes: Attributes
    exemplars: tuple[Exemplar, ...]
    scope: Scope
    start_ns: int
    time_ns: int


@dataclass(frozen=True)
class LogRecord:
    """A log record; one with an `event_name` is an event. Ids are None outside a span."""

    event_name: str
    severity_text: str
    severity_number: int
    body: Any
    attributes: Attributes
    trace_id: str | None
    span_id: str | None
    scope: Scope
    time_ns: int
    observed_ns: int

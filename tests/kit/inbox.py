"""What arrived at a receiver, and how each call was treated."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition, Event

from google.protobuf.message import Message  # type: ignore[import-untyped]  # no stubs among the test tools
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.kit.faults import Fault, FaultPlan


@dataclass(frozen=True)
class Signal:
    """How one signal travels: its HTTP path, its gRPC service, its messages."""

    name: str
    path: str
    service: str
    request: type[Message]
    response: type[Message]


_PACKAGE = "opentelemetry.proto.collector"
SIGNALS = (
    Signal(
        "traces",
        "/v1/traces",
        f"{_PACKAGE}.trace.v1.TraceService",
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    ),
    Signal(
        "metrics",
        "/v1/metrics",
        f"{_PACKAGE}.metrics.v1.MetricsService",
        ExportMetricsServiceRequest,
        ExportMetricsServiceResponse,
    ),
    Signal(
        "logs",
        "/v1/logs",
        f"{_PACKAGE}.logs.v1.LogsService",
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
    ),
)


@dataclass(frozen=True)
class Request:
    """One call to a receiver.

    Attributes:
        protocol: http or grpc.
        path: HTTP path with query, or the full gRPC method.
        headers: Header or metadata values by lower-case name.
        message: The parsed protobuf message; None if the call was not understood.
        fault: How the call was treated.
    """

    protocol: str
    path: str
    headers: Mapping[str, str]
    message: Message | None
    fault: Fault

    @property
    def accepted(self) -> bool:
        """Whether the client was told, or would have been in the end, that this was taken."""
        return self.message is not None and not self.fault.refuses


@dataclass
class Inbox:
    """Every call so far. Endpoints fill it, each on threads of its own.

    Attributes:
        faults: Decides how calls are treated.
        closing: Set when calls that wait must give up.
    """

    faults: FaultPlan
    closing: Event = field(default_factory=Event)
    _requests: list[Request] = field(default_factory=list[Request])
    _arrival: Condition = field(default_factory=Condition)

    def requests(self) -> tuple[Request, ...]:
        """Return the calls so far, in the order of their arrival."""
        with self._arrival:
            return tuple(self._requests)

    def put(self, request: Request) -> None:
        """Add a call, and wait as long as its fault says before returning."""
        with self._arrival:
            self._requests.append(request)
            self._arrival.notify_all()
        if request.fault.hangs:
            self.closing.wait()
        elif request.fault.delay:
            self.closing.wait(request.fault.delay)

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Return as soon as a condition holds; it is looked at again when a call has arrived.

        Raises:
            TimeoutError: If it does not hold in time; says what has arrived until then.
        """
        deadline = time.monotonic() + seconds
        with self._arrival:
            while not condition():
                if not self._arrival.wait(deadline - time.monotonic()):
                    arrived = [(request.path, request.accepted) for request in self._requests]
                    message = f"not within {seconds} s; arrived (path, accepted): {arrived}"
                    raise TimeoutError(message)

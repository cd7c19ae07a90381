"""A real OTLP receiver on real sockets, that keeps what it is sent.

    with Receiver() as receiver:
        ...  # export to receiver.endpoint_http or receiver.endpoint_grpc
        receiver.wait_for(spans=2)
        assert [span.name for span in receiver.spans()] == ["a", "b"]

To misbehave: `receiver.faults.add(faults.UNAVAILABLE, faults.slow(0.2))` for the next two calls,
`Receiver(faults.HANG)` for all of them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import Message  # type: ignore[import-untyped]  # no stubs among the test tools
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.kit import decode
from tests.kit.faults import NONE, Fault, FaultPlan
from tests.kit.http_endpoint import http_endpoint
from tests.kit.inbox import Inbox, Request
from tests.kit.signals import LogRecord, MetricPoint, Span

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11 on

_Message = TypeVar("_Message", bound=Message)


class Receiver:
    """Receives OTLP over HTTP and gRPC on free ports of 127.0.0.1, each from its first use.

    Args:
        fault: How to treat every call for which `faults` plans nothing.
    """

    def __init__(self, fault: Fault = NONE) -> None:
        self._inbox = Inbox(FaultPlan(fault))
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End calls that still wait, connections, threads and servers. What arrived stays."""
        self._inbox.closing.set()
        self._resources.close()

    @cached_property
    def endpoint_http(self) -> str:
        """Base URL for OTLP over HTTP, as in OTEL_EXPORTER_OTLP_ENDPOINT."""
        return self._resources.enter_context(http_endpoint(self._inbox))

    @cached_property
    def endpoint_grpc(self) -> str:
        """URL for OTLP over gRPC, as in OTEL_EXPORTER_OTLP_ENDPOINT."""
        # Imported only here: a process that has started gRPC forks badly.
        from tests.kit.grpc_endpoint import grpc_endpoint  # noqa: PLC0415

        return self._resources.enter_context(grpc_endpoint(self._inbox))

    @property
    def faults(self) -> FaultPlan:
        """Decides how calls are treated; may be changed at any time."""
        return self._inbox.faults

    def requests(self) -> tuple[Request, ...]:
        """Return all calls in the order of their arrival, refused ones included."""
        return self._inbox.requests()

    def spans(self) -> tuple[Span, ...]:
        """Return the spans of accepted calls; one that was sent twice is there twice."""
        return tuple(chain.from_iterable(map(decode.spans, self._taken(ExportTraceServiceRequest))))

    def metrics(self, name: str | None = None) -> tuple[MetricPoint, ...]:
        """Return the metric points of accepted calls, of all collections.

        Args:
            name: Name of the metric; None for all.
        """
        messages = self._taken(ExportMetricsServiceRequest)
        points = chain.from_iterable(map(decode.metrics, messages))
        return tuple(point for point in points if name in {None, point.name})

    def logs(self) -> tuple[LogRecord, ...]:
        """Return the log records of accepted calls."""
        return tuple(chain.from_iterable(map(decode.logs, self._taken(ExportLogsServiceRequest))))

    def wait_for(
        self, *, spans: int = 0, metrics: int = 0, logs: int = 0, seconds: float = 5.0
    ) -> None:
        """Return as soon as at least this many spans, metric points and log records are there.

        Raises:
            TimeoutError: If they are not within so many seconds.
        """
        self.wait_until(
            lambda: (
                len(self.spans()) >= spans
                and len(self.metrics()) >= metrics
                and len(self.logs()) >= logs
            ),
            seconds,
        )

    def wait_until(self, condition: Callable[[], bool], seconds: float = 5.0) -> None:
        """Return as soon as a condition on this receiver holds.

        Raises:
            TimeoutError: If it does not within so many seconds.
        """
        self._inbox.wait_until(condition, seconds)

    def _taken(self, kind: type[_Message]) -> list[_Message]:
        return [
            request.message
            for request in self.requests()
            if request.accepted and isinstance(request.message, kind)
        ]


@contextmanager
def refusing_endpoint() -> Generator[str]:
    """Give the URL of a port that refuses connections, and keep others from taking it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"

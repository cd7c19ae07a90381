"""What a receiver on real sockets got of the runs of `exported_runs`, by protocol."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tests.kit.receiver import Receiver
from tests.kit.signals import LogRecord, MetricPoint, Span

PROTOCOLS = ("http/protobuf", "grpc")
SERVICE = "harbour"
_MAIN = "from tests.integration_crewai.exported_runs import main; raise SystemExit(main())"


@dataclass(frozen=True)
class Exported:
    """Everything that arrived."""

    spans: tuple[Span, ...]
    collected: tuple[MetricPoint, ...]
    logs: tuple[LogRecord, ...]

    @property
    def points(self) -> list[MetricPoint]:
        """The points of the last collection, which has the final values."""
        last = max(point.time_ns for point in self.collected)
        return [point for point in self.collected if point.time_ns == last]

    def of_run(self, name: str) -> list[Span]:
        """Return the spans of the trace whose root is the application's span of that name."""
        (root,) = (span for span in self.spans if span.name == name and span.parent_id is None)
        return [span for span in self.spans if span.trace_id == root.trace_id]

    def named(self, record: Any) -> str:
        """Return the name of the span that a log record or exemplar belongs to."""
        (name,) = (
            span.name
            for span in self.spans
            if (span.trace_id, span.span_id) == (record.trace_id, record.span_id)
        )
        return name


def exported(protocol: str) -> Exported:
    """Return what arrived over a protocol. The runs are done once: crewAI takes seconds to load."""
    return _exported()[protocol]


@functools.cache
def _exported() -> dict[str, Exported]:
    with ExitStack() as stack:
        receivers = {protocol: stack.enter_context(Receiver()) for protocol in PROTOCOLS}
        started = {protocol: _start(protocol, receivers[protocol]) for protocol in PROTOCOLS}
        for process in started.values():
            output, errors = process.communicate(timeout=100)
            assert (process.returncode, output.splitlines()[-1]) == (0, "[]"), errors
        return {
            protocol: Exported(receiver.spans(), receiver.metrics(), receiver.logs())
            for protocol, receiver in receivers.items()
        }


def _start(protocol: str, receiver: Receiver) -> subprocess.Popen[str]:
    endpoint = receiver.endpoint_grpc if protocol == "grpc" else receiver.endpoint_http
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        "OTEL_METRIC_EXPORT_INTERVAL": "3600000",
        "OTEL_SERVICE_NAME": SERVICE,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

"""A receiver can misbehave in each way that the official exporters must live with."""

from __future__ import annotations

import gc
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import (
    MetricExportResult,
    MetricsData,
)
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from tests.kit import faults
from tests.kit.exporters import Protocol, exporters_to
from tests.kit.faults import Fault
from tests.kit.receiver import Receiver, refusing_endpoint

SERVER_THREAD = re.compile(r"otlp|\((process_request_thread|_serve)\)")
both_protocols = pytest.mark.parametrize("protocol", ["http", "grpc"])
at_once_lost = pytest.mark.parametrize(
    "fault", [faults.UNAVAILABLE, faults.TOO_MANY_REQUESTS, faults.BAD_REQUEST, faults.RESET]
)


def a_span() -> ReadableSpan:
    """Return a finished span."""
    span = TracerProvider(shutdown_on_exit=False).get_tracer("t").start_span("a")
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def seconds_of(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    begin = time.monotonic()
    action()
    return time.monotonic() - begin


def sent(exporter: SpanExporter) -> bool:
    """Export a span; return whether the exporter says that it arrived."""
    return exporter.export([a_span()]) is SpanExportResult.SUCCESS


@both_protocols
@at_once_lost
def test_refused_call_is_not_taken(protocol: Protocol, fault: Fault) -> None:
    with (
        Receiver(fault) as receiver,
        exporters_to(receiver, protocol, timeout=0.3) as official,
    ):
        assert not sent(official.spans)
        assert receiver.spans() == ()
        assert {request.fault for request in receiver.requests()} == {fault}
        assert [request.accepted for request in receiver.requests()][:1] == [False]


def test_reset_is_a_reset() -> None:
    with Receiver(faults.RESET) as receiver, socket.socket() as client:
        client.settimeout(5)
        client.connect(("127.0.0.1", int(receiver.endpoint_http.rpartition(":")[2])))
        head = "POST /v1/traces HTTP/1.1\r\ncontent-length: 0\r\n"
        client.sendall(f"{head}content-type: application/x-protobuf\r\n\r\n".encode())
        with pytest.raises(ConnectionResetError):
            client.recv(1)


@both_protocols
def test_exporter_tries_again_after_unavailable(protocol: Protocol, receiver: Receiver) -> None:
    receiver.faults.add(faults.UNAVAILABLE)
    with exporters_to(receiver, protocol) as official:
        assert sent(official.spans)
    assert [request.accepted for request in receiver.requests()] == [False, True]
    assert [span.name for span in receiver.spans()] == ["a"]


@both_protocols
def test_slow_call_is_taken(protocol: Protocol, receiver: Receiver) -> None:
    receiver.faults.add(faults.slow(0.3))
    with exporters_to(receiver, protocol) as official:
        assert seconds_of(lambda: sent(official.spans)) >= 0.3
        assert seconds_of(lambda: sent(official.spans)) < 0.3
    assert [span.name for span in receiver.spans()] == ["a", "a"]


@both_protocols
def test_hanging_call_ends_with_the_exporters_patience(protocol: Protocol) -> None:
    with (
        Receiver(faults.HANG) as receiver,
        exporters_to(receiver, protocol, timeout=0.3) as official,
    ):
        assert 0.2 < seconds_of(lambda: sent(official.spans)) < 3
        assert receiver.spans() == ()
        assert receiver.requests()


@both_protocols
def test_close_ends_a_hanging_call_and_leaves_no_thread(protocol: Protocol) -> None:
    before = set(threading.enumerate())
    receiver = Receiver(faults.HANG)
    with exporters_to(receiver, protocol, timeout=20) as official:
        client = threading.Thread(target=sent, args=(official.spans,))
        client.start()
        receiver.wait_until(lambda: bool(receiver.requests()))
        names = [thread.name for thread in set(threading.enumerate()) - before]
        assert [name for name in names if SERVER_THREAD.search(name)] != []
        assert seconds_of(receiver.close) < 1
        left = [thread.name for thread in set(threading.enumerate()) - before]
        assert [name for name in left if SERVER_THREAD.search(name)] == []
        official.spans.shutdown()
        client.join(10)
        assert not client.is_alive()


def test_close_with_an_idle_connection_is_quick_and_frees_the_port() -> None:
    receiver = Receiver()
    with exporters_to(receiver, "http") as official:
        assert sent(official.spans)
        port = int(receiver.endpoint_http.rpartition(":")[2])
        assert seconds_of(receiver.close) < 0.5
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    gc.collect()  # a socket left open would warn now, and a warning is an error


def test_faults_of_one_signal_leave_the_others_alone(receiver: Receiver) -> None:
    receiver.faults.add(faults.BAD_REQUEST, signal="metrics")
    with exporters_to(receiver, "http") as official:
        exporter: Any = official.metrics  # it has **kwargs without a type
        assert sent(official.spans)
        assert exporter.export(MetricsData([])) is MetricExportResult.FAILURE
        assert exporter.export(MetricsData([])) is MetricExportResult.SUCCESS


def test_planned_none_lets_a_call_pass() -> None:
    with Receiver(faults.BAD_REQUEST) as receiver, exporters_to(receiver, "http") as official:
        receiver.faults.add(faults.NONE)
        assert [sent(official.spans), sent(official.spans)] == [True, False]


@pytest.mark.parametrize(
    ("path", "kind", "body", "status"),
    [
        ("/v1/spans", "application/x-protobuf", b"", 404),
        ("/v1/traces/", "application/x-protobuf", b"", 404),
        ("/v1/traces", "application/json", b"{}", 400),
        ("/v1/traces", "application/x-protobuf", b"\xff", 400),
    ],
)
def test_what_is_not_understood_is_refused_and_kept(
    receiver: Receiver, path: str, kind: str, body: bytes, status: int
) -> None:
    url = receiver.endpoint_http + path
    request = urllib.request.Request(url, body, {"content-type": kind})  # noqa: S310 - http
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=5)  # noqa: S310 - http, to ourselves
    refused.value.close()
    assert refused.value.code == status
    assert [(kept.path, kept.accepted) for kept in receiver.requests()] == [(path, False)]


def test_waiting_in_vain_says_what_arrived(receiver: Receiver) -> None:
    with exporters_to(receiver, "http") as official:
        assert sent(official.spans)
    receiver.wait_for(spans=1)
    with pytest.raises(TimeoutError, match=r"not within 0.01 s; .*\('/v1/traces', True\)"):
        receiver.wait_for(spans=2, seconds=0.01)


def test_refusing_endpoint_refuses() -> None:
    with refusing_endpoint() as url, socket.socket() as client:
        port = int(url.rpartition(":")[2])
        with pytest.raises(ConnectionRefusedError):
            client.connect(("127.0.0.1", port))

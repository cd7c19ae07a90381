"""OTLP over gRPC, on the services of opentelemetry-proto."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc  # type: ignore[import-untyped]  # no stubs among the test tools
from google.protobuf.message import Message  # type: ignore[import-untyped]  # no stubs among the test tools

from tests.kit.inbox import SIGNALS, Inbox, Request, Signal

_CALLS_AT_ONCE = 8


def _export(inbox: Inbox, signal: Signal) -> Callable[[Message, grpc.ServicerContext], Message]:
    """Return the Export method of a signal's service."""

    def export(message: Message, context: grpc.ServicerContext) -> Message:
        headers = {name: str(text) for name, text in context.invocation_metadata()}
        fault = inbox.faults.take(signal.name)
        inbox.put(Request("grpc", f"/{signal.service}/Export", headers, message, fault))
        if fault.grpc:
            context.abort(grpc.StatusCode[fault.grpc], "as planned by the test")
        return signal.response()

    return export


def _handler(inbox: Inbox, signal: Signal) -> grpc.GenericRpcHandler:
    method = grpc.unary_unary_rpc_method_handler(
        _export(inbox, signal),
        request_deserializer=signal.request.FromString,
        response_serializer=signal.response.SerializeToString,
    )
    return grpc.method_handlers_generic_handler(signal.service, {"Export": method})


@contextmanager
def grpc_endpoint(inbox: Inbox) -> Generator[str]:
    """Serve OTLP over gRPC without TLS; give the URL, whose scheme tells exporters that."""
    with ThreadPoolExecutor(_CALLS_AT_ONCE, thread_name_prefix="otlp-grpc") as threads:
        server = grpc.server(threads, options=[("grpc.so_reuseport", 0)])
        server.add_generic_rpc_handlers([_handler(inbox, signal) for signal in SIGNALS])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.stop(grace=None).wait()

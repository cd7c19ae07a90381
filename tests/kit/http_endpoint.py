"""OTLP over HTTP/1.1: protobuf bodies, plain or compressed."""

from __future__ import annotations

import gzip
import socket
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, cast

from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]  # no stubs among the test tools

from tests.kit.faults import NONE
from tests.kit.inbox import SIGNALS, Inbox, Request, Signal

PROTOBUF = "application/x-protobuf"


class _Server(ThreadingHTTPServer):
    """Joins the threads of its connections when it closes, and ends the connections for that."""

    daemon_threads = False

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self._lock:
            self._open.discard(cast("socket.socket", request))
        super().shutdown_request(request)

    def server_close(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # the client was first
                    connection.shutdown(socket.SHUT_RD)
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]  # only _Server makes it
    connection: socket.socket

    def handle_one_request(self) -> None:
        """Take the end of the connection, however a client makes it, as the end."""
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name
        """Keep the test output clean."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): text for name, text in self.headers.items()}
        signal = next((signal for signal in SIGNALS if signal.path == self.path), None)
        message = _parse(signal, headers, body) if signal else None
        if signal is None or message is None:
            self.server.inbox.put(Request("http", self.path, headers, None, NONE))
            self._answer(400 if signal else 404, b"")
            return
        fault = self.server.inbox.faults.take(signal.name)
        self.server.inbox.put(Request("http", self.path, headers, message, fault))
        if fault.resets:
            _reset(self.connection)
        if fault.resets or fault.hangs:
            self.close_connection = True
            return
        self._answer(fault.http or 200, signal.response().SerializeToString())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", PROTOBUF)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _parse(signal: Signal, headers: dict[str, str], body: bytes) -> Message | None:
    """Return the message in a body; None if there is none of the right kind."""
    if headers.get("content-type") != PROTOBUF:
        return None
    message = signal.request()
    try:
        message.ParseFromString(_decompress(headers.get("content-encoding", "identity"), body))
    except (DecodeError, OSError, EOFError, ValueError, zlib.error):
        return None
    return message


def _decompress(encoding: str, body: bytes) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(body)
    if encoding == "deflate":
        return zlib.decompress(body)
    if encoding == "identity":
        return body
    raise ValueError(encoding)


def _reset(connection: socket.socket) -> None:
    """Close with RST instead of FIN, as lingering for zero seconds does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@contextmanager
def http_endpoint(inbox: Inbox) -> Generator[str]:
    """Serve OTLP over HTTP; give the base URL, to which exporters add `/v1/traces` and so on."""
    with _Server(inbox) as server:
        # The main loop looks this often (in seconds) whether to stop.
        thread = Thread(target=server.serve_forever, args=(0.02,), name="otlp-http", daemon=True)
        thread.start()
        try:
            port = cast("tuple[str, int]", server.server_address)[1]
            yield f"http://127.0.0.1:{port}"
        finally:
            server.shutdown()
            thread.join()

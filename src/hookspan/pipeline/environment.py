"""What the standard ``OTEL_*`` variables ask for."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

logger = logging.getLogger("hookspan")

SIGNALS = ("traces", "metrics", "logs")
"""The three signals, as the variables name them."""

_PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


@dataclass(frozen=True)
class Target:
    """Where a signal goes.

    Attributes:
        signal: One of `SIGNALS`.
        exporters: Names of the exporters, as their entry points have them; empty for none.
        endpoint: Where the OTLP one among them sends to; None without one.
        asked: Whether a variable says which exporters, be it none.
    """

    signal: str
    exporters: tuple[str, ...]
    endpoint: str | None
    asked: bool


def is_disabled() -> bool:
    """Tell whether ``OTEL_SDK_DISABLED`` switches the SDK off."""
    return os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def target_of(signal: str) -> Target:
    """Return where the environment wants a signal to go.

    Without an endpoint nothing is sent: the SDK's default of a collector on this machine is taken
    only when ``OTEL_<SIGNAL>_EXPORTER`` asks for OTLP by name.
    """
    asked = _variable(f"OTEL_{signal.upper()}_EXPORTER")
    endpoint = _endpoint(signal)
    names = asked.split(",") if asked else ["otlp"] if endpoint else []
    found = [_entry_point(signal, name.strip()) for name in names if name.strip() != "none"]
    exporters = tuple(name for name in found if name)
    sends = any(name.startswith("otlp_proto") for name in exporters)
    default = "http://localhost:4317" if _protocol(signal) == "grpc" else "http://localhost:4318"
    return Target(signal, exporters, (endpoint or default) if sends else None, bool(asked))


def make_exporter(signal: str, name: str) -> Any:
    """Make the exporter that an entry point names; it reads the rest of the variables itself."""
    (point,) = entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
    return point.load()()


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _endpoint(signal: str) -> str:
    own = _variable(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    return own or _variable("OTEL_EXPORTER_OTLP_ENDPOINT")


def _protocol(signal: str) -> str:
    own = _variable(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL")
    return own or _variable("OTEL_EXPORTER_OTLP_PROTOCOL") or "http/protobuf"


def _entry_point(signal: str, name: str) -> str | None:
    """Return the entry point for an exporter's name; say so when there is none."""
    if name == "otlp":
        protocol = _protocol(signal)
        if protocol in _PROTOCOLS:
            return _PROTOCOLS[protocol]
        known = " or ".join(_PROTOCOLS)
        logger.warning("OTLP protocol %r is unknown, use %s: taking http/protobuf", protocol, known)
        return _PROTOCOLS["http/protobuf"]
    if not entry_points(group=f"opentelemetry_{signal}_exporter", name=name):
        logger.warning(
            "OTEL_%s_EXPORTER=%s: no such exporter is installed, %s go nowhere",
            signal.upper(),
            name,
            signal,
        )
        return None
    return name

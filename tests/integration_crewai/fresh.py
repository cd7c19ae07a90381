"""OpenTelemetry as in a process in which nobody has set a provider."""

# A process can set a provider once; that is undone here.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from opentelemetry import _logs, metrics, trace
from opentelemetry._logs import _internal as logs_internal
from opentelemetry.metrics import _internal as metrics_internal
from opentelemetry.util._once import Once

from hookspan.pipeline import providers

_GLOBALS: tuple[tuple[Any, str, Any], ...] = (
    (trace, "TRACER", trace.ProxyTracerProvider),
    (metrics_internal, "METER", metrics_internal._ProxyMeterProvider),
    (logs_internal, "LOGGER", logs_internal.ProxyLoggerProvider),
)


@pytest.fixture
def fresh_providers(
    switched_off: None, monkeypatch: pytest.MonkeyPatch
) -> Generator[pytest.MonkeyPatch]:
    """Give an environment without a variable of OpenTelemetry's and no provider at all."""
    for module, signal, proxy in _GLOBALS:
        monkeypatch.setattr(module, f"_{signal}_PROVIDER", None)
        monkeypatch.setattr(module, f"_{signal}_PROVIDER_SET_ONCE", Once())
        monkeypatch.setattr(module, f"_PROXY_{signal}_PROVIDER", proxy())
    monkeypatch.setattr(providers, "_ENDED", set[str]())
    providers._DELIVERY.reset()
    yield monkeypatch
    providers.close(0.0)


def current() -> list[Any]:
    """The three providers that are set."""
    return [trace.get_tracer_provider(), metrics.get_meter_provider(), _logs.get_logger_provider()]

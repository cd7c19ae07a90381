"""Whether anybody takes what is recorded."""

from __future__ import annotations

from typing import Any

_API_PACKAGES = ("opentelemetry.trace", "opentelemetry.metrics", "opentelemetry._logs")


def is_stand_in(provider: Any) -> bool:
    """Tell whether a provider is one of the API's own, which take nothing.

    Args:
        provider: A tracer, meter or logger provider.
    """
    return type(provider).__module__.startswith(_API_PACKAGES)

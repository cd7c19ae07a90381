"""The name under which telemetry is sent when the user has given none."""

from __future__ import annotations

import os


def name_service(name: str) -> None:
    """Set ``service.name``, unless the environment does.

    Args:
        name: The name.
    """
    given = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    keys = {item.partition("=")[0].strip() for item in given.split(",")}
    if "service.name" not in keys:
        os.environ.setdefault("OTEL_SERVICE_NAME", name)

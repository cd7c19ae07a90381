"""Model and tool calls that crewAI began, from its own events: the one use of its event bus.

A dispatch is seen where a hook is asked; what a hook was never asked about is seen only here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from hookspan.contract.points import InterceptionPoint
from hookspan.engine.guard import GUARD

_EVENTS = (
    ("crewai.events.types.llm_events", "LLMCallStartedEvent", InterceptionPoint.PRE_MODEL_CALL),
    (
        "crewai.events.types.tool_usage_events",
        "ToolUsageStartedEvent",
        InterceptionPoint.PRE_TOOL_CALL,
    ),
)


def count_operations(count: Callable[[str], None]) -> Callable[[], None]:
    """Count operations as crewAI tells of them.

    Args:
        count: Called with the value of the point that stands before the operation.

    Returns:
        What ends that.
    """
    bus: Any = importlib.import_module("crewai.events.event_bus").crewai_event_bus
    handlers: list[tuple[Any, Any]] = []
    for module, name, point in _EVENTS:
        event = getattr(importlib.import_module(module), name, None)
        if event is not None:
            handler = _handler(count, point.value)
            bus.register_handler(event, handler)
            handlers.append((event, handler))

    def undo() -> None:
        for event, handler in handlers:
            bus.off(event, handler)

    return undo


def _handler(count: Callable[[str], None], point: str) -> Callable[[Any, Any], None]:
    def handler(_source: Any, _event: Any) -> None:
        try:
            count(point)
        except Exception as error:  # noqa: BLE001 - telemetry must not break a run
            GUARD.failed("operation.count", error)

    return handler

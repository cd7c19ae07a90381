"""What a user's values look like when they leave the process, which they do only on request."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hookspan.telemetry import semconv
from hookspan.telemetry.names import bounded_text, is_text
from hookspan.telemetry.settings import Settings

_ON_SPANS = ("span_only", "span_and_event")
_ON_EVENTS = ("event_only", "span_and_event")
_SECRET = (semconv.CREWAI_HOOK_POINT_MCP_CONNECT,)
"""Points whose payload holds credentials: it never leaves, whatever is switched on."""

_VALUES = ("payload", "response", "tool_result", "messages", "tool_input")


def captured_text(value: object, settings: Settings) -> tuple[str, bool]:
    """Return a text of a user's as it may leave the process: redacted, then cut.

    Args:
        value: The text; of anything else only the class is told.
        settings: Holds the redactor.

    Returns:
        The text, and whether something was cut off. A redactor that fails leaves nothing of it.
    """
    if settings.redactor is None or not is_text(value):
        return bounded_text(value)
    try:
        return bounded_text(str(settings.redactor(value)))
    except Exception as error:  # noqa: BLE001 - a user's redactor; when in doubt nothing leaves
        return f"<redactor failed: {type(error).__qualname__}>", False


def on_span(point: str, ctx: Any, settings: Settings) -> dict[str, Any]:
    """Return what a span may hold of the payload: nothing unless that is switched on."""
    return _payload(point, ctx, settings) if settings.capture_content in _ON_SPANS else {}


def on_record(point: str, ctx: Any, settings: Settings) -> dict[str, Any]:
    """Return what an audit record may hold of the payload: nothing unless that is switched on."""
    return _payload(point, ctx, settings) if settings.capture_content in _ON_EVENTS else {}


def _payload(point: str, ctx: Any, settings: Settings) -> dict[str, Any]:
    if point in _SECRET or (settings.content_points and point not in settings.content_points):
        return {}
    text = _rendered(ctx)
    data = text.encode("utf-8", "replace")
    return {
        semconv.CREWAI_HOOK_PAYLOAD_SIZE: len(data),
        semconv.CREWAI_HOOK_PAYLOAD_DIGEST: hashlib.sha256(data).hexdigest()[:16],
        semconv.CREWAI_HOOK_PAYLOAD_CONTENT: captured_text(text, settings)[0],
    }


def _rendered(ctx: Any) -> str:
    """Render the first value of a context that there is; of what cannot be rendered the class."""
    value: Any = None
    try:
        for name in _VALUES:
            value = getattr(ctx, name, None)
            if value is not None and value is not ctx:
                break
        return value if isinstance(value, str) else json.dumps(value, default=str)
    except Exception:  # noqa: BLE001 - whatever a user's value does when it is rendered
        return f"<{type(value).__qualname__}>"

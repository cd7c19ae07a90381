"""Aborts and errors as attributes: who, what class, and the words only where that is allowed."""

from __future__ import annotations

from typing import Any

from hookspan.telemetry import semconv
from hookspan.telemetry.content import captured_text
from hookspan.telemetry.names import source_label, type_name
from hookspan.telemetry.settings import Settings


def abort_attributes(abort: BaseException, settings: Settings) -> dict[str, Any]:
    """Return who aborted and, unless that is switched off, why."""
    attributes: dict[str, Any] = {
        semconv.CREWAI_HOOK_ABORT_SOURCE: source_label(getattr(abort, "source", None))
    }
    if settings.capture_abort_reason:
        reason, cut = captured_text(getattr(abort, "reason", ""), settings)
        attributes[semconv.CREWAI_HOOK_ABORT_REASON] = reason
        if cut:
            attributes[semconv.CREWAI_HOOK_ABORT_REASON_TRUNCATED] = True
    return attributes


def error_attributes(error: BaseException, settings: Settings) -> dict[str, Any]:
    """Return the class of an error and, only when that is switched on, its message."""
    attributes: dict[str, Any] = {semconv.EXCEPTION_TYPE: type_name(type(error))}
    if settings.capture_exception_message:
        attributes[semconv.EXCEPTION_MESSAGE] = message_of(error, settings)
    return attributes


def message_of(error: BaseException, settings: Settings) -> str:
    """Return the message of an error, redacted and cut; nothing when it cannot be rendered."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a hostile __str__ says nothing
        return ""
    return captured_text(text, settings)[0]

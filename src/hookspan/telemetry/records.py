"""Audit records: one log record for each abort, each crashed hook and each failed run."""

from __future__ import annotations

import time
from typing import Any

from opentelemetry._logs import Logger, SeverityNumber
from opentelemetry.context import Context

from hookspan.telemetry import semconv

_SEVERITIES = {
    semconv.EVENT_CREWAI_HOOK_ABORTED: (SeverityNumber.WARN, "WARN"),
    semconv.EVENT_CREWAI_HOOK_EXCEPTION: (SeverityNumber.WARN, "WARN"),
    semconv.EVENT_CREWAI_EXECUTION_EXCEPTION: (SeverityNumber.ERROR, "ERROR"),
}


def emit(logger: Logger, event: str, attributes: dict[str, Any], context: Context) -> None:
    """Emit one audit record. It is not sampled.

    Args:
        logger: Takes it.
        event: Its event name; the severity follows from it.
        attributes: What it says.
        context: Holds the span that it belongs to.
    """
    number, text = _SEVERITIES[event]
    logger.emit(
        timestamp=time.time_ns(),
        context=context,
        severity_number=number,
        severity_text=text,
        attributes=attributes,
        event_name=event,
    )

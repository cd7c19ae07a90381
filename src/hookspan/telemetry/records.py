"""Audit records: one log record for each abort, each crash, each shadow abort, each failed run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from opentelemetry._logs import Logger, SeverityNumber
from opentelemetry.context import Context

from hookspan.telemetry import semconv

logger = logging.getLogger("hookspan")
audit = logging.getLogger("hookspan.audit")

_INFO = (SeverityNumber.INFO, "INFO", logging.INFO)
_WARN = (SeverityNumber.WARN, "WARN", logging.WARNING)
_ERROR = (SeverityNumber.ERROR, "ERROR", logging.ERROR)
_SEVERITIES = {
    semconv.EVENT_CREWAI_HOOK_ABORTED: _WARN,
    semconv.EVENT_CREWAI_HOOK_EXCEPTION: _WARN,
    semconv.EVENT_CREWAI_HOOK_WOULD_ABORT: _INFO,
    semconv.EVENT_CREWAI_EXECUTION_EXCEPTION: _ERROR,
}

QUIET = 60.0
"""How long a record of one kind is not repeated on the logging fallback, in seconds."""

_MOST_KINDS = 1000

_NEVER_LOGGED = frozenset({semconv.CREWAI_HOOK_PAYLOAD_CONTENT})
"""What is asked for on audit records and has no business on a terminal."""


class Records:
    """Writes audit records. They are not sampled.

    Where the application has set no provider for logs, the standard logger ``hookspan.audit`` takes
    them: one of each event, point and hook a minute.

    Args:
        logger: Takes them.
        has_provider: Tells whether anybody takes what goes to the logger.
    """

    def __init__(self, logger: Logger, has_provider: Callable[[], bool]) -> None:
        self._logger = logger
        self._has_provider = has_provider
        self._written: dict[tuple[Any, ...], float] = {}
        self._slow: set[tuple[str, str]] = set()

    def emit(
        self, event: str, attributes: dict[str, Any], context: Context, *, severe: bool = False
    ) -> None:
        """Write one record.

        Args:
            event: Its event name; the severity follows from it.
            attributes: What it says.
            context: Holds the span that it belongs to.
            severe: Whether it is an ERROR whatever the event is.
        """
        number, text, level = _ERROR if severe else _SEVERITIES[event]
        if not self._has_provider():
            self._log(event, attributes, level)
            return
        self._logger.emit(
            timestamp=time.time_ns(),
            context=context,
            severity_number=number,
            severity_text=text,
            attributes=attributes,
            event_name=event,
        )

    def warn_of_budget(self, point: str, hook: str, duration: float) -> None:
        """Log, the first time only, that a hook took longer than its budget.

        Args:
            point: The point's value.
            hook: The hook's name.
            duration: How long it took, in seconds.
        """
        if (point, hook) in self._slow or len(self._slow) >= _MOST_KINDS:
            return
        self._slow.add((point, hook))
        message = "%s at %s took %.3f s, more than its budget; from now on that is only counted"
        logger.warning(message, hook, point, duration)

    def _log(self, event: str, attributes: dict[str, Any], level: int) -> None:
        kind = (
            event,
            attributes.get(semconv.CREWAI_HOOK_POINT),
            attributes.get(semconv.CREWAI_HOOK_NAME),
        )
        now = time.monotonic()
        last = self._written.get(kind)
        if last is not None and now - last < QUIET:
            return
        if len(self._written) >= _MOST_KINDS:
            self._written.clear()
        self._written[kind] = now
        told = " ".join(
            f"{key}={value!r}"
            for key, value in sorted(attributes.items())
            if key not in _NEVER_LOGGED
        )
        audit.log(level, "%s %s", event, told)

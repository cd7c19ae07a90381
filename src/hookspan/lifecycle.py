"""Setting telemetry up and ending it, in one call each."""

from __future__ import annotations

import logging
from typing import Any

from hookspan.integrations.crewai.instrumentor import instrument, uninstrument
from hookspan.pipeline.providers import EXIT_TIMEOUT, close, provide
from hookspan.telemetry.settings import Settings

logger = logging.getLogger("hookspan")


def configure(**settings: Any) -> None:
    """Set telemetry up as the standard ``OTEL_*`` variables say, and instrument.

    A provider is made only for a signal for which the application has set none. A second call
    changes nothing.

    Args:
        **settings: As for `hookspan.instrument`, without the providers.

    Raises:
        InstrumentationError: As for `hookspan.instrument`. A wrong setting leaves no provider
            behind.
    """
    Settings.load(settings)
    silent = [made.signal for made in provide() if not made.exporters and not made.asked]
    if silent:
        logger.warning(
            "no OTLP endpoint is set, %s stay in this process: set OTEL_EXPORTER_OTLP_ENDPOINT",
            ", ".join(silent),
        )
    instrument(**settings)


def shutdown(timeout: float = EXIT_TIMEOUT) -> bool:
    """Send everything, end the instrumentation and the providers that `configure` made.

    Args:
        timeout: How long to wait for what is to be sent, in seconds.

    Returns:
        Whether all of it was delivered; see `hookspan.flush`. What providers of the application's
        hold is theirs to send. Where `configure` made providers, the spans of runs that are still
        open end here, with ``crewai.execution.closed_by=shutdown``: the rest would reach nobody.
    """
    uninstrument()
    return close(timeout)

"""Where telemetry goes, and whether it has arrived."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from urllib.parse import urlsplit

from hookspan.pipeline.environment import is_disabled, target_of
from hookspan.pipeline.providers import EXIT_GRACE, close, own_signals

TIMEOUT = 3.0
"""How long the command line waits for telemetry to be delivered, in seconds."""

_NOISY = ("opentelemetry.exporter", "opentelemetry.sdk")
_SUGGESTION = "set OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 to send it"


@dataclass(frozen=True)
class Delivery:
    """What became of the telemetry.

    Attributes:
        disabled: Whether ``OTEL_SDK_DISABLED`` has switched it off.
        targets: Where each signal went, by signal; without those that went nowhere.
        delivered: Whether all of it has arrived; also true when there was nothing to send.
    """

    disabled: bool
    targets: dict[str, str]
    delivered: bool

    @property
    def line(self) -> str:
        """The same in one line for a person."""
        if self.disabled:
            return "OTEL_SDK_DISABLED=true: nothing was recorded"
        if not self.targets:
            return f"no OTLP endpoint is set: nothing left this process; {_SUGGESTION}"
        where = "; ".join(
            f"{_listed([name for name, its in self.targets.items() if its == target])} to {target}"
            for target in dict.fromkeys(self.targets.values())
        )
        if self.delivered:
            return f"telemetry was delivered: {where}"
        return (
            f"telemetry was NOT all delivered within {TIMEOUT + EXIT_GRACE:.1f} s: {where};"
            " is it listening?"
        )


def find_targets() -> dict[str, str]:
    """Return where each signal goes whose provider was made here; without what goes nowhere."""
    found = {signal: target_of(signal) for signal in own_signals()}
    return {
        signal: _shown(target.endpoint) if target.endpoint else ", ".join(target.exporters)
        for signal, target in found.items()
        if target.exporters
    }


def deliver(targets: dict[str, str]) -> Delivery:
    """Send what is left and end the providers, within `TIMEOUT` and `EXIT_GRACE`.

    Args:
        targets: Where each signal goes, from before anybody could end the providers.
    """
    return Delivery(is_disabled(), targets, close(TIMEOUT))


def silence_exporters() -> None:
    """Let one line at the end say what the SDK would say at every failed export."""
    for name in _NOISY:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.CRITICAL + 1)


def _shown(endpoint: str) -> str:
    """Return an endpoint without what may be secret in it: user, password and query."""
    parts = urlsplit(endpoint)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _listed(names: list[str]) -> str:
    """Return names as ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

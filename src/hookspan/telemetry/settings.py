"""What telemetry may be told to do, by argument or by environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hookspan.contract.errors import InstrumentationError
from hookspan.contract.points import InterceptionPoint

logger = logging.getLogger("hookspan")

PREFIX = "OTEL_INSTRUMENTATION_CREWAI_HOOKS_"
"""What the name of every environment variable of ours begins with."""


@dataclass(frozen=True)
class Settings:
    """Settings of the instrumentation, never changed once made.

    Each may be given as an argument of that name or as an environment variable: the prefix
    ``OTEL_INSTRUMENTATION_CREWAI_HOOKS_`` and the name in capitals. An argument wins. An empty
    variable counts as unset, an invalid one as unset too, with one warning.

    Attributes:
        spans: ``all``, or ``off`` for no dispatch spans.
        execution_span: Whether runs get a span of their own; ``off`` for those who have another's.
        abort_status: Status of an aborted dispatch's span: ``unset``, since the policy worked as
            designed, or ``error``.
        capture_abort_reason: Whether the reason of an abort leaves the process.
        capture_exception_message: Whether the message of an exception does.
        points: Points that telemetry covers; empty for all. Hooks run at every point regardless.
        require_points: Points without which `instrument` is to raise.
        max_workflow_names: How many workflow names metrics tell apart; further ones read
            ``_OTHER``.
        max_sources: The same for the sources of aborts.
        max_hook_names: The same for hooks.
    """

    spans: str = "all"
    execution_span: bool = True
    abort_status: str = "unset"
    capture_abort_reason: bool = True
    capture_exception_message: bool = False
    points: frozenset[str] = frozenset()
    require_points: frozenset[str] = frozenset()
    max_workflow_names: int = 128
    max_sources: int = 64
    max_hook_names: int = 64

    @classmethod
    def load(
        cls, arguments: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
    ) -> Settings:
        """Make settings from arguments and environment.

        Args:
            arguments: Values by name, or their text as in a variable; None counts as not given.
            environ: The environment; None for that of the process.

        Raises:
            InstrumentationError: An argument is unknown or its value invalid.
        """
        environ = os.environ if environ is None else environ
        values = _from_environment(environ)
        for name, value in (arguments or {}).items():
            if name not in _PARSERS:
                known = ", ".join(sorted(_PARSERS))
                message = f"{name}= is not a setting of hookspan; the settings are {known}"
                raise InstrumentationError(message)
            if value is not None:
                values[name] = _from_argument(name, value)
        return cls(**values)


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, parse in _PARSERS.items():
        variable = PREFIX + name.upper()
        text = environ.get(variable, "").strip()
        if not text:
            continue
        try:
            values[name] = parse(text)
        except ValueError as error:
            logger.warning("%s=%r is ignored: %s", variable, text, error)
    return values


def _from_argument(name: str, value: Any) -> Any:
    """Read an argument as its variable would be read."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif not isinstance(value, str | int):
        value = ",".join(str(getattr(item, "value", item)) for item in value)
    try:
        return _PARSERS[name](str(getattr(value, "value", value)))
    except ValueError as error:
        message = f"{name}={value!r} is not valid: {error}"
        raise InstrumentationError(message) from None


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            message = f"expected one of {', '.join(allowed)}"
            raise ValueError(message)
        return text.lower()

    return parse


def _flag(text: str) -> bool:
    known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
    if text.lower() not in known:
        message = "expected true or false"
        raise ValueError(message)
    return known[text.lower()]


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        message = "expected a whole number of at least 1"
        raise ValueError(message)
    return int(text)


def _points(text: str) -> frozenset[str]:
    names = {name.strip().lower() for name in text.split(",") if name.strip()}
    unknown = names - {point.value for point in InterceptionPoint}
    if unknown:
        message = f"unknown points {', '.join(sorted(unknown))}"
        raise ValueError(message)
    return frozenset(names)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "spans": _choice("all", "off"),
    "execution_span": _flag,
    "abort_status": _choice("unset", "error"),
    "capture_abort_reason": _flag,
    "capture_exception_message": _flag,
    "points": _points,
    "require_points": _points,
    "max_workflow_names": _count,
    "max_sources": _count,
    "max_hook_names": _count,
}

"""What telemetry may be told to do, by argument or by environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from hookspan.contract.errors import InstrumentationError
from hookspan.contract.points import InterceptionPoint

logger = logging.getLogger("hookspan")

Redactor = Callable[[str], str]

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
        hook_spans: Whether each hook of a dispatch gets a span below it: ``auto`` where there is
            more than one, ``always``, or ``never``.
        execution_span: Whether runs get a span of their own; ``off`` for those who have another's.
        abort_status: Status of an aborted dispatch's span: ``unset``, since the policy worked as
            designed, or ``error``.
        capture_abort_reason: Whether the reason of an abort leaves the process.
        capture_exception_message: Whether the message of an exception does.
        points: Points that telemetry covers; empty for all. Hooks run at every point regardless.
        require_points: Points without which `instrument` is to raise.
        fail_closed: Patterns of names of hooks whose crash is to abort.
        shadow: Patterns of names of hooks whose decision is only to be recorded.
        hook_budget_ms: How long a hook may take before that is reported, in milliseconds; None for
            no bound. One that is registered with ``budget=`` has its own.
        capture_content: Whether payloads leave the process: ``no_content``, ``span_only``,
            ``event_only`` (in audit records) or ``span_and_event``.
        content_points: Points at which they do, where they do; empty for all.
        redactor: Called with each text of a user's that is to leave the process (reasons, messages,
            payloads); returns what leaves instead. An argument only.
        max_workflow_names: How many workflow names metrics tell apart; further ones read
            ``_OTHER``.
        max_sources: The same for the sources of aborts.
        max_hook_names: The same for hooks.
    """

    spans: str = "all"
    hook_spans: str = "auto"
    execution_span: bool = True
    abort_status: str = "unset"
    capture_abort_reason: bool = True
    capture_exception_message: bool = False
    points: frozenset[str] = frozenset()
    require_points: frozenset[str] = frozenset()
    fail_closed: tuple[str, ...] = ()
    shadow: tuple[str, ...] = ()
    hook_budget_ms: int | None = None
    capture_content: str = "no_content"
    content_points: frozenset[str] = frozenset()
    redactor: Redactor | None = None
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
            if name == "redactor":
                values[name] = _checked_redactor(value)
                continue
            if name not in _PARSERS:
                known = ", ".join(sorted([*_PARSERS, "redactor"]))
                message = f"{name}= is not a setting of hookspan; the settings are {known}"
                raise InstrumentationError(message)
            if value is not None:
                values[name] = _from_argument(name, value)
        return cls(**values)


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, parse in _PARSERS.items():
        variable = _STANDARD.get(name, PREFIX + name.upper())
        text = environ.get(variable, "").strip()
        if not text:
            continue
        try:
            values[name] = parse(text)
        except ValueError as error:
            logger.warning("%s=%r is ignored: %s", variable, text, error)
    return values


def _checked_redactor(value: Any) -> Any:
    if value is not None and not callable(value):
        message = f"redactor={value!r} is not valid: expected a function of one text"
        raise InstrumentationError(message)
    return value


def _from_argument(name: str, value: object) -> Any:
    """Read an argument as its variable would be read."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, Iterable) and not isinstance(value, str):
        value = ",".join(map(_text_of, cast("Iterable[object]", value)))
    try:
        return _PARSERS[name](_text_of(value))
    except ValueError as error:
        message = f"{name}={value!r} is not valid: {error}"
        raise InstrumentationError(message) from None


def _text_of(value: object) -> str:
    """Return a point's value, anything else as text."""
    return str(getattr(value, "value", value))


def _choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            message = f"expected one of {', '.join(allowed)}"
            raise ValueError(message)
        return text.lower()

    return parse


def _flag(text: str) -> bool:
    if text.lower() not in _FLAGS:
        message = "expected true or false"
        raise ValueError(message)
    return _FLAGS[text.lower()]


_FLAGS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        message = "expected a whole number of at least 1"
        raise ValueError(message)
    return int(text)


def _patterns(text: str) -> tuple[str, ...]:
    if text.lower() in _FLAGS:  # would match no hook, and look as if it matched all of them
        message = "expected patterns of hook names, as in policies.*, or * for all hooks"
        raise ValueError(message)
    return tuple(pattern.strip() for pattern in text.split(",") if pattern.strip())


def _points(text: str) -> frozenset[str]:
    names = {name.strip().lower() for name in text.split(",") if name.strip()}
    unknown = names - {point.value for point in InterceptionPoint}
    if unknown:
        message = f"unknown points {', '.join(sorted(unknown))}"
        raise ValueError(message)
    return frozenset(names)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "spans": _choice("all", "off"),
    "hook_spans": _choice("auto", "always", "never"),
    "execution_span": _flag,
    "abort_status": _choice("unset", "error"),
    "capture_abort_reason": _flag,
    "capture_exception_message": _flag,
    "points": _points,
    "require_points": _points,
    "fail_closed": _patterns,
    "shadow": _patterns,
    "hook_budget_ms": _count,
    "capture_content": _choice("no_content", "span_only", "event_only", "span_and_event"),
    "content_points": _points,
    "max_workflow_names": _count,
    "max_sources": _count,
    "max_hook_names": _count,
}

_STANDARD = {"capture_content": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"}
"""Settings for which OpenTelemetry has a variable of its own."""

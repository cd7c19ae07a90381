"""Single hooks as spans below their dispatch."""

from __future__ import annotations

import time
from typing import Any

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_current
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from hookspan.contract.outcomes import HookOutcome
from hookspan.engine.guard import GUARD
from hookspan.engine.hooks import function_of
from hookspan.engine.probe import Chain
from hookspan.telemetry import semconv
from hookspan.telemetry.hook_facts import HookFacts
from hookspan.telemetry.names import hook_label, type_name


class HookSpans:
    """The spans of the hooks of one dispatch.

    Each is current while its hook runs. What the hook came to is known only when its loop has taken
    the result, so that all are ended together when the dispatch is over, with the time at which the
    hook had returned.

    Args:
        tracer: Makes them.
        chain: The dispatch.
        point: Its point's value.
    """

    def __init__(self, tracer: Tracer, chain: Chain, point: str) -> None:
        self._tracer = tracer
        self._chain = chain
        self._point = point
        self._spans: list[tuple[int, Span, list[int]]] = []

    def around(self, hook: Any, function: Any) -> Any:
        """Return what to call in the function's place."""
        try:
            defined = hook_label(function_of(hook))
            attributes = {
                semconv.CREWAI_HOOK_POINT: self._point,
                semconv.CODE_FUNCTION_NAME: defined,
            }
            span = self._tracer.start_span(f"run_hook {defined}", attributes=attributes)
        except Exception as error:  # noqa: BLE001 - telemetry must not break a run
            GUARD.failed("hook.begin", error)
            return function
        times = [time.time_ns()]  # it ends where it began when the hook is not run after all
        self._spans.append((len(self._chain), span, times))

        def run(ctx: Any) -> Any:
            token = attach(trace.set_span_in_context(span, get_current()))
            try:
                return function(ctx)
            finally:
                times.append(time.time_ns())
                detach(token)

        return run

    def end(self, facts: list[HookFacts], *, failed_closed: bool) -> None:
        """Say on each span what became of its hook, and end it.

        Args:
            facts: What became of the hooks, in order.
            failed_closed: Whether the last one aborted by its crash.
        """
        for index, span, times in self._spans:
            if index < len(facts) and span.is_recording():
                last = index == len(facts) - 1
                _describe(span, facts[index], failed_closed=failed_closed and last)
            span.end(times[-1])


def _describe(span: Span, fact: HookFacts, *, failed_closed: bool) -> None:
    attributes: dict[str, Any] = {
        semconv.CREWAI_HOOK_NAME: fact.name,
        semconv.CREWAI_HOOK_RESULT: fact.outcome.value,
        **options_of(fact),
    }
    if fact.change is not None:
        attributes[semconv.CREWAI_HOOK_CHANGE] = fact.change
    if failed_closed:
        attributes[semconv.CREWAI_HOOK_FAILED_CLOSED] = True
    if fact.outcome is HookOutcome.ERRORED and fact.error is not None:
        attributes[semconv.ERROR_TYPE] = type_name(type(fact.error))
        span.set_status(Status(StatusCode.ERROR))
    span.set_attributes(attributes)


def options_of(fact: HookFacts) -> dict[str, Any]:
    """Return what a hook was registered with, and whether it kept its budget."""
    options: dict[str, Any] = {semconv.CREWAI_HOOK_MODE: fact.mode}
    if fact.version is not None:
        options[semconv.CREWAI_HOOK_VERSION] = fact.version
    if fact.over_budget:
        options[semconv.CREWAI_HOOK_OVER_BUDGET] = True
    return options

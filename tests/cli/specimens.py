"""Finished spans with fixed ids and times, as two traces of a program would leave them."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

MILLI = 1_000_000
EPOCH = 1_700_000_000_000 * MILLI
TRACE, OTHER_TRACE = 0xA, 0xB


def span(  # noqa: PLR0913 - a span has that many parts
    number: int,
    name: str,
    attributes: dict[str, Any],
    *,
    parent: int | None = None,
    start: int = 0,
    end: int = 1,
    trace: int = TRACE,
    crashes: tuple[tuple[str, str], ...] = (),
    failed: bool = False,
) -> ReadableSpan:
    """Make a span: its number is its id, times are in milliseconds since the beginning."""
    events = [
        Event("exception", {"crewai.hook.name": hook, "exception.type": exception})
        for hook, exception in crashes
    ]
    return ReadableSpan(
        name=name,
        context=_context(number, trace),
        parent=None if parent is None else _context(parent, trace),
        attributes=attributes,
        events=events,
        status=Status(StatusCode.ERROR if failed else StatusCode.UNSET),
        start_time=EPOCH + start * MILLI,
        end_time=EPOCH + end * MILLI,
    )


def dispatch(number: int, point: str, outcome: str, chain: list[str], **more: Any) -> ReadableSpan:
    """Make the span of a dispatch in the crew `support`.

    Args:
        number: Its id.
        point: The point.
        outcome: What it came to.
        chain: Its hooks, each as ``name=result``.
        **more: Arguments of `span`; ``about`` are further attributes.
    """
    attributes = {
        "crewai.hook.point": point,
        "crewai.hook.outcome": outcome,
        "crewai.hook.chain": chain,
        "crewai.execution.kind": "crew",
        "gen_ai.workflow.name": "support",
        **more.pop("about", {}),
    }
    if more.get("crashes"):
        attributes["crewai.hook.exception.count"] = len(more["crashes"])
    return span(number, f"run_hooks {point}", attributes, **more)


def run(number: int, kind: str, name: str, outcome: str, **more: Any) -> ReadableSpan:
    """Make the span of a run; ``about`` are further attributes."""
    attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "crewai.execution.kind": kind,
        "crewai.execution.outcome": outcome,
        "crewai.execution.denied": outcome == "aborted",
        **more.pop("about", {}),
    }
    return span(number, f"invoke_workflow {name}", attributes, **more)


DENIAL = {
    "gen_ai.tool.name": "delete_file",
    "crewai.hook.abort.reason": "file deletion is not allowed",
    "crewai.hook.abort.source": "policy",
    "crewai.hook.effect": "blocked",
}
"""What a dispatch says that has denied a tool."""

DENIED_AT_START = {
    "crewai.execution.kind": "flow",
    "gen_ai.workflow.name": "desk",
    "crewai.hook.abort.reason": "unauthorized",
    "crewai.hook.abort.source": "access",
    "crewai.hook.effect": "raised",
}


def program() -> list[ReadableSpan]:
    """Return the spans of a program, in the order in which they end.

    A flow in which a crew runs, which is denied a tool and whose quota guard crashes, and a flow
    that is denied at its start. The dispatch at the tool is inside a span of another scope, 90.
    """
    counts = {
        "crewai.execution.denied": True,
        "crewai.execution.abort.count": 1,
        "crewai.execution.exception.count": 1,
    }
    failure = {"crewai.execution.abort.count": 1, "error.type": "hookspan.HookAborted"}
    flow = {"crewai.execution.kind": "flow", "gen_ai.workflow.name": "desk"}
    return [
        dispatch(3, "input", "modified", ["app.hooks.default=modified"], parent=1, about=flow),
        dispatch(
            4,
            "pre_tool_call",
            "aborted",
            ["app.hooks.quota=errored", "app.hooks.guard=aborted", "app.hooks.log=not_reached"],
            parent=90,
            start=20,
            end=24,
            about=DENIAL,
            crashes=(("app.hooks.quota", "KeyError"),),
        ),
        run(2, "crew", "support", "completed", parent=1, start=10, end=40, about=counts),
        dispatch(5, "output", "proceeded", ["app.hooks.redact=passed"], parent=1, start=41, end=42,
                 about=flow),
        run(1, "flow", "desk", "completed", start=0, end=1250, about=counts),
        dispatch(7, "execution_start", "aborted", ["app.hooks.authorize=aborted"], parent=6,
                 start=2000, end=2001, trace=OTHER_TRACE, about=DENIED_AT_START),
        run(6, "flow", "desk", "aborted", start=2000, end=2010, trace=OTHER_TRACE, failed=True,
            about=failure),
    ]  # fmt: skip


FOREIGN = {90: 2}
"""What the span of another scope is in."""


def _context(span_id: int, trace_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(1))

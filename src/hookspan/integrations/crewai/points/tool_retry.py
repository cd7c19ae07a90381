"""RETRY_ATTEMPT of a tool in crewAI's text protocol: read again from the answer, or run again.

An abort becomes the answer of the tool: what happens inside the use of a tool never leaves it in
every crewAI.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import RetryAttemptContext
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam


class Use:
    """One use of a tool, however often it is tried.

    Attributes:
        usage: crewAI's object for it.
        error: What the last try ended with.
    """

    __slots__ = ("error", "usage")

    def __init__(self, usage: Any) -> None:
        self.usage = usage
        self.error: BaseException | None = None


_USAGE = "crewai.tools.tool_usage"

_READING: ContextVar[Any] = ContextVar("hookspan-reading", default=None)
_USE: ContextVar[Use | None] = ContextVar("hookspan-use", default=None)


def _read(gate: Gate, original: Any) -> Any:
    """Ask where crewAI reads the same answer again: its method calls itself."""

    @functools.wraps(original)
    def read(usage: Any, tool_string: Any) -> Any:
        if _READING.get() is usage:
            try:
                text = _ask_for_call(gate, usage, tool_string) if gate.wanted() else tool_string
            except gate.abort_type as aborted:
                module = importlib.import_module(_USAGE)
                return module.ToolUsageError(f"The tool call was blocked by a hook: {aborted}")
            return original(usage, text)
        token = _READING.set(usage)
        try:
            return original(usage, tool_string)
        finally:
            _READING.reset(token)

    return read


def _ask_for_call(gate: Gate, usage: Any, text: Any) -> Any:
    ctx = gate.dispatch(lambda: _context(usage, text, "tool_call"))
    if ctx is None or ctx.payload == text:
        return text
    with contextlib.suppress(Exception):  # a text without a tool: crewAI reads the old one again
        parser = importlib.import_module("crewai.agents.parser")
        action = parser.parse(ctx.payload)
        if isinstance(action, parser.AgentAction):
            usage.action = action  # what crewAI goes by, unless another model reads the text
    return ctx.payload


def _context(usage: Any, payload: Any, operation: str) -> RetryAttemptContext:
    return RetryAttemptContext(
        payload,
        **identity(usage.agent, usage.task),
        attempt=usage._run_attempts,  # noqa: SLF001 - crewAI has counted the failed one already
        max_attempts=usage._max_parsing_attempts,  # noqa: SLF001 - there is no other
        operation=operation,
    )


def _use(gate: Gate, original: Any) -> Any:
    """Ask where crewAI runs the same tool again: its method calls itself."""

    @functools.wraps(original)
    def use(usage: Any, calling: Any, tool_string: Any) -> Any:
        around = _USE.get()
        if around is not None and around.usage is usage:
            answer = _ask_for_run(gate, around, calling)
            return original(usage, calling, tool_string) if answer is None else answer
        token = _USE.set(Use(usage))
        try:
            return original(usage, calling, tool_string)
        finally:
            _USE.reset(token)

    return use


def _ause(gate: Gate, original: Any) -> Any:
    @functools.wraps(original)
    async def use(usage: Any, calling: Any, tool_string: Any) -> Any:
        around = _USE.get()
        if around is not None and around.usage is usage:
            answer = _ask_for_run(gate, around, calling)
            return await original(usage, calling, tool_string) if answer is None else answer
        token = _USE.set(Use(usage))
        try:
            return await original(usage, calling, tool_string)
        finally:
            _USE.reset(token)

    return use


def _ask_for_run(gate: Gate, use: Use, calling: Any) -> str | None:
    """Return what the tool is to answer without being run again, None where it is to run."""
    if not gate.wanted():
        return None

    def build() -> RetryAttemptContext:
        ctx = _context(use.usage, calling.arguments, "tool")
        ctx.error, ctx.tool_name = use.error, calling.tool_name
        return ctx

    try:
        ctx = gate.dispatch(build)
    except gate.abort_type as aborted:
        return f"Another run of {calling.tool_name} was blocked by a hook: {aborted}"
    if ctx is not None:
        calling.arguments = ctx.payload
    return None


def _note(_gate: Gate, original: Any) -> Any:
    """Note what a run of a tool ended with."""

    @functools.wraps(original)
    def on_tool_error(usage: Any, tool: Any, tool_calling: Any, e: Any) -> None:
        use = _USE.get()
        if use is not None and use.usage is usage:
            use.error = e
        original(usage, tool, tool_calling, e)

    return on_tool_error


SEAMS = (
    Seam(_USAGE, "ToolUsage._tool_calling", ("tool_string",), _read),
    Seam(_USAGE, "ToolUsage.use", ("calling", "tool_string"), _use),
    Seam(_USAGE, "ToolUsage.ause", ("calling", "tool_string"), _ause, is_async=True),
    Seam(_USAGE, "ToolUsage.on_tool_error", ("tool", "tool_calling", "e"), _note),
)

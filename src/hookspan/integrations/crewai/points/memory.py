"""MEMORY_WRITE and MEMORY_READ: something is stored in crewAI's memory, or it is searched.

An agent's own memory, a crew's, a flow's, their scopes and slices all end in the same class; the
asynchronous twins only call the synchronous methods.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import MemoryReadContext, MemoryWriteContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring

MEMORY_TYPE = "unified"
"""crewAI has had one kind of memory since 1.10."""

_TOOL: ContextVar[str | None] = ContextVar("hookspan-memory-tool", default=None)
"""The name of crewAI's memory tool that an agent is using."""


def _store(gate: Gate, original: Any, *, name: str) -> Any:
    """Ask before something is stored; a memory that is read-only stores nothing.

    Args:
        gate: The gate.
        original: The method.
        name: The parameter that holds the value, or the list of values.
    """
    signature = inspect.signature(original)

    @functools.wraps(original)
    def store(*args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        given = call.arguments
        value = given.get(name)
        if not value or gate.read(lambda: given["self"].read_only, otherwise=False):
            return original(*args, **kwargs)
        many = isinstance(value, list)
        ctx = gate.dispatch(lambda: _write([*value] if many else value, given))
        if ctx is not None:
            given[name] = [ctx.payload] if many and isinstance(ctx.payload, str) else ctx.payload
        return original(*call.args, **call.kwargs)

    return store


def _write(value: Any, given: dict[str, Any]) -> MemoryWriteContext:
    who = identity()
    if who["agent_role"] is None:
        who["agent_role"] = given.get("agent_role")
    root = given.get("root_scope")
    return MemoryWriteContext(
        value,
        **who,
        memory_type=MEMORY_TYPE,
        metadata=given.get("metadata"),
        scope=_scope(given["self"].root_scope if root is None else root, given.get("scope")),
        tool_name=_TOOL.get(),
    )


def _recall(gate: Gate, original: Any) -> Any:
    """Ask before memory is searched."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def recall(*args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        given = call.arguments
        ctx = gate.dispatch(
            lambda: MemoryReadContext(
                given["query"],
                **identity(),
                memory_type=MEMORY_TYPE,
                scope=_scope(given["self"].root_scope, given.get("scope")),
                tool_name=_TOOL.get(),
            )
        )
        if ctx is not None:
            given["query"] = ctx.payload
        return original(*call.args, **call.kwargs)

    return recall


def _tool(gate: Gate, original: Any) -> Any:
    """Make an abort the answer of a memory tool.

    Raised it would be an error of the tool, which crewAI's text protocol tries again.
    """

    @functools.wraps(original)
    def run(tool: Any, *args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(tool, *args, **kwargs)
        token = _TOOL.set(tool.name)
        try:
            return original(tool, *args, **kwargs)
        except gate.abort_type as aborted:
            return f"{tool.name} was blocked by a hook: {aborted}"
        finally:
            _TOOL.reset(token)

    return run


def _scope(root: str | None, scope: str | None) -> str | None:
    """Return the whole path of a scope, as crewAI joins it."""
    if not root or not scope:
        return scope or root
    return f"{root.rstrip('/')}/{scope.lstrip('/')}"


def _memory(name: str, parameters: tuple[str, ...], wrap: Callable[[Gate, Any], Any]) -> Seam:
    return Seam("crewai.memory.unified_memory", f"Memory.{name}", parameters, wrap)


_TOOLS = "crewai.tools.memory_tools"
_WRITE = ("scope", "metadata", "root_scope", "agent_role")

WRITE = Wiring(
    InterceptionPoint.MEMORY_WRITE,
    (
        _memory("remember", ("content", *_WRITE), functools.partial(_store, name="content")),
        _memory("remember_many", ("contents", *_WRITE), functools.partial(_store, name="contents")),
        # The content of a record is replaced: that stores a value too.
        _memory("update", ("content", "scope"), functools.partial(_store, name="content")),
        Seam(_TOOLS, "RememberTool._run", ("contents",), _tool, late=True),
    ),
)
READ = Wiring(
    InterceptionPoint.MEMORY_READ,
    (
        _memory("recall", ("query", "scope"), _recall),
        Seam(_TOOLS, "RecallMemoryTool._run", ("queries",), _tool, late=True),
    ),
)

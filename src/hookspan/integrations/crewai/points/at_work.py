"""Who is at work: what the seams of memory, knowledge, delegation and MCP cannot see by themselves.

crewAI copies context variables into each thread that it starts, so that a tool in a thread of its
own still knows the agent that called it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from hookspan.integrations.crewai.patching import Patch
from hookspan.integrations.crewai.points.seam import Seam


class AtWork(NamedTuple):
    """Who is at work.

    Attributes:
        agent: The agent.
        task: Its task.
        flow: The flow whose method runs.
        method: The name of that method.
    """

    agent: Any = None
    task: Any = None
    flow: Any = None
    method: str | None = None


NOBODY = AtWork()

_AT_WORK: ContextVar[AtWork] = ContextVar("hookspan-at-work", default=NOBODY)


def identity(agent: Any = None, task: Any = None) -> dict[str, Any]:
    """Return the fields of a context that say who is at work.

    Args:
        agent: The agent, where the seam knows it.
        task: The task, where the seam knows it.
    """
    current = _AT_WORK.get()
    if agent is None:
        agent = current.agent
    if task is None and agent is current.agent:
        task = current.task
    crew = crew_of(agent)
    return {
        "agent": agent,
        "agent_role": getattr(agent, "role", None),
        "task": task,
        "crew": crew,
        "flow": None if crew is not None else current.flow,
    }


def crew_of(agent: Any) -> Any:
    """Return the crew that an agent works in, or None; crewAI may have its name there."""
    crew = getattr(agent, "crew", None)
    return None if isinstance(crew, str) else crew


def running_method() -> str | None:
    """Return the name of the flow method that runs, None outside of flows."""
    return _AT_WORK.get().method


class Working:
    """Has somebody at work for the time of a block.

    Args:
        who: Who; the flow around an agent stays the one that is at work already.
    """

    __slots__ = ("_next", "_token")

    def __init__(self, who: AtWork) -> None:
        if who.flow is None:
            around = _AT_WORK.get()
            who = who._replace(flow=around.flow, method=around.method)
        self._next = who

    def __enter__(self) -> None:
        self._token = _AT_WORK.set(self._next)

    def __exit__(self, *_error: object) -> None:
        _AT_WORK.reset(self._token)


def _agent_works(original: Any) -> Any:
    """Have an agent at work while it is kicked off by itself."""

    @functools.wraps(original)
    def kickoff(agent: Any, *args: Any, **kwargs: Any) -> Any:
        with Working(AtWork(agent)):
            return original(agent, *args, **kwargs)

    return kickoff


def _agent_works_async(original: Any) -> Any:
    @functools.wraps(original)
    async def kickoff(agent: Any, *args: Any, **kwargs: Any) -> Any:
        with Working(AtWork(agent)):
            return await original(agent, *args, **kwargs)

    return kickoff


def _task_works(original: Any) -> Any:
    """Have an agent and its task at work."""

    @functools.wraps(original)
    def execute_task(agent: Any, task: Any, *args: Any, **kwargs: Any) -> Any:
        with Working(AtWork(agent, task)):
            return original(agent, task, *args, **kwargs)

    return execute_task


def _task_works_async(original: Any) -> Any:
    @functools.wraps(original)
    async def execute_task(agent: Any, task: Any, *args: Any, **kwargs: Any) -> Any:
        with Working(AtWork(agent, task)):
            return await original(agent, task, *args, **kwargs)

    return execute_task


def _flow_works(original: Any) -> Any:
    """Have a flow at work while a method of it runs; crewAI's own flows are machinery."""

    @functools.wraps(original)
    async def execute_method(flow: Any, method_name: Any, *args: Any, **kwargs: Any) -> Any:
        if flow.is_crewai_internal:
            return await original(flow, method_name, *args, **kwargs)
        with Working(AtWork(flow=flow, method=str(method_name))):
            return await original(flow, method_name, *args, **kwargs)

    return execute_method


_AGENT = "crewai.agent.core"
_PLACES = (
    (Seam(_AGENT, "Agent.kickoff", ()), _agent_works),
    (Seam(_AGENT, "Agent.kickoff_async", (), is_async=True), _agent_works_async),
    (Seam("crewai.lite_agent", "LiteAgent.kickoff", ()), _agent_works),
    (Seam(_AGENT, "Agent.execute_task", ("task",)), _task_works),
    (Seam(_AGENT, "Agent.aexecute_task", ("task",), is_async=True), _task_works_async),
    (
        Seam("crewai.flow.runtime", "Flow._execute_method", ("method_name",), is_async=True),
        _flow_works,
    ),
)


def patches() -> Iterator[Patch]:
    """Make the patches; they decide nothing: where a place is missing, contexts say less."""
    for seam, wrap in _PLACES:
        if seam.problem() is None:
            yield Patch(*seam.place(), wrap)

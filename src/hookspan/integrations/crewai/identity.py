"""What objects of crewAI say of themselves, without any text of a user's.

crewAI interpolates inputs into roles and descriptions; only names that the code gives are read.
Whatever an attribute does when it is read, nothing is raised and nothing is rendered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from hookspan.contract.contexts import (
    FlowTransitionContext,
    PreCodeExecutionContext,
    PreDelegationContext,
    RetryAttemptContext,
    RouterDecisionContext,
)
from hookspan.integrations.crewai.roles import role_of_original
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run
from hookspan.telemetry.names import bounded_name

_STEP_KINDS = (semconv.CREWAI_STEP_KIND_TASK, semconv.CREWAI_STEP_KIND_FLOW_METHOD)


def identify(ctx: Any) -> dict[str, Any]:
    """Return what a context says of the agent, task, tool, step and model at work.

    This is on the hot path: a field that is not there, or None, costs one look-up.

    Args:
        ctx: A context of crewAI's or of ours.
    """
    read = _reader(ctx)
    agent, task, llm, kind = read("agent"), read("task"), read("llm"), read("kind")
    role = bounded_name(read("agent_role")) if agent is None else static_role(agent)
    found: dict[str, str | int | None] = {
        semconv.GEN_AI_AGENT_NAME: role,
        semconv.GEN_AI_TOOL_NAME: None if _is_made_up(ctx, read) else _tool_name(read),
    }
    if llm is not None:
        found[semconv.GEN_AI_REQUEST_MODEL] = _text(llm, "model")
    if agent is not None:
        attempt = _attempt(agent)
        if attempt is not None:
            found[semconv.CREWAI_AGENT_ATTEMPT] = attempt
    if task is not None:
        found[semconv.CREWAI_TASK_ID] = _identifier(task, "id")
        found[semconv.CREWAI_TASK_NAME] = _text(task, "name")
    if kind in _STEP_KINDS:
        # crewAI lets the name of a task's step fall back to the task's description.
        name = bounded_name(read("step_name")) if task is None else _text(task, "name")
        found[semconv.CREWAI_STEP_KIND], found[semconv.CREWAI_STEP_NAME] = kind, name
    about = _ABOUT.get(id(type(ctx)))  # pyright: ignore[reportUnknownArgumentType] - any type
    if about is not None:
        found.update(about(ctx))
    return _known(found)


def identify_run(ctx: Any) -> dict[str, Any]:
    """Return what a context says of the crew or flow, for dispatches outside of every run."""
    crew, flow = _read(ctx, "crew"), _read(ctx, "flow")
    if crew is not None:
        return crew_run(crew).identity
    if flow is not None and not _read(type(flow), "is_crewai_internal"):
        return flow_run(flow).identity
    return {}


def crew_run(crew: Any) -> Run:
    """Describe the run of a crew."""
    name = _text(crew, "name")
    attributes = {
        semconv.CREWAI_CREW_ID: _identifier(crew, "id"),
        semconv.CREWAI_CREW_KEY: _text(crew, "key"),
        semconv.CREWAI_CREW_NAME: name,
    }
    return Run(semconv.CREWAI_EXECUTION_KIND_CREW, name, _known(attributes))


def flow_run(flow: Any) -> Run:
    """Describe the run of a flow."""
    name = _text(flow, "name") or _text(type(flow), "__name__")
    attributes = {
        semconv.CREWAI_FLOW_ID: _identifier(flow, "flow_id"),
        semconv.CREWAI_FLOW_NAME: name,
    }
    return Run(semconv.CREWAI_EXECUTION_KIND_FLOW, name, _known(attributes))


def agent_run(agent: Any) -> Run:
    """Describe the run of an agent on its own."""
    return Run(semconv.CREWAI_EXECUTION_KIND_AGENT, static_role(agent))


def static_role(agent: Any) -> str | None:
    """Return the role as the code gives it, before inputs were interpolated."""
    role = _text(agent, "_original_role") or _text(agent, "role")
    return None if role is None else role_of_original(agent, role)


def _known(attributes: Mapping[str, str | int | None]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value is not None}


def _read(subject: Any, name: str) -> Any:
    try:
        return getattr(subject, name, None)
    except Exception:  # noqa: BLE001 - whatever a property of a user's raises, it says nothing
        return None


def _reader(ctx: Any) -> Callable[[str], Any]:
    """Return what reads the fields of a context: its own dict, where that is all there is to it."""
    fields = _read(ctx, "__dict__")
    plain: Callable[[str], Any] | None = getattr(fields, "get", None) if fields else None
    return plain or functools.partial(_read, ctx)


def _text(subject: Any, name: str) -> str | None:
    value = _read(subject, name)
    return None if value is None else bounded_name(value)


def _is_made_up(ctx: Any, read: Callable[[str], Any]) -> bool:
    """Tell whether a tool's name is a word of the model's: crewAI asks hooks of such calls too."""
    if read("tool") is not None or read("tool_name") is None:
        return False
    return type(ctx).__module__.startswith("crewai.")


def _of_method(name: str | None) -> dict[str, str | int | None]:
    kind = None if name is None else semconv.CREWAI_STEP_KIND_FLOW_METHOD
    return {semconv.CREWAI_STEP_KIND: kind, semconv.CREWAI_STEP_NAME: bounded_name(name)}


def _of_retry(ctx: RetryAttemptContext) -> dict[str, str | int | None]:
    return {
        semconv.CREWAI_RETRY_OPERATION: bounded_name(ctx.operation),
        semconv.CREWAI_RETRY_ATTEMPT: ctx.attempt,
    }


def _of_delegation(ctx: PreDelegationContext) -> dict[str, str | int | None]:
    coworker = ctx.delegate_to
    role = None if coworker is None else static_role(coworker)
    return {semconv.CREWAI_DELEGATION_COWORKER: role}


_ABOUT: dict[int, Callable[[Any], dict[str, str | int | None]]] = {
    id(RetryAttemptContext): _of_retry,
    id(PreDelegationContext): _of_delegation,
    id(FlowTransitionContext): lambda ctx: _of_method(ctx.from_method),
    id(RouterDecisionContext): lambda ctx: _of_method(ctx.router_name),
    id(PreCodeExecutionContext): lambda ctx: _of_method(ctx.step_name),
}
"""What a context of a class of ours says besides, by the id of the class."""


def _tool_name(read: Callable[[str], Any]) -> str | None:
    """Return the name of a tool; of one behind MCP that which its server gave it.

    crewAI puts the command of the server, with all its arguments, before that.
    """
    tool = read("tool")
    if tool is not None:
        given = _text(_read(tool, "_original_tool") or tool, "original_tool_name")
        if given is not None:
            return given
    return bounded_name(read("tool_name"))


def _attempt(agent: Any) -> int | None:
    """Return the number of an agent's attempt at its task, from the second one on."""
    failed = _read(agent, "_times_executed")
    return failed + 1 if type(failed) is int and failed > 0 else None


def _identifier(subject: Any, name: str) -> str | None:
    value = _read(subject, name)
    return str(value) if type(value) is UUID else _text(subject, name)

"""What objects of crewAI say of themselves, without any text of a user's.

crewAI interpolates inputs into roles and descriptions; only names that the code gives are read.
Whatever an attribute does when it is read, nothing is raised and nothing is rendered.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run
from hookspan.telemetry.names import bounded_text, is_text

_ROLES = ("_original_role", "role")


def identify(ctx: Any) -> dict[str, Any]:
    """Return what a context says of the agent, task, tool, step and model at work.

    Args:
        ctx: A context of crewAI's or of ours.
    """
    task = _read(ctx, "task")
    found = {
        semconv.GEN_AI_AGENT_NAME: _role(ctx),
        semconv.GEN_AI_TOOL_NAME: _text(ctx, "tool_name"),
        semconv.GEN_AI_REQUEST_MODEL: _text(_read(ctx, "llm"), "model"),
        semconv.CREWAI_TASK_ID: _identifier(task, "id"),
        semconv.CREWAI_TASK_NAME: _text(task, "name"),
        **_step(ctx, task),
    }
    return {key: value for key, value in found.items() if value is not None}


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
    return Run(semconv.CREWAI_EXECUTION_KIND_AGENT, _static_role(agent))


def _role(ctx: Any) -> str | None:
    agent = _read(ctx, "agent")
    return _text(ctx, "agent_role") if agent is None else _static_role(agent)


def _static_role(agent: Any) -> str | None:
    """Return the role as the code gives it, before inputs were interpolated."""
    return next(filter(None, (_text(agent, name) for name in _ROLES)), None)


def _step(ctx: Any, task: Any) -> dict[str, str | None]:
    kind = _text(ctx, "kind")
    if kind not in (semconv.CREWAI_STEP_KIND_TASK, semconv.CREWAI_STEP_KIND_FLOW_METHOD):
        return {}
    # crewAI lets the name of a task's step fall back to the task's description.
    name = _text(ctx, "step_name") if task is None else _text(task, "name")
    return {semconv.CREWAI_STEP_KIND: kind, semconv.CREWAI_STEP_NAME: name}


def _known(attributes: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in attributes.items() if value is not None}


def _read(subject: Any, name: str) -> Any:
    try:
        return getattr(subject, name, None)
    except Exception:  # noqa: BLE001 - whatever a property of a user's raises, it says nothing
        return None


def _text(subject: Any, name: str) -> str | None:
    value = _read(subject, name)
    return bounded_text(value)[0] if is_text(value) and value else None


def _identifier(subject: Any, name: str) -> str | None:
    value = _read(subject, name)
    return str(value) if type(value) is UUID else _text(subject, name)

"""The role of an agent as the code gives it, also of a copy that crewAI makes of the agent.

A copy (each run of ``kickoff_for_each`` has its own) takes the role into which inputs were filled
for its own; nothing in crewAI says then that it holds a user's text.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from typing import Any

from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.patching import Patch
from hookspan.telemetry.names import bounded_text

COPIED: dict[int, tuple[str, str]] = {}
"""By the id of a copy: the role that it was made with, and the one that the code gives."""


def role_of_original(agent: Any, role: str) -> str:
    """Return the role that the code gives.

    Args:
        agent: The agent, a copy or not.
        role: What it takes for its role before inputs were filled in.
    """
    if id(agent) not in COPIED:
        return role
    made_with, given = COPIED[id(agent)]
    return given if role == made_with else role


def remember_roles() -> Patch:
    """Make the patch that hands the role on to the copies of an agent."""
    owner = importlib.import_module("crewai.agents.agent_builder.base_agent").BaseAgent
    return Patch(owner, "copy", _wrap)


def _wrap(original: Any) -> Any:
    @functools.wraps(original)
    def copy(agent: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(agent, *args, **kwargs)
        try:
            _remember(agent, made)
        except Exception as error:  # noqa: BLE001 - telemetry must not break a run
            GUARD.failed("identity.copy", error)
        return made

    return copy


def _remember(agent: Any, made: Any) -> None:
    given = role_of_original(agent, agent._original_role or agent.role)  # noqa: SLF001 - no other way
    if made.role != given:
        COPIED[id(made)] = (bounded_text(made.role)[0], bounded_text(given)[0])
        weakref.finalize(made, COPIED.pop, id(made), None)

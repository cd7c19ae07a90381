"""The roles that the code gives to agents which crewAI has copied.

A run replaces an agent's role by what it becomes with the inputs and keeps the original aside. A
copy of such an agent takes the replaced one for its original: what inputs said of an earlier run
would be its name.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.patching import Patch


class CopiedRoles:
    """Knows the role that was given to the first of an agent and its copies."""

    def __init__(self) -> None:
        self._roles: dict[int, tuple[weakref.ref[Any], str]] = {}

    def note(self, copied: Any, role: str) -> None:
        """Note the role of a copy, for as long as it lives."""
        key = id(copied)
        self._roles[key] = (weakref.ref(copied, lambda _: self._roles.pop(key, None)), role)

    def of(self, agent: Any) -> str | None:
        """Return the role of an agent that is a copy, None for every other."""
        held = self._roles.get(id(agent)) if self._roles else None
        return held[1] if held is not None and held[0]() is agent else None

    def patches(self, role_of: Callable[[Any], str | None]) -> Iterator[Patch]:
        """Make the patch that notes the role of each copy.

        Args:
            role_of: Returns the role that the code gives to an agent.
        """
        owner: Any = importlib.import_module("crewai.agents.agent_builder.base_agent").BaseAgent
        if "copy" in vars(owner):
            yield Patch(owner, "copy", functools.partial(self._wrap, role_of))

    def _wrap(self, role_of: Callable[[Any], str | None], original: Any) -> Any:
        @functools.wraps(original)
        def copy(agent: Any, *args: Any, **kwargs: Any) -> Any:
            copied = original(agent, *args, **kwargs)
            try:
                role = role_of(agent)
                if role is not None:
                    self.note(copied, role)
            except Exception as error:  # noqa: BLE001 - telemetry must not break a run
                GUARD.failed("role.note", error)
            return copied

        return copy


COPIED_ROLES = CopiedRoles()
"""Those of this process."""

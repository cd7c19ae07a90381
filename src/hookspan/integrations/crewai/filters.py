"""Looking into the functions that crewAI puts around a hook that has filters.

What a filter lets through is read from what its function holds: attributes of the hook itself are
shared by everything that it is registered for.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

_WRAPPERS = {
    ("crewai.hooks.dispatch", "filtered"),
    ("crewai.hooks.decorators", "filtered_hook"),
    ("crewai.project.crew_base", "filtered"),
}
"""Module and name of those functions: those of `on`, of its older kin, of methods in a class."""

_NAMES = frozenset(name for _, name in _WRAPPERS)
_HOOKS = ("func", "f", "bound_fn")
_TOOLS = ("tools", "tools_list")
_AGENTS = ("agents", "agents_list")


def keeps_out(hook: Any, ctx: Any) -> bool:
    """Tell whether the filter that crewAI has put around a hook will not let a context through.

    Args:
        hook: A hook from one of crewAI's lists.
        ctx: The context it is about to be called with.
    """
    held = _held_by(hook)
    if held is None:
        return False
    tools, agents = _first(held, _TOOLS), _first(held, _AGENTS)
    if hook.__globals__["__name__"] == "crewai.hooks.dispatch":
        tool, role = getattr(ctx, "tool_name", None), _role(ctx)
        return _misses(tools, tool) or _misses(agents, role)
    if tools and hasattr(ctx, "tool_name") and ctx.tool_name not in tools:
        return True
    agent = getattr(ctx, "agent", None)
    return bool(agents and agent and agent.role not in agents)


def hook_behind(wrapper: FunctionType) -> Any:
    """Return the hook that crewAI has put such a function around, or the argument."""
    held = _held_by(wrapper)
    return wrapper if held is None else _first(held, _HOOKS) or wrapper


def _held_by(hook: Any) -> dict[str, Any] | None:
    """Return what a filter's function holds, by name; None for every other callable."""
    if type(hook) is not FunctionType or hook.__code__.co_name not in _NAMES:
        return None
    if (hook.__globals__.get("__name__"), hook.__code__.co_name) not in _WRAPPERS:
        return None
    cells = hook.__closure__ or ()
    return {
        name: cell.cell_contents
        for name, cell in zip(hook.__code__.co_freevars, cells, strict=True)
    }


def _first(held: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if name in held), None)


def _misses(names: Any, name: Any) -> bool:
    return bool(names) and name is not None and name not in names


def _role(ctx: Any) -> Any:
    agent = getattr(ctx, "agent", None)
    role = getattr(agent, "role", None) if agent is not None else None
    return role if role is not None else getattr(ctx, "agent_role", None)

"""Everything that an instrumentation may touch, to be compared by identity."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import hookspan
from hookspan.engine.api import REGISTRY
from hookspan.engine.execution import EXECUTIONS
from hookspan.engine.observe import DISPATCHES
from hookspan.telemetry.recorder import LIVE

Snapshot = dict[str, object]

_ABSENT: Any = object()

# By importlib: `crewai.hooks.dispatch` as an attribute is the function of that name.
DISPATCH: Any = importlib.import_module("crewai.hooks.dispatch")


def snapshot() -> Snapshot:
    """Return every attribute of every loaded module and class of crewAI's, and the hooks.

    Hooks are there one by one, so that a list which is changed in place is seen as well.
    """
    seen: Snapshot = {"HookAborted.__bases__": hookspan.HookAborted.__bases__}
    for name, owner in _owners():
        attributes: dict[str, object] = dict(owner.__dict__)
        seen.update((f"{name}.{attribute}", value) for attribute, value in attributes.items())
    for point, hooks in DISPATCH._global_hooks.items():
        seen[f"list of {point.value}"] = hooks
        seen.update((f"{point.value}[{index}]", hook) for index, hook in enumerate(hooks))
    for point in hookspan.InterceptionPoint:
        hooks = REGISTRY.hooks(point)
        seen.update((f"hookspan's {point}[{i}]", hook) for i, hook in enumerate(hooks))
    seen["hookspan's store"] = REGISTRY.store
    seen["observers"] = (DISPATCHES.active, EXECUTIONS.active)
    seen["points"] = tuple(LIVE.points.items())
    return seen


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """Return what is not the very same any more; of tuples (they are made anew) by value."""
    return sorted(
        name
        for name in {**before, **after}
        if not _same(before.get(name, _ABSENT), after.get(name, _ABSENT))
    )


def _same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, tuple) and one == other)


def _owners() -> Iterator[tuple[str, Any]]:
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] not in {"crewai", "crewai_core"}:
            continue
        yield name, module
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == name:
                yield f"{name}.{value.__qualname__}", value

"""Reading what a run has recorded, in the few shapes that tests of hooks compare."""

from __future__ import annotations

from typing import Any

from hookspan import InterceptionPoint
from tests.kit.memory import Memory, Node

NATIVE = (
    InterceptionPoint.EXECUTION_START,
    InterceptionPoint.INPUT,
    InterceptionPoint.PRE_STEP,
    InterceptionPoint.PRE_MODEL_CALL,
    InterceptionPoint.POST_MODEL_CALL,
    InterceptionPoint.PRE_TOOL_CALL,
    InterceptionPoint.POST_TOOL_CALL,
    InterceptionPoint.POST_STEP,
    InterceptionPoint.OUTPUT,
    InterceptionPoint.EXECUTION_END,
)
"""The points that crewAI itself dispatches, in the order in which a run meets them."""


def dispatches(memory: Memory, point: str) -> list[Node]:
    """Return the dispatch spans of a point, in order."""
    return memory.named(f"run_hooks {InterceptionPoint(point).value}")


def only(memory: Memory, point: str) -> dict[str, Any]:
    """Return the attributes of the one dispatch of a point."""
    (node,) = dispatches(memory, point)
    return node.attributes


def verdict(attributes: dict[str, Any]) -> tuple[Any, ...]:
    """Return outcome, change and effect of a dispatch."""
    names = ("crewai.hook.outcome", "crewai.hook.change", "crewai.hook.effect")
    return tuple(attributes.get(name) for name in names)


def chain(attributes: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the chain of a dispatch: the last part of each name, and the result."""
    pairs = [entry.partition("=")[::2] for entry in attributes["crewai.hook.chain"]]
    return [(name.rpartition(".")[2], result) for name, result in pairs]


def invocations(memory: Memory) -> dict[tuple[str, str], int]:
    """Return how often each hook came to each result, by the last part of its name."""
    counted = memory.points("crewai.hook.invocations")
    return {
        (
            dict(key)["crewai.hook.name"].rpartition(".")[2],
            dict(key)["crewai.hook.result"],
        ): value
        for key, value in counted.items()
    }


def total(memory: Memory, metric: str, **attributes: Any) -> float:
    """Return the sum of a metric's points that have these attributes, with `__` for a dot."""
    wanted = {(name.replace("__", "."), value) for name, value in attributes.items()}
    points = memory.points(metric).items()
    return float(sum(value for key, value in points if wanted <= key))

"""A hook that keeps what it was asked, and does as it is told; what it is asked about is real."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable
from typing import Any

import hookspan
from hookspan import InterceptionPoint
from tests.kit.memory import Memory

Do = Callable[[Any], Any]


class Asked(list[Any]):
    """The contexts that hooks at a point were asked with, in order.

    Args:
        point: The point.
        do: What the hook does; by default nothing.
    """

    def __init__(self, point: InterceptionPoint, do: Do | None = None) -> None:
        super().__init__()
        self.point = point
        self.payloads: list[Any] = []

        def guard(ctx: Any) -> Any:
            self.append(ctx)
            self.payloads.append(copy.copy(getattr(ctx, "payload", None)))
            return None if do is None else do(ctx)

        hookspan.register_hook(point, guard)


def change(ctx_change: Do) -> Do:
    """Return a hook that changes a context in place, and returns nothing."""

    def hook(ctx: Any) -> None:
        ctx_change(ctx)

    return hook


def unannotated(check: Do) -> Do:
    """Return a guardrail that says nothing of its types: crewAI refuses them as texts."""
    guardrail: Do = lambda output: check(output)  # noqa: E731, PLW0108 - see above
    return guardrail


def deny(reason: str = "not now") -> Do:
    """Return a hook that stops what it is asked about."""

    def abort(_ctx: Any) -> None:
        raise hookspan.HookAborted(reason, "policy")

    return abort


def give(value: Any) -> Do:
    """Return a hook that puts a value in the place of the payload."""
    return lambda _ctx: value


def outcome(run: Callable[[], Any]) -> Any:
    """Return what a run returns, or the exception that leaves it; a coroutine is awaited."""
    try:
        result = run()
        return asyncio.run(result) if inspect.iscoroutine(result) else result
    except Exception as error:  # noqa: BLE001 - what leaves the run is what is looked at
        return error


def told(memory: Memory, point: InterceptionPoint) -> list[tuple[str, str]]:
    """Return outcome and effect of each dispatch of a point, as its span says them."""
    spans = [node.attributes for node in memory.named(f"run_hooks {point.value}")]
    return [(span["crewai.hook.outcome"], span["crewai.hook.effect"]) for span in spans]


def is_denied(error: Any, reason: str = "not now") -> bool:
    """Tell whether a run ended with the abort itself, not with an error made from it."""
    return isinstance(error, hookspan.HookAborted) and error.reason == reason

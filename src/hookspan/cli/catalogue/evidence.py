"""What is read from a run, and what a point is expected to make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookspan.contract.points import InterceptionPoint

MARK = "CHANGED-BY-A-HOOK"
"""What a hook puts where it changes something."""

REASON = "denied by the catalogue run"
"""Why a hook stops something."""

ACTIONS = ("observe", "mutate", "replace", "abort")


@dataclass
class Evidence:
    """What one run has left.

    Attributes:
        read: What the model was given, prompt by prompt.
        done: What really took place: a tool that ran, a record that was stored, and the like.
        result: What the run returned.
        error: What left it instead.
        contexts: What the hook was called with.
        effects: What hookspan recorded as effect of each dispatch of the point.
    """

    read: list[str] = field(default_factory=list[str])
    done: list[str] = field(default_factory=list[str])
    result: str = ""
    error: BaseException | None = None
    contexts: list[Any] = field(default_factory=list[Any])
    effects: list[str] = field(default_factory=list[str])

    @property
    def prompts(self) -> str:
        """What the model was given, as one text."""
        return "\n".join(self.read)


Test = Callable[[Evidence], bool]


@dataclass(frozen=True)
class Scene:
    """A run that comes to a point exactly once, and how to tell what a hook has made of it.

    Attributes:
        point: The point.
        run: Runs a real crew or flow, notes what it does, and returns its result.
        mutate: A hook that changes what it is given in place, and returns nothing.
        replace: A hook that returns another value.
        untouched: Whether the run went its own way.
        changed: Whether it went the way of the hook.
        stopped: Whether the operation did not take place.
        proof: Where that is read.
        refuses: Actions that crewAI's seam does not take: the run then goes its own way.
        blocked: Whether an abort is answered and the run goes on, instead of being raised.
        more: By action, what the seam refuses besides, in words, and a function that runs something
            to see that it does.
    """

    point: InterceptionPoint
    run: Callable[[Evidence], Any]
    mutate: Callable[[Any], object]
    replace: Callable[[Any], Any]
    untouched: Test
    changed: Test
    stopped: Test
    proof: str
    refuses: frozenset[str] = frozenset()
    blocked: bool = False
    more: Mapping[str, tuple[str, Callable[[], bool]]] = field(default_factory=dict[str, Any])


def assign(value: Any) -> Callable[[Any], None]:
    """Make a hook that puts another payload into the context, in place."""

    def hook(ctx: Any) -> None:
        ctx.payload = value

    return hook


def give(value: Any) -> Callable[[Any], Any]:
    """Make a hook that returns a value."""
    return lambda _ctx: value

"""What became of each hook of a dispatch, read once for all signals."""

from __future__ import annotations

from typing import Any, NamedTuple

from hookspan.contract.outcomes import HookOutcome
from hookspan.engine.hooks import ConfiguredHook, Hook, policy_of
from hookspan.engine.probe import Chain
from hookspan.telemetry import semconv
from hookspan.telemetry.names import bounded_text, hook_label

_UNTIMED = (HookOutcome.FILTERED, HookOutcome.NOT_RUN)


class HookFacts(NamedTuple):
    """One hook that a dispatch came to.

    Attributes:
        name: Its name, told apart from that of others in the dispatch.
        outcome: What it came to.
        duration: How long it ran, in seconds; None when it was not called.
        error: What it raised, or None.
        change: How it changed the payload, as an attribute's value, or None.
        mode: ``enforce`` or ``shadow``.
        version: Its version, or None.
        over_budget: Whether it took longer than its budget.
    """

    name: str
    outcome: HookOutcome
    duration: float | None
    error: BaseException | None
    change: str | None
    mode: str
    version: str | None
    over_budget: bool


def facts_of(chain: Chain, names: list[str]) -> list[HookFacts]:
    """Return what became of each hook that was reached, in order.

    Args:
        chain: The dispatch.
        names: Names of its hooks.
    """
    facts: list[HookFacts] = []
    for name, (hook, outcome, duration_ns, error, change) in zip(names, chain, strict=False):
        policy = policy_of(hook)
        duration = None if outcome in _UNTIMED else duration_ns / 1e9
        budget = policy.budget
        facts.append(
            HookFacts(
                name,
                outcome,
                duration,
                error,
                None if change is None else change.value,
                semconv.CREWAI_HOOK_MODE_SHADOW
                if policy.shadow
                else semconv.CREWAI_HOOK_MODE_ENFORCE,
                version_of(hook),
                budget is not None and duration is not None and duration > budget,
            )
        )
    return facts


def version_of(hook: Hook) -> str | None:
    """Return the version that a hook was registered with, or None."""
    configured: Any = hook
    version = configured.version if type(hook) is ConfiguredHook else None
    return None if version is None else bounded_text(version)[0]


def names_of(hooks: tuple[Hook, ...]) -> tuple[list[str], int]:
    """Return a name for each hook, and how many occur before.

    The second hook of a name is ``name#2``: partials of one function, methods of two instances and
    a function that is registered twice are told apart, and each run tells them apart alike.
    """
    if len(hooks) == 1:
        return [hook_label(hooks[0])], 0
    names: list[str] = []
    seen: dict[str, int] = {}
    for hook in hooks:
        name = hook_label(hook)
        number = seen[name] = seen.get(name, 0) + 1
        names.append(name if number == 1 else f"{name}#{number}")
    return names, len(hooks) - len(seen)

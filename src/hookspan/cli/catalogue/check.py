"""Plays every scene in every action, and tells what each came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hookspan.cli.catalogue.evidence import ACTIONS, REASON, Evidence, Scene
from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Effect
from hookspan.engine.api import clear_all_hooks, register_hook
from hookspan.engine.observe import DISPATCHES, Finish
from hookspan.engine.probe import Chain

TOOK_EFFECT, REFUSED, RAISED, BLOCKED, FAILED = "ok", "refused", "raised", "blocked", "FAILED"


class Cell(NamedTuple):
    """One point in one action.

    Attributes:
        verdict: ``ok`` where it took effect as the run shows, ``refused`` where crewAI's seam does
            not take the action and the run shows that, ``raised`` or ``blocked`` for an abort that
            took effect, ``FAILED`` for everything else.
        why: What did not hold; empty where all did.
    """

    verdict: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether it is as the catalogue says."""
        return self.verdict != FAILED


def _look(_ctx: Any) -> None:
    pass


def _abort(_ctx: Any) -> None:
    raise HookAborted(REASON, "hookspan points --check")


def play(scene: Scene, action: str) -> Cell:
    """Run a scene with a hook that does one thing."""
    evidence = Evidence()
    acts: Callable[[Any], Any] = {
        "observe": _look,
        "mutate": scene.mutate,
        "replace": scene.replace,
        "abort": _abort,
    }[action]

    def hook(ctx: Any) -> Any:
        evidence.contexts.append(ctx)
        result = acts(ctx)
        return None if action == "mutate" else result

    clear_all_hooks()
    register_hook(scene.point, hook)
    stop = DISPATCHES.observe(lambda chain: _watch(chain, scene, evidence))
    try:
        evidence.result = str(scene.run(evidence))
    except Exception as error:  # noqa: BLE001 - what leaves the run is what is looked at
        evidence.error = error
    finally:
        stop()
        clear_all_hooks()
    problems = [what for what, holds in _expectations(scene, action, evidence) if not holds]
    if problems:
        return Cell(FAILED, "; ".join(problems))
    if action == "abort":
        return Cell(BLOCKED if scene.blocked else RAISED)
    return Cell(REFUSED if action in scene.refuses else TOOK_EFFECT)


def _watch(chain: Chain, scene: Scene, evidence: Evidence) -> Finish:
    if chain.point != scene.point:
        return lambda _error: None
    chain.watch()
    return lambda _error: evidence.effects.append(chain.effect.value)


def _expectations(scene: Scene, action: str, seen: Evidence) -> Iterator[tuple[str, bool]]:
    """Yield what must hold of a run, each with whether it does."""
    yield f"asked {len(seen.contexts)} times", len(seen.contexts) == 1
    expected = _effect(scene, action)
    yield f"effect {seen.effects} is not {expected.value}", set(seen.effects) == {expected.value}
    if action == "abort" and not scene.blocked:
        raised = isinstance(seen.error, HookAborted) and seen.error.reason == REASON
        yield f"left by {seen.error!r}", raised
    else:
        yield f"left by {seen.error!r}", seen.error is None
    test = {"observe": scene.untouched, "abort": scene.stopped}.get(action, scene.changed)
    if action in scene.refuses:
        test = scene.untouched
    yield f"{scene.proof}: {seen.done or seen.result or seen.read[-1:]}", test(seen)
    if action in scene.more:
        what, holds = scene.more[action]
        yield f"it is not so that {what}", holds()


def _effect(scene: Scene, action: str) -> Effect:
    if action == "observe" or action in scene.refuses:
        return Effect.CONTINUED
    if action == "abort":
        return Effect.BLOCKED if scene.blocked else Effect.RAISED
    return Effect.REPLACED


def play_all(scenes: tuple[Scene, ...]) -> Iterator[tuple[Scene, dict[str, Cell]]]:
    """Play every scene in every action, in the order of the catalogue."""
    for scene in scenes:
        yield scene, {action: play(scene, action) for action in ACTIONS}

"""Watches the hooks of one dispatch from inside the loop that calls them.

The loop, ours or crewAI's, is handed probes in the place of the hooks and of the reducer. It keeps
its own order, its own handling of errors and its own abort rule; a probe only looks, and hands on
the same result or the same exception object. Per-hook truth is therefore written once.

Cost: two clock readings, one bound method and one tuple per hook.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from types import MethodType
from typing import Any

from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Change, Effect, HookOutcome, HookResult, Outcome
from hookspan.engine.change import Snapshot, changed, snapshot
from hookspan.engine.hooks import ConfiguredHook, Hook, function_of, hook_name, is_abort, policy_of
from hookspan.engine.loop import Loop
from hookspan.engine.policy import PLAIN, POLICIES, Policy, closed
from hookspan.engine.reducers import Reducer
from hookspan.engine.shadow import run_shadow

logger = logging.getLogger("hookspan")

_now = time.perf_counter_ns
_PASSED, _MODIFIED = HookOutcome.PASSED, HookOutcome.MODIFIED
_ABORTED, _ERRORED, _FILTERED = HookOutcome.ABORTED, HookOutcome.ERRORED, HookOutcome.FILTERED

Entry = tuple[Hook, HookOutcome, int, "BaseException | None", "Change | None"]
"""What became of one hook, in the shape of `HookResult`, which costs more to make."""


Around = Callable[[Any, Any], Any]
"""Takes a hook and the function behind it; returns what to call in the function's place."""


class Chain(list[Entry]):
    """The hooks of one dispatch: the list of what became of those that were reached, in order.

    Attributes:
        point: The point, as the caller gave it.
        ctx: The context that the hooks are called with.
        hooks: The hooks that were resolved for this dispatch, in order.
        reducer: What a hook's return value does.
        loop: What the loop around them does by itself.
        abort: The exception that aborted the dispatch, or None.
        failed_closed: Whether that was made from the crash of a hook.
        around: What an observer wants around each hook, or None.
    """

    __slots__ = (
        "_first",
        "_held",
        "_seen",
        "_watched",
        "abort",
        "around",
        "ctx",
        "failed_closed",
        "hooks",
        "loop",
        "point",
        "reducer",
    )

    point: Any
    ctx: Any
    hooks: tuple[Hook, ...]
    reducer: Reducer
    loop: Loop
    abort: BaseException | None
    failed_closed: bool
    around: Around | None
    _watched: bool
    _seen: Snapshot | None
    _first: Snapshot | None
    _held: dict[str, Any]

    def watch(self) -> None:
        """Look, from now on, for what hooks change in place."""
        if not self._watched:
            self._watched = True
            ctx = self.ctx
            self._seen = self._first = snapshot(ctx)
            self._held = {name: getattr(ctx, name, None) for name in self.loop.by_reference}

    def probes(self) -> list[Hook]:
        """Return the hooks, each in a probe."""
        probes: list[Hook] = []
        for hook in self.hooks:  # a comprehension costs half as much again before Python 3.12
            probes.append(MethodType(_call, (hook, self)))  # noqa: PERF401 - see above
        return probes

    def reduce(self, ctx: Any, result: Any) -> bool:
        """Do what the reducer does, and credit it to the hook that ran last.

        Raises:
            BaseException: What the reducer raises, the same object.
        """
        try:
            replaced = self.reducer(ctx, result)
        except BaseException as error:
            hook, _, duration, _, change = self[-1]
            outcome = _ERRORED
            if isinstance(error, self.loop.abort_type):
                outcome, self.abort = _ABORTED, error
                _name_source(error, hook)
            self[-1] = (hook, outcome, duration, error, change)
            raise
        if replaced:
            hook, _, duration, _, _ = self[-1]
            self[-1] = (hook, _MODIFIED, duration, None, Change.REPLACED)
            if self._watched:
                self._seen = snapshot(ctx)
        return replaced

    def note(
        self, hook: Hook, outcome: HookOutcome, started: int, error: BaseException | None = None
    ) -> None:
        """Note what became of a hook that was called.

        Args:
            hook: The hook.
            outcome: What it came to, but for a change in place.
            started: When it was called, on the clock of this module, in nanoseconds.
            error: What it raised, or None.
        """
        duration = _now() - started
        change = self._look() if self._watched and outcome is not _FILTERED else None
        if change is Change.IN_PLACE and outcome is _PASSED:
            outcome = _MODIFIED
        self.append((hook, outcome, duration, error, change))

    def shadow(self, hook: Hook, function: Any) -> None:
        """Run a hook in shadow mode and note what it would have done."""
        seen = run_shadow(function, self.ctx, self.reducer, self.loop.abort_type)
        if seen.outcome is HookOutcome.WOULD_ABORT and seen.error is not None:
            _name_source(seen.error, hook)
        self.append((hook, seen.outcome, seen.duration_ns, seen.error, seen.change))

    @property
    def outcome(self) -> Outcome:
        """What the dispatch as a whole has come to."""
        if self.abort is not None:
            return Outcome.ABORTED
        for entry in self:  # any() and a generator would cost twice as much
            if entry[4] in _CHANGES and entry[1] not in _SHADOWED:
                return Outcome.MODIFIED
        return Outcome.PROCEEDED

    @property
    def effect(self) -> Effect:
        """What becomes of the verdict."""
        return self.effect_of(self.outcome)

    def effect_of(self, outcome: Outcome) -> Effect:
        """Return what becomes of the verdict, where what the dispatch came to is known."""
        if outcome is Outcome.MODIFIED and self._watched and self._is_lost():
            return Effect.IGNORED
        return self.loop.effect(self.point, outcome, self.ctx)

    @property
    def change(self) -> Change | None:
        """How the payload was changed: the plainest way of all that were taken."""
        found = [entry[4] for entry in self if entry[4] is not None and entry[1] not in _SHADOWED]
        return min(found, key=_PLAINEST.index) if found else None

    def results(self) -> list[HookResult]:
        """Return what became of every hook, in order, those that were not reached included."""
        reached = [HookResult(*entry) for entry in self]
        rest = self.hooks[len(reached) :]
        return reached + [HookResult(hook, HookOutcome.NOT_REACHED) for hook in rest]

    def _is_lost(self) -> bool:
        """Tell whether all that was changed is in objects that the caller does not have."""
        if all(getattr(self.ctx, name, None) is held for name, held in self._held.items()):
            return False
        callers = copy.copy(self.ctx)
        for name, held in self._held.items():
            setattr(callers, name, held)
        after = snapshot(callers)
        return not (self._first is None or after is None or changed(self._first, after))

    def _look(self) -> Change | None:
        """Compare what hooks may change with what it was before the last one."""
        before, self._seen = self._seen, snapshot(self.ctx)
        if before is None or self._seen is None:
            return Change.UNKNOWN
        return Change.IN_PLACE if changed(before, self._seen) else None


_PLAINEST = tuple(Change)
_CHANGES = (Change.REPLACED, Change.IN_PLACE)
_SHADOWED = (HookOutcome.WOULD_MODIFY, HookOutcome.WOULD_ABORT)


def _call(probe: tuple[Any, Chain], ctx: Any) -> Any:
    """Call a hook and note what became of it."""
    hook, chain = probe
    function, policy, outcome = hook, PLAIN, _PASSED
    started = _now()
    try:
        if type(hook) is ConfiguredHook or POLICIES.active:
            function, policy = function_of(hook), policy_of(hook)
        if function is not hook and not hook.matches(ctx):
            chain.append((hook, _FILTERED, 0, None, None))
            return None
        if chain.loop.keeps_out is not None and chain.loop.keeps_out(hook, ctx):
            outcome, policy = _FILTERED, PLAIN
        elif chain.around is not None:
            function = chain.around(hook, function)
            started = _now()  # the time that an observer took is not the hook's
        if policy.shadow:
            return chain.shadow(hook, function)
        result = function(ctx)
    except BaseException as error:
        _note_failure(chain, hook, policy, started, error)
        raise
    chain.note(hook, outcome, started)
    return result


def _note_failure(
    chain: Chain, hook: Hook, policy: Policy, started: int, error: BaseException
) -> None:
    """Note that a hook has raised.

    Raises:
        BaseException: The abort that its error becomes, where it becomes another one.
    """
    loop = chain.loop
    if isinstance(error, loop.abort_type) or _is_foreign_abort(loop, policy, error):
        chain.abort = error
        chain.note(hook, _ABORTED, started, error)
        _name_source(error, hook)
    elif isinstance(error, HookAborted) and loop.convert is not None:
        chain.abort = loop.convert(error)
        chain.note(hook, _ABORTED, started, chain.abort)
        _name_source(chain.abort, hook)
        raise chain.abort from error
    elif policy.fail_closed and isinstance(error, Exception):
        abort = closed(hook_name(hook), function_of(hook), error)
        chain.abort = abort if loop.convert is None else loop.convert(abort)
        chain.failed_closed = True
        chain.note(hook, _ERRORED, started, error)
        raise chain.abort from error
    else:
        chain.note(hook, _ERRORED, started, error)


def _is_foreign_abort(loop: Loop, policy: Policy, error: BaseException) -> bool:
    """Tell whether our own loop will let another runtime's abort out: a strict guard's."""
    return policy.fail_closed and loop.abort_type is HookAborted and is_abort(error)


def is_probed(hook: Any) -> bool:
    """Tell whether a hook is a probe; the hook itself is not asked."""
    return type(hook) is MethodType and hook.__func__ is _call


def probed_hook(hook: Any) -> Any:
    """Return the hook that is in a probe, or the argument when it is no probe."""
    return hook.__self__[0] if is_probed(hook) else hook


def _name_source(aborted: BaseException, hook: Hook) -> None:
    """Name the hook as the source of its abort, where it named none."""
    try:
        if getattr(aborted, "source", None) is None:
            aborted.source = function_of(hook)  # type: ignore[attr-defined]  # both kinds have it
    except Exception as error:  # a subclass of a user's; the abort must get through
        logger.debug("the source of an abort cannot be set", exc_info=error)

"""Running a hook on a copy, to see what it would decide."""

from __future__ import annotations

import copy
import time
from typing import Any, NamedTuple

from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Change, HookOutcome
from hookspan.engine.change import changed, snapshot
from hookspan.engine.reducers import Reducer

_VALUES = (
    "payload",
    "inputs",
    "output",
    "messages",
    "tool_input",
    "response",
    "tool_result",
    "raw_tool_result",
    "metadata",
)


class Verdict(NamedTuple):
    """What a hook in shadow mode would have come to.

    Attributes:
        outcome: One of the outcomes of shadow mode, or that it passed or crashed.
        error: Its abort or error, or None.
        change: How it would have changed the payload, or None.
        duration_ns: How long it ran, in nanoseconds, the copying not counted.
    """

    outcome: HookOutcome
    error: BaseException | None = None
    change: Change | None = None
    duration_ns: int = 0


def copied(ctx: Any) -> Any:
    """Return a shallow copy of a context whose values are deep copies.

    Agent, task, crew, executor and model stay the live ones: they cannot be copied, and a hook in
    shadow mode must not change them.

    Args:
        ctx: The context.

    Returns:
        The copy, or None when something in it cannot be copied.
    """
    try:
        twin = copy.copy(ctx)
        values: dict[str, Any] = twin.__dict__
        memo: dict[int, Any] = {}  # one memo: what is one object in the context is one in the copy
        for name in _VALUES:
            if name in values:
                values[name] = copy.deepcopy(values[name], memo)
    except Exception:  # noqa: BLE001 - whatever a user's value does when it is copied
        return None
    return twin


def run_shadow(
    function: Any, ctx: Any, reducer: Reducer, abort_type: type[BaseException]
) -> Verdict:
    """Run a hook on a copy of a context.

    Args:
        function: The user's hook.
        ctx: The context, which stays as it is.
        reducer: What the hook's return value does.
        abort_type: What counts as an abort.

    Returns:
        What it would have come to.
    """
    twin = copied(ctx)
    if twin is None:
        return Verdict(HookOutcome.NOT_RUN)
    before = snapshot(twin)
    started = time.perf_counter_ns()
    verdict = _decided(function, twin, reducer, abort_type)
    verdict = verdict._replace(duration_ns=time.perf_counter_ns() - started)
    after = snapshot(twin) if verdict.outcome is HookOutcome.PASSED else None
    if before is not None and after is not None and changed(before, after):
        return verdict._replace(outcome=HookOutcome.WOULD_MODIFY, change=Change.IN_PLACE)
    return verdict


def _decided(
    function: Any, twin: Any, reducer: Reducer, abort_type: type[BaseException]
) -> Verdict:
    try:
        if reducer(twin, function(twin)):
            return Verdict(HookOutcome.WOULD_MODIFY, change=Change.REPLACED)
    except (abort_type, HookAborted) as abort:
        return Verdict(HookOutcome.WOULD_ABORT, abort)
    except Exception as error:  # noqa: BLE001 - the hook's own, as good as swallowed
        return Verdict(HookOutcome.ERRORED, error)
    return Verdict(HookOutcome.PASSED)

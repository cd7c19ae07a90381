"""Running a hook on a copy, to see what it would decide."""

from __future__ import annotations

import copy
from typing import Any

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
)

Verdict = tuple[HookOutcome, "BaseException | None", "Change | None"]


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
        values: dict[str, Any] = vars(twin)
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
        What it would have come to, with its abort or error and the way it would have changed the
        payload.
    """
    twin = copied(ctx)
    if twin is None:
        return HookOutcome.NOT_RUN, None, None
    before = snapshot(twin)
    try:
        replaced = reducer(twin, function(twin))
    except (abort_type, HookAborted) as abort:
        return HookOutcome.WOULD_ABORT, abort, None
    except Exception as error:  # noqa: BLE001 - the hook's own, as good as swallowed
        return HookOutcome.ERRORED, error, None
    if replaced:
        return HookOutcome.WOULD_MODIFY, None, Change.REPLACED
    after = snapshot(twin)
    if before is not None and after is not None and changed(before, after):
        return HookOutcome.WOULD_MODIFY, None, Change.IN_PLACE
    return HookOutcome.PASSED, None, None

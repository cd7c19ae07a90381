"""The ten native points: crewAI's own loop, watched."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hookspan.contract.errors import HookAborted
from hookspan.engine.loop import Loop
from hookspan.engine.observe import observed
from hookspan.engine.reducers import Reducer
from hookspan.integrations.crewai.effects import effect_of
from hookspan.integrations.crewai.filters import keeps_out
from hookspan.integrations.crewai.patching import Patch


def watch_loop(dispatch: Any, convert: Callable[[HookAborted], BaseException] | None) -> Patch:
    """Make the patch that watches crewAI's loop.

    Every seam looks ``run_hooks`` up in its module when it dispatches, so that this one
    replacement sees every dispatch that reaches a hook.

    Args:
        dispatch: The module ``crewai.hooks.dispatch``.
        convert: Makes an abort of crewAI's from one of ours, None where ours is one.
    """

    def default_reducer(_point: Any) -> Reducer:
        reducer: Reducer = dispatch._default_reducer  # noqa: SLF001 - the seam itself
        return reducer

    loop = Loop(
        default_reducer=default_reducer,
        abort_type=dispatch.HookAborted,
        convert=convert,
        effect=effect_of,
        keeps_out=keeps_out,
        by_reference=("messages", "tool_input"),
    )
    return Patch(dispatch, "run_hooks", lambda run: functools.wraps(run)(observed(run, loop)))

"""Subscribing to `HookDispatchedEvent`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from hookspan.contract.outcomes import Outcome
from hookspan.engine.hooks import function_of
from hookspan.engine.observe import DISPATCHES, Finish
from hookspan.engine.probe import Chain

if TYPE_CHECKING:
    from hookspan.contract.events import HookDispatchedEvent


def subscribe(handler: Callable[[HookDispatchedEvent], None]) -> Callable[[], None]:
    """Call a handler with one event for each dispatch that reached at least one hook.

    It is called on the thread of the dispatch, after the last hook. What it raises is logged and
    goes no further. While crewAI is instrumented it hears of crewAI's dispatches too.

    Args:
        handler: Takes one `HookDispatchedEvent`.

    Returns:
        What ends the subscription.
    """
    from hookspan.contract.events import HookDispatchedEvent  # noqa: PLC0415 - pydantic is slow

    def begin(chain: Chain) -> Finish:
        chain.watch()
        started_ns = time.perf_counter_ns()

        def finish(_error: BaseException | None) -> None:
            duration_ms = (time.perf_counter_ns() - started_ns) / 1e6
            handler(HookDispatchedEvent(duration_ms=duration_ms, **_fields(chain)))

        return finish

    return DISPATCHES.observe(begin)


def source_name(source: Any) -> str | None:
    """Return a readable name of an abort's source: a string as it is, else a name of the object.

    Args:
        source: A string, a hook or any object; None for none.
    """
    if source is None or issubclass(type(source), str):
        return cast("str | None", source)
    try:
        name = function_of(source).__name__
    except Exception:  # noqa: BLE001 - a hostile object is named after its class
        name = None
    return str(name) if issubclass(type(name), str) else type(source).__name__


def _fields(chain: Chain) -> dict[str, Any]:
    outcome, abort = chain.outcome, chain.abort
    reason = getattr(abort, "reason", None)
    return {
        "interception_point": chain.point.value,
        "outcome": outcome.value,
        "hook_count": len(chain.hooks),
        "abort_reason": reason if reason is None or isinstance(reason, str) else repr(reason),
        "abort_source": source_name(getattr(abort, "source", None))
        if outcome is Outcome.ABORTED
        else None,
    }

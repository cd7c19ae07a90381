"""The event that is emitted once per dispatch that reached at least one hook."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class HookDispatchedEvent(BaseModel):
    """One dispatch, told to subscribers after its last hook.

    Where the rule comes from: the contract's telemetry section. The no-op fast path emits nothing.

    Attributes:
        interception_point: The point, as one of the twenty values.
        outcome: What the dispatch as a whole came to.
        hook_count: Hooks resolved for the dispatch, filtered-out ones included.
        duration_ms: From before the first hook to after the last, in milliseconds.
        abort_reason: The reason of the abort, or None.
        abort_source: A readable name of whoever aborted, or None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["hook_dispatched"] = "hook_dispatched"
    interception_point: str
    outcome: Literal["proceeded", "modified", "aborted"]
    hook_count: int = Field(ge=1)
    duration_ms: float = Field(ge=0)
    abort_reason: str | None = None
    abort_source: str | None = None

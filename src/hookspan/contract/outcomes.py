"""What became of a dispatch and of each hook in it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class Outcome(str, Enum):
    """What a dispatch as a whole came to.

    Where the rule comes from: the contract's telemetry section.
    """

    PROCEEDED = "proceeded"
    MODIFIED = "modified"
    ABORTED = "aborted"


class HookOutcome(str, Enum):
    """What one hook of a dispatch came to. A crashed hook never looks like an allow."""

    PASSED = "passed"
    MODIFIED = "modified"
    ABORTED = "aborted"
    ERRORED = "errored"
    FILTERED = "filtered"
    NOT_REACHED = "not_reached"

    # Of a hook in shadow mode, whose decision has no effect:
    WOULD_ABORT = "would_abort"
    WOULD_MODIFY = "would_modify"
    NOT_RUN = "not_run"


class Change(str, Enum):
    """How a hook changed what it was given."""

    REPLACED = "replaced"
    IN_PLACE = "in_place"
    UNKNOWN = "unknown"


class Effect(str, Enum):
    """What the place that dispatched does with the verdict."""

    CONTINUED = "continued"
    REPLACED = "replaced"
    RAISED = "raised"
    BLOCKED = "blocked"
    IGNORED = "ignored"


class HookResult(NamedTuple):
    """One hook's part in one dispatch.

    Attributes:
        hook: The callable as it was registered.
        outcome: What it came to.
        duration_ns: How long it ran, in nanoseconds; 0 when it was not called.
        error: What it raised, or None.
        change: How it changed the payload; None when it did not.
    """

    hook: Any
    outcome: HookOutcome
    duration_ns: int = 0
    error: BaseException | None = None
    change: Change | None = None

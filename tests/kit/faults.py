"""What a receiver can do to an export call instead of answering it well."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Lock

ANY_SIGNAL = "any"


@dataclass(frozen=True)
class Fault:
    """How to treat one call. Without a fault the call is taken at once and answered well.

    Args:
        http: HTTP status to answer with; None for success.
        grpc: Name of the gRPC status to answer with; None for success.
        delay: Seconds between the arrival of the call and the answer.
        hangs: Never answer.
        resets: Close the connection with a TCP reset. gRPC shares a connection among calls, so
            there the call ends with the status that a client reports for a lost connection.
    """

    http: int | None = None
    grpc: str | None = None
    delay: float = 0.0
    hangs: bool = False
    resets: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the client learns, or must assume, that nothing was taken."""
        return self.hangs or self.resets or self.http is not None


NONE = Fault()
UNAVAILABLE = Fault(http=503, grpc="UNAVAILABLE")
TOO_MANY_REQUESTS = Fault(http=429, grpc="RESOURCE_EXHAUSTED")
BAD_REQUEST = Fault(http=400, grpc="INVALID_ARGUMENT")
HANG = Fault(hangs=True)
RESET = Fault(resets=True, grpc="UNAVAILABLE")


def slow(seconds: float) -> Fault:
    """Return a fault that takes what was sent and answers well, but late."""
    return Fault(delay=seconds)


@dataclass
class FaultPlan:
    """Which fault meets which call. Planned ones come first, one per call; then the standing one.

    Args:
        standing: Fault of every call for which none is planned.
    """

    standing: Fault = NONE
    _planned: dict[str, deque[Fault]] = field(default_factory=dict[str, deque[Fault]])
    _lock: Lock = field(default_factory=Lock)

    def add(self, *faults: Fault, signal: str = ANY_SIGNAL) -> None:
        """Plan a fault for each of the next calls; `NONE` lets one pass.

        Args:
            faults: In the order of the calls that they meet.
            signal: traces, metrics or logs, to count only calls of that signal.
        """
        with self._lock:
            self._planned.setdefault(signal, deque()).extend(faults)

    def take(self, signal: str) -> Fault:
        """Return the fault that meets a call which arrives now."""
        with self._lock:
            for key in (signal, ANY_SIGNAL):
                if planned := self._planned.get(key):
                    return planned.popleft()
        return self.standing

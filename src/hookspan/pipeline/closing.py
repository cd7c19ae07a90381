"""Ending providers within a bounded time, whatever their receiver does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from hookspan.engine.guard import GUARD


class Closer:
    """Ends one provider on a thread of its own, which waits for that from the start.

    At interpreter exit some versions of Python start no thread any more, and a provider whose
    receiver does not answer ends only after many seconds: the thread has to be there before.

    Args:
        signal: Name of the signal, for the thread's name.
        close: Ends the provider; may block.
        interrupt: Makes a blocked ``close`` give up soon.
    """

    def __init__(
        self, signal: str, close: Callable[[], None], interrupt: Callable[[], None]
    ) -> None:
        self._signal = signal
        self._close = close
        self._interrupt = interrupt
        self._start()

    def _start(self) -> None:
        self._wanted = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"hookspan-close-{self._signal}", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        self._wanted.wait()
        try:
            self._close()
        except Exception as error:  # noqa: BLE001 - nothing is left to hand it to
            GUARD.failed("pipeline.close", error)
        finally:
            self._done.set()

    def begin(self) -> None:
        """Let the provider end; in a forked child, which has no threads, on a new thread."""
        if not self._thread.is_alive() and not self._done.is_set():
            self._start()
        self._wanted.set()

    def wait(self, deadline: float) -> bool:
        """Wait until it has ended; tell whether it has.

        Args:
            deadline: Reading of the monotonic clock at which to stop waiting, in seconds.
        """
        return self._done.wait(max(0.0, deadline - time.monotonic()))

    def interrupt(self) -> None:
        """Make it give up soon."""
        self._interrupt()


def close_all(closers: Sequence[Closer], timeout: float, grace: float) -> bool:
    """End providers side by side.

    Args:
        closers: One for each.
        timeout: How long they may take to send what they hold, in seconds.
        grace: How long more they may take once they were interrupted, in seconds.

    Returns:
        Whether all ended without being interrupted.
    """
    for closer in closers:
        closer.begin()
    deadline = time.monotonic() + timeout
    late = [closer for closer in closers if not closer.wait(deadline)]
    for closer in late:
        closer.interrupt()
    deadline = time.monotonic() + grace
    for closer in late:
        closer.wait(deadline)
    return not late


def run_bounded(functions: Iterable[Callable[[], bool]], timeout: float) -> bool:
    """Run functions side by side.

    Args:
        functions: Each tells whether it succeeded; may block.
        timeout: How long to wait for all of them, in seconds.

    Returns:
        Whether all have returned in time, each with True.
    """
    results: list[bool] = []

    def run(function: Callable[[], bool]) -> None:
        results.append(function())

    threads = [
        threading.Thread(target=run, args=(function,), name="hookspan-flush", daemon=True)
        for function in functions
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return len(results) == len(threads) and all(results)

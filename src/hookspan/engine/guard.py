"""The one boundary that keeps our own failures out of a run."""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger("hookspan")

FailureListener = Callable[[str, BaseException], None]


class Guard:
    """Takes every exception of our own that would otherwise reach a run.

    Each is told to the listeners (who count it) and, once per operation and type, logged with its
    traceback. KeyboardInterrupt and the like are not ours and are never taken.

    Attributes:
        reraise: Raise instead of taking; only our own tests set it.
    """

    def __init__(self) -> None:
        self.reraise = False
        self._listeners: tuple[FailureListener, ...] = ()
        self._logged: set[tuple[str, type[BaseException]]] = set()

    def failed(self, operation: str, error: Exception) -> None:
        """Take an exception that one of our own operations raised.

        Args:
            operation: What was being done; one of a fixed set of names.
            error: What it raised.
        """
        if self.reraise:
            raise error
        key = (operation, type(error))
        if key not in self._logged:
            self._logged.add(key)
            logger.error(
                "hookspan failed at %s; the run goes on, further failures of this kind are only"
                " counted",
                operation,
                exc_info=error,
            )
        for listener in self._listeners:
            try:
                listener(operation, error)
            except Exception as failure:  # who counts failures must not break a run either
                logger.debug("a listener of hookspan's failures failed", exc_info=failure)

    def on_failure(self, listener: FailureListener) -> Callable[[], None]:
        """Tell a listener of every failure; return what ends that."""
        self._listeners = (*self._listeners, listener)

        def undo() -> None:
            self._listeners = tuple(held for held in self._listeners if held is not listener)

        return undo


GUARD = Guard()
"""The guard of this process."""

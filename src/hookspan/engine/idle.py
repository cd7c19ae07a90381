"""Guards that nothing has ever called: the program is told when it ends."""

from __future__ import annotations

import atexit
import logging
import sys
from collections.abc import Callable

logger = logging.getLogger("hookspan")

RUNTIME = "crewai"
"""The runtime that calls hooks only where it is instrumented; here it is only a name."""

_NAMED = 10


def report_at_exit(names: Callable[[], list[str]]) -> None:
    """Log one ERROR at exit where hooks have been left to a runtime that was never instrumented.

    That is so where the runtime was imported and nothing has taken the hooks over or asked them. A
    forgotten `hookspan.instrument()` would otherwise look like guards that agree.

    Args:
        names: Returns the names of the hooks that were left alone; none where all is well.
    """
    atexit.register(_report, names)


def _report(names: Callable[[], list[str]]) -> None:
    if RUNTIME not in sys.modules:
        return
    idle = names()
    if idle:
        more = f" and {len(idle) - _NAMED} more" if len(idle) > _NAMED else ""
        logger.error(
            "hookspan.instrument() was never called, so no crew or flow has called what is"
            " registered through hookspan: %s%s",
            ", ".join(idle[:_NAMED]),
            more,
        )

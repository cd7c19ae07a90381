"""A crew with telemetry as the environment says.

After its result it writes when its end began, when that of telemetry began, and when that was over.
"""

from __future__ import annotations

import atexit
import sys
import time


def note() -> None:
    """Write the time."""
    sys.stdout.write(f"{time.time()}\n")


if __name__ == "__main__":
    # Functions are called at the end in the opposite order: the first of these after hookspan's,
    # the second before it but after crewAI's.
    atexit.register(note)
    from hookspan import configure

    atexit.register(note)
    from tests.integration_crewai.crews import kickoff, native_tool_crew
    from tests.integration_crewai.programs.unchanged_crew import deny_hull

    configure()
    sys.stdout.write(f"{kickoff(native_tool_crew())} {deny_hull.__name__}\n")
    note()

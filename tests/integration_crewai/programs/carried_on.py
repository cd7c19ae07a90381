"""A flow that pauses in one process and goes on in another.

Usage: carried_on.py pause FOLDER | resume FOLDER FLOW_ID

The context of whoever started the process comes in the variables `TRACEPARENT` and `BAGGAGE`. The
one that resumes leaves another run open when it ends.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path
from typing import Any

from opentelemetry import baggage, propagate
from opentelemetry.context import attach

import hookspan


def main(command: str, folder: Path, flow_id: str = "") -> None:
    """Do it."""
    hookspan.configure()
    attach(propagate.extract({name.lower(): value for name, value in os.environ.items()}))
    from crewai.flow.flow import Flow, start  # noqa: PLC0415 - when telemetry is configured

    from tests.integration_crewai import flows  # noqa: PLC0415 - the same

    class Endless(Flow[dict[str, Any]]):
        """Is still at work when the process ends."""

        begun = threading.Event()

        @start()
        async def begin(self) -> str:
            """Work."""
            self.begun.set()
            await asyncio.sleep(60)
            return "never"

    if command == "pause":
        flow = flows.pausing_flow(folder)
        flow.kickoff()
        sys.stdout.write(f"\n{flow.flow_id}\n")
        return
    paused: Any = flows.paused_flow(folder, flow_id)
    sys.stdout.write(f"\n{paused.resume('fine')} for {baggage.get_baggage('tenant')}\n")
    threading.Thread(target=flows.flow(Endless).kickoff, daemon=True).start()
    Endless.begun.wait(10)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])

"""A crew with a guard, written for crewAI alone."""

from __future__ import annotations

import sys
from typing import Any

from crewai.hooks import HookAborted, InterceptionPoint, on

from tests.integration_crewai.crews import kickoff, native_tool_crew

REASON = "not Hull"


@on(InterceptionPoint.PRE_TOOL_CALL, tools=["lookup"])
def deny_hull(ctx: Any) -> None:
    """Let nobody look up the tides of Hull."""
    if ctx.tool_input["city"] == "Hull":
        raise HookAborted(REASON, source="policy")


if __name__ == "__main__":
    sys.stdout.write(f"{kickoff(native_tool_crew())}\n")

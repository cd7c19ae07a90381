"""Every shape of run by name, with what it gives on plain crewAI: for tests that hold for all."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff


def outcome(run: Callable[[], Any]) -> str:
    """Return the answer of a run as text; of one that raises, the exception."""
    try:
        return str(run())
    except BaseException as error:  # noqa: BLE001 - a run may raise an interrupt
        return repr(error)


def paused_and_resumed() -> str:
    """Pause a flow, then resume it from what it left behind."""
    with tempfile.TemporaryDirectory() as folder:
        flow = flows.pausing_flow(Path(folder))
        flow.kickoff()
        return str(flows.paused_flow(Path(folder), flow.flow_id).resume("fine"))


SCENARIOS: dict[str, tuple[Callable[[], Any], str]] = {
    "crew": (lambda: kickoff(crews.simple_crew(2)), "answer 1"),
    "crew, akickoff": (lambda: asyncio.run(crews.akickoff(crews.simple_crew(2))), "answer 1"),
    "crew, for each": (
        lambda: ", ".join(map(str, crews.kickoff_each(crews.echo_crew()))),
        "about tides, about winds, about stars",
    ),
    "crew, streaming": (lambda: crews.stream(crews.simple_crew(stream=True))[1], "answer 0"),
    "crews, two akickoffs": (
        lambda: ", ".join(asyncio.run(crews.two_akickoffs())),
        "about tides, about winds",
    ),
    "async tasks": (lambda: kickoff(crews.async_tasks_crew()), "about tides"),
    "async tasks, akickoff": (
        lambda: asyncio.run(crews.akickoff(crews.async_tasks_crew())),
        "about tides",
    ),
    "hierarchical": (lambda: kickoff(crews.hierarchical_crew()), "managed"),
    "tools": (lambda: kickoff(crews.tool_crew()), "both"),
    "native tools": (lambda: kickoff(crews.native_tool_crew()), "both"),
    "parallel tools": (lambda: kickoff(crews.parallel_tools_crew()), "both"),
    "failing": (lambda: kickoff(crews.failing_crew()), "RuntimeError('model down')"),
    "interrupted": (
        lambda: kickoff(crews.failing_crew(KeyboardInterrupt())),
        "KeyboardInterrupt()",
    ),
    "agent": (lambda: crews.ask(crews.solo_agent()), "alone"),
    "flow": (lambda: flows.flow(flows.TwoSteps).kickoff(), "begun, finished"),
    "flow of crew": (lambda: flows.flow(flows.OfCrew).kickoff(), "about tides"),
    "flow of failing crew": (
        lambda: flows.flow(flows.OfFailingCrew).kickoff(),
        "caught: model down",
    ),
    "flow of flow, crew and agent": (
        lambda: flows.flow(flows.OfFlowCrewAndAgent).kickoff(),
        "begun, finished; about tides; alone",
    ),
    "flow, failing": (lambda: flows.flow(flows.Failing).kickoff(), "ValueError('flow down')"),
    "flow, paused and resumed": (paused_and_resumed, "draft published: fine"),
}

"""Runs that are interrupted or cancelled."""

from __future__ import annotations

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.runs import (
    Situation,
    Waiting,
    agent_waits,
    cancelled,
    crew_with_tool,
    in_loop,
    raising,
    slept,
    slow_crew,
    timed_out,
    untyped,
)
from tests.integration_crewai.scripted import ScriptedLLM

INTERRUPTS = (
    Situation(
        "hook raises KeyboardInterrupt",
        lambda: kickoff(crews.simple_crew()),
        "KeyboardInterrupt()",
        """
        crew research: interrupted by KeyboardInterrupt
          execution_start: proceeded
          pre_step: proceeded
        """,
        hooks={"pre_step": raising(KeyboardInterrupt())},
    ),
    Situation(
        "tool raises KeyboardInterrupt",
        lambda: kickoff(crew_with_tool(KeyboardInterrupt())),
        "KeyboardInterrupt()",
        """
        crew research: interrupted by KeyboardInterrupt
          execution_start: proceeded
        """,
    ),
    Situation(
        "model raises KeyboardInterrupt",
        lambda: kickoff(crews.failing_crew(KeyboardInterrupt())),
        "KeyboardInterrupt()",
        """
        crew research: interrupted by KeyboardInterrupt
          execution_start: proceeded
        """,
    ),
    Situation(
        "hook of a flow raises KeyboardInterrupt",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "KeyboardInterrupt()",
        """
        flow TwoSteps: interrupted by KeyboardInterrupt
          execution_start: proceeded
          pre_step: proceeded
        """,
        hooks={"pre_step": raising(KeyboardInterrupt())},
    ),
    Situation(
        "model of an agent raises KeyboardInterrupt",
        lambda: crews.ask(crews.agent(ScriptedLLM(lambda call: KeyboardInterrupt()), "Solo")),
        "KeyboardInterrupt()",
        """
        agent Solo: interrupted by KeyboardInterrupt
          execution_start: proceeded
        """,
    ),
    Situation(
        "hook raises SystemExit",
        lambda: kickoff(crews.simple_crew()),
        "SystemExit(3)",
        """
        crew research: interrupted by SystemExit
          execution_start: proceeded
          pre_step: proceeded
        """,
        hooks={"pre_step": raising(SystemExit(3))},
    ),
    Situation(
        "tool raises SystemExit",
        lambda: kickoff(crew_with_tool(SystemExit(3))),
        "SystemExit(3)",
        """
        crew research: interrupted by SystemExit
          execution_start: proceeded
        """,
    ),
    Situation(
        "model raises SystemExit",
        lambda: kickoff(crews.failing_crew(SystemExit(3))),
        "SystemExit(3)",
        """
        crew research: interrupted by SystemExit
          execution_start: proceeded
        """,
    ),
    Situation(
        "hook of a flow raises SystemExit",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "SystemExit(3)",
        """
        flow TwoSteps: interrupted by SystemExit
          execution_start: proceeded
          pre_step: proceeded
        """,
        hooks={"pre_step": raising(SystemExit(3))},
    ),
    Situation(
        "model of an agent raises SystemExit",
        lambda: crews.ask(crews.agent(ScriptedLLM(lambda call: SystemExit(3)), "Solo")),
        "SystemExit(3)",
        """
        agent Solo: interrupted by SystemExit
          execution_start: proceeded
        """,
    ),
    Situation(
        "crew is cancelled",
        in_loop(lambda: crews.akickoff(slow_crew()), cancelled),
        "CancelledError()",
        """
        crew research: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
    Situation(
        "flow is cancelled",
        in_loop(lambda: untyped(flows.flow(Waiting)).kickoff_async(), cancelled),
        "CancelledError()",
        """
        flow Waiting: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
    Situation(
        "agent is cancelled",
        in_loop(agent_waits, cancelled),
        "CancelledError()",
        """
        agent Solo: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
    Situation(
        "who awaits a thread is cancelled",
        slept,
        "CancelledError()",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "crew times out",
        in_loop(lambda: crews.akickoff(slow_crew()), timed_out),
        "TimeoutError()",
        """
        crew research: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
    Situation(
        "flow times out",
        in_loop(lambda: untyped(flows.flow(Waiting)).kickoff_async(), timed_out),
        "TimeoutError()",
        """
        flow Waiting: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
)

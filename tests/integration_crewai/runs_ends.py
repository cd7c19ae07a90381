"""Runs that complete or fail."""

from __future__ import annotations

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import TOPIC, kickoff
from tests.integration_crewai.runs import (
    Situation,
    after_kickoff,
    ask_once_more,
    fail,
    in_loop,
    plain,
    untyped,
)

ENDS = (
    Situation(
        "crew completes",
        lambda: str(kickoff(crews.simple_crew())),
        "answer 0",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "crew completes, kickoff_async",
        in_loop(lambda: untyped(crews.simple_crew()).kickoff_async(inputs=TOPIC), plain),
        "answer 0",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "crew completes, akickoff",
        in_loop(lambda: crews.akickoff(crews.simple_crew()), plain),
        "answer 0",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "agent completes",
        lambda: crews.ask(crews.solo_agent()),
        "alone",
        """
        agent Solo: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "agent completes, kickoff in a loop",
        in_loop(lambda: untyped(crews.solo_agent()).kickoff("think"), plain),
        "alone",
        """
        agent Solo: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "agent completes, kickoff_async",
        in_loop(lambda: untyped(crews.solo_agent()).kickoff_async("think"), plain),
        "alone",
        """
        agent Solo: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "flow completes",
        lambda: untyped(flows.flow(flows.TwoSteps)).kickoff(),
        "begun, finished",
        """
        flow TwoSteps: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "task fails",
        lambda: kickoff(crews.failing_crew()),
        "RuntimeError('model down')",
        """
        crew research: failed by RuntimeError END failed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "task fails, akickoff",
        in_loop(lambda: crews.akickoff(crews.failing_crew()), plain),
        "RuntimeError('model down')",
        """
        crew research: failed by RuntimeError END failed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "flow method fails",
        lambda: flows.flow(flows.Failing).kickoff(),
        "ValueError('flow down')",
        """
        flow Failing: failed by ValueError END failed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "flow survives its crew",
        lambda: flows.flow(flows.OfFailingCrew).kickoff(),
        "caught: model down",
        """
        flow OfFailingCrew: completed END completed
          execution_start: proceeded
          crew research: failed by RuntimeError END failed
            execution_start: proceeded
            execution_end: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "after_kickoff fails",
        lambda: kickoff(after_kickoff(fail)),
        "ValueError('callback down')",
        """
        crew research: failed by ValueError END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "after_kickoff calls a model",
        lambda: str(kickoff(after_kickoff(ask_once_more))),
        "answer 0",
        """
        crew research: completed END completed
          pre_model_call: proceeded
          execution_end: proceeded
          pre_model_call: proceeded
        """,
        watched=("execution_end", "pre_model_call"),
    ),
)

"""Runs that pause, go on, come in numbers, stream or nest."""

from __future__ import annotations

import asyncio

from tests.integration_crewai import crews, flows
from tests.integration_crewai.runs import Situation
from tests.integration_crewai.runs_driven import (
    async_stream_left_early,
    each,
    from_checkpoint,
    nested,
    paused,
    paused_twice,
    replayed,
    resumed,
    stream_left_early,
    stream_never_read,
    twice_in_a_loop,
    twice_in_threads,
)

PARTS = (
    Situation(
        "flow pauses",
        paused,
        "HumanFeedbackPending",
        """
        flow Reviewed: paused
          execution_start: proceeded
        """,
    ),
    Situation(
        "flow pauses and goes on",
        resumed,
        "draft published: fine",
        """
        flow Reviewed: paused
          execution_start: proceeded
        flow Reviewed: completed END completed linked
          execution_end: proceeded
        """,
    ),
    Situation(
        "flow pauses twice",
        paused_twice,
        "HumanFeedbackPending, draft improved: fine, published: finer",
        """
        flow ReviewedTwice: paused
          execution_start: proceeded
        flow ReviewedTwice: paused linked
        flow ReviewedTwice: completed END completed linked
          execution_end: proceeded
        """,
    ),
    Situation(
        "replay",
        replayed,
        "c",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        crew research: completed END completed
          execution_end: proceeded
        """,
    ),
    Situation(
        "replay fails",
        lambda: replayed(RuntimeError("model down")),
        "RuntimeError('model down')",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        crew research: failed by RuntimeError
        """,
    ),
    Situation(
        "from a checkpoint",
        from_checkpoint,
        "begun, kept",
        """
        flow Checkpointed: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        flow Checkpointed: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "for each",
        lambda: each("kickoff_for_each"),
        "about stars, about tides, about winds",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "for each, threads",
        lambda: each("kickoff_for_each_async"),
        "about stars, about tides, about winds",
        """
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        """,
        concurrent=True,
    ),
    Situation(
        "for each, one loop",
        lambda: each("akickoff_for_each"),
        "about stars, about tides, about winds",
        """
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        """,
        concurrent=True,
    ),
    Situation(
        "one crew twice in threads",
        twice_in_threads,
        "refused, about tides",
        """
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: failed by RuntimeError END failed
          execution_end: proceeded
          execution_start: proceeded
        """,
        concurrent=True,
    ),
    Situation(
        "one crew twice in a loop",
        lambda: asyncio.run(twice_in_a_loop()),
        "CrewOutput, RuntimeError",
        """
        crew research: completed END completed
          execution_end: proceeded
          execution_start: proceeded
        crew research: failed by RuntimeError END failed
          execution_end: proceeded
          execution_start: proceeded
        """,
        concurrent=True,
    ),
    Situation(
        "stream read to its end",
        lambda: str(crews.stream(crews.simple_crew(stream=True))[1]),
        "answer 0",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "stream left early",
        stream_left_early,
        "StreamChunk",
        """
        crew research: completed END completed
          execution_start: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "asynchronous stream left early",
        lambda: asyncio.run(async_stream_left_early()),
        "left",
        """
        crew research: cancelled by CancelledError
          execution_start: proceeded
        """,
    ),
    Situation(
        "stream never read",
        stream_never_read,
        "forgotten",
        "",
    ),
    Situation(
        "crew in a flow in a crew",
        nested,
        "outer",
        """
        crew outer: completed END completed
          execution_start: proceeded
          flow OfCrew: completed END completed
            execution_start: proceeded
            crew research: completed END completed
              execution_start: proceeded
              execution_end: proceeded
            execution_end: proceeded
          execution_end: proceeded
        """,
    ),
    Situation(
        "flow of flow, crew and agent",
        lambda: flows.flow(flows.OfFlowCrewAndAgent).kickoff(),
        "begun, finished; about tides; alone",
        """
        flow OfFlowCrewAndAgent: completed END completed
          execution_start: proceeded
          flow TwoSteps: completed END completed
            execution_start: proceeded
            execution_end: proceeded
          crew research: completed END completed
            execution_start: proceeded
            execution_end: proceeded
          agent Solo: completed
          execution_end: proceeded
        """,
    ),
)

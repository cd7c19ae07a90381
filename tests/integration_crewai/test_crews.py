"""Every crew and flow of this folder does on plain crewAI what tests of hooks rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai import Crew
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMCallCompletedEvent, LLMCallStartedEvent
from crewai.flow.async_feedback import HumanFeedbackPending

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import akickoff, kickoff, llm_of
from tests.integration_crewai.scenarios import SCENARIOS, outcome
from tests.integration_crewai.scripted import ScriptedLLM, final


def test_simple_crew_does_its_tasks_in_order() -> None:
    crew = crews.simple_crew(tasks=3)
    output = kickoff(crew)
    assert [(done.name, done.raw) for done in output.tasks_output] == [
        ("task_0", "answer 0"),
        ("task_1", "answer 1"),
        ("task_2", "answer 2"),
    ]
    prompts = [call.prompt for call in llm_of(crew).calls]
    assert ["do task_1 about topic=tides" in prompt for prompt in prompts] == [False, True, False]


@pytest.mark.parametrize(
    "crew", [crews.tool_crew, crews.native_tool_crew, crews.parallel_tools_crew]
)
def test_tools_answer(crew: Callable[[], Crew]) -> None:
    built = crew()
    assert str(kickoff(built)) == "both"
    last = llm_of(built).calls[-1].prompt
    second = "Brest: strong" if crew is crews.parallel_tools_crew else "Hull: high"
    assert ["Brest: high" in last, second in last] == [True, True]


@pytest.mark.parametrize("retries", [0, 2])
def test_failing_crew_raises_the_models_error(retries: int) -> None:
    error = RuntimeError("model down")
    crew = crews.failing_crew(error, retries=retries)
    with pytest.raises(RuntimeError) as raised:
        kickoff(crew)
    assert raised.value is error
    assert len(llm_of(crew).calls) == 1 + retries


def test_async_tasks_in_threads_and_in_a_loop() -> None:
    expected = ["about tides"] * 3
    in_threads = kickoff(crews.async_tasks_crew())
    in_loop = asyncio.run(akickoff(crews.async_tasks_crew()))
    assert [done.raw for done in in_threads.tasks_output] == expected
    assert [done.raw for done in in_loop.tasks_output] == expected


def test_hierarchical_crew_delegates_once() -> None:
    crew = crews.hierarchical_crew()
    assert str(kickoff(crew)) == "managed"
    calls = llm_of(crew).calls
    assert [(bool(call.tools), call.has_tool_result) for call in calls] == [
        (True, False),
        (False, False),
        (True, True),
    ]
    assert "worked" in calls[-1].prompt


def test_streaming_crew_streams_and_gives_its_output() -> None:
    chunks, output = crews.stream(crews.simple_crew(stream=True))
    assert "".join(chunks).strip() == final("answer 0")
    assert len(chunks) > 1
    assert str(output) == "answer 0"


def test_flow_pauses_and_resumes(tmp_path: Path) -> None:
    flow = flows.pausing_flow(tmp_path)
    assert isinstance(flow.kickoff(), HumanFeedbackPending)
    resumed = flows.paused_flow(tmp_path, flow.flow_id)
    assert resumed.resume("fine") == "draft published: fine"


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(name: str) -> None:
    run, expected = SCENARIOS[name]
    assert outcome(run) == expected


def test_script_at_its_end_fails() -> None:
    with pytest.raises(AssertionError, match="no answer left for call 1"):
        ScriptedLLM([]).call("hello")


def test_model_calls_have_events() -> None:
    seen: list[str] = []

    def note(source: Any, event: Any) -> None:
        seen.append(event.type)

    with crewai_event_bus.scoped_handlers():
        for event in (LLMCallStartedEvent, LLMCallCompletedEvent):
            crewai_event_bus.on(event)(note)
        ScriptedLLM([final("done")]).call("hello")
        crewai_event_bus.flush()
    assert sorted(seen) == ["llm_call_completed", "llm_call_started"]

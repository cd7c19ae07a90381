"""An agent is called what the code calls it, whatever a user's inputs have made of its role."""

from __future__ import annotations

import pytest
from crewai import Crew

import hookspan
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.scripted import ScriptedLLM
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

GIVEN = "Expert for {topic}"


def watch(ctx: object) -> None:
    """Change nothing."""


@pytest.fixture
def watched(instrumented: Memory) -> Memory:
    """Have a hook at each step."""
    DISPATCH.register(DISPATCH.InterceptionPoint.PRE_STEP, watch)
    return instrumented


def role_crew() -> Crew:
    worker = crews.agent(ScriptedLLM(crews.about_the_topic), role=GIVEN)
    return Crew(name="experts", agents=[worker], tasks=[crews.task("task_0", worker)])


def agents(memory: Memory) -> set[str]:
    spans = [dict(span.attributes or {}) for span in memory.spans()]
    return {str(span["gen_ai.agent.name"]) for span in spans if "gen_ai.agent.name" in span}


def test_roles_are_as_the_code_gives_them(watched: Memory) -> None:
    kickoff(role_crew())
    assert agents(watched) == {GIVEN}


def test_roles_of_copies_are_those_of_the_original(watched: Memory) -> None:
    crew = role_crew()
    kickoff(crew)  # crewAI fills the topic into the role, and copies the agent with it
    crews.kickoff_each(crew)
    crews.kickoff_each(crew.copy())
    assert len(watched.named("invoke_workflow experts")) == 7
    assert agents(watched) == {GIVEN}


def test_a_role_that_is_changed_afterwards_is_said(watched: Memory) -> None:
    crew = role_crew()
    kickoff(crew)
    copied = crew.copy()
    copied.agents[0].role = "Somebody else"
    kickoff(copied, {})
    assert agents(watched) == {GIVEN, "Somebody else"}


def test_copies_are_called_so_too_when_they_run_after_a_restart(watched: Memory) -> None:
    crew = role_crew()
    kickoff(crew)
    copied = crew.copy()
    hookspan.uninstrument()
    hookspan.instrument(**watched.providers)
    kickoff(copied)
    assert len(watched.spans()) == 4
    assert agents(watched) == {GIVEN}

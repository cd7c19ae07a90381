"""What spans call agents and tools: what the code calls them, never a word of a user or a model."""

from __future__ import annotations

import gc
from typing import Any

import crewai.hooks as crewai_hooks
import pytest
from crewai import Crew

from hookspan.integrations.crewai import roles
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, lookup
from tests.integration_crewai.scripted import ScriptedLLM, final, tool_calls
from tests.integration_crewai.seen import dispatches
from tests.kit.memory import Memory

ROLE = "Researcher of {topic}"


def passes(ctx: Any) -> None:
    """Let everything through."""


def crew_of_topic() -> Crew:
    worker = crews.agent(ScriptedLLM(lambda call: final("a")), ROLE)
    return Crew(name="research", agents=[worker], tasks=[crews.task("one", worker)])


@pytest.mark.parametrize("copies", [1, 2])
def test_role_of_a_copy_is_that_of_the_code(instrumented: Memory, copies: int) -> None:
    crewai_hooks.on(crewai_hooks.InterceptionPoint.PRE_MODEL_CALL)(passes)
    crew: Any = crew_of_topic()
    kickoff(crew)
    for _ in range(copies):
        crew = crew.copy()
        kickoff(crew, {"topic": "winds"})
    assert crew.agents[0].role == "Researcher of tides"  # what crewAI makes of a copy
    names = [n.attributes["gen_ai.agent.name"] for n in dispatches(instrumented, "pre_model_call")]
    assert names == [ROLE] * (1 + copies)


def test_roles_are_forgotten_with_the_agents(instrumented: Memory) -> None:
    crew: Any = crew_of_topic()
    kickoff(crew)
    copy = crew.copy()
    assert id(copy.agents[0]) in roles._COPIED
    del copy
    gc.collect()
    assert not roles._COPIED


def test_tool_that_the_model_made_up_has_no_name(instrumented: Memory) -> None:
    crewai_hooks.on(crewai_hooks.InterceptionPoint.PRE_TOOL_CALL)(passes)
    calls = [tool_calls(("made_up", {})), tool_calls(("lookup", {"city": "Brest"})), "done"]
    kickoff(crews.simple_crew(script=calls, tools=[lookup], native=True))
    names = [
        node.attributes.get("gen_ai.tool.name")
        for node in dispatches(instrumented, "pre_tool_call")
    ]
    assert names == [None, "lookup"]

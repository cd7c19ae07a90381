"""What spans call agents and tools: what the code calls them, never a word of a user or a model."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from crewai import Crew

from hookspan.integrations.crewai import roles
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, lookup
from tests.integration_crewai.registering import on
from tests.integration_crewai.scripted import Answer, ScriptedLLM, final, tool_calls
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
    on("pre_model_call")(passes)
    crew: Any = crew_of_topic()
    kickoff(crew)
    for _ in range(copies):
        crew = crew.copy()
        kickoff(crew, {"topic": "winds"})
    assert crew.agents[0].role == "Researcher of tides"  # what crewAI makes of a copy
    names = [n.attributes["gen_ai.agent.name"] for n in dispatches(instrumented, "pre_model_call")]
    assert names == [ROLE] * (1 + copies)


def test_roles_are_forgotten_with_the_agents(instrumented: Memory) -> None:
    assert instrumented.spans() == []
    crew: Any = crew_of_topic()
    kickoff(crew)
    copied = crew.agents[0].copy()
    key, gone = id(copied), weakref.ref(copied)
    assert key in roles.COPIED
    del copied
    gc.collect()
    assert (gone(), key in roles.COPIED) == (None, False)


def test_tool_that_the_model_made_up_has_no_name(instrumented: Memory) -> None:
    on("pre_tool_call")(passes)
    calls: list[Answer] = [
        tool_calls(("made_up", {})),
        tool_calls(("lookup", {"city": "Brest"})),
        "done",
    ]
    kickoff(crews.simple_crew(script=calls, tools=[lookup], native=True))
    names = [
        node.attributes.get("gen_ai.tool.name")
        for node in dispatches(instrumented, "pre_tool_call")
    ]
    assert names == [None, "lookup"]

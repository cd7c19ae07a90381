"""One small crew that comes to eleven of the points."""

from __future__ import annotations

from typing import Any

from crewai import Agent, Crew, Task
from crewai.tools import BaseTool

from hookspan.cli.catalogue.evidence import Evidence
from hookspan.cli.catalogue.model import call_tool, model
from hookspan.cli.demo.model import final, use_tool

ANSWER = "high at noon"
_TOPIC = {"topic": "tides"}


class Note(BaseTool):
    """Notes a text."""

    name: str = "note"
    description: str = "Note a text."
    note: Any = None

    def _run(self, text: str) -> str:
        self.note(f"noted {text}")
        return "it is noted"


class Whisper(BaseTool):
    """Is there to be offered in another tool's place."""

    name: str = "whisper"
    description: str = "Whisper a text."

    def _run(self, text: str) -> str:
        return text


def make_agent(llm: Any, **settings: Any) -> Agent:
    """Make an agent that has nothing but a model."""
    fields: dict[str, Any] = {
        "role": "Researcher",
        "goal": "find out",
        "backstory": "curious",
        **settings,
    }
    return Agent(llm=llm, **fields)


def make_crew(agent: Agent, **settings: Any) -> Crew:
    """Make a crew of one task about a topic."""
    fields: dict[str, Any] = {"name": "look_up", "expected_output": "a line"}
    fields["description"] = "Look up {topic}."
    return Crew(name="research", agents=[agent], tasks=[Task(agent=agent, **fields, **settings)])


def kickoff(crew: Crew) -> str:
    """Kick a crew off."""
    untyped: Any = crew  # crewAI leaves parameters of it without types
    return str(untyped.kickoff(inputs=dict(_TOPIC)))


def run(evidence: Evidence) -> str:
    """Use a tool once, then answer."""
    llm = model(evidence, use_tool("note", text="tides"), final(ANSWER))
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))


def run_natively(evidence: Evidence) -> str:
    """Use a tool once, then answer, in the protocol of models that call tools themselves."""
    llm = model(evidence, call_tool("note", text="tides"), ANSWER, native=True)
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))


def answer(evidence: Evidence) -> str:
    """Answer at once."""
    return kickoff(make_crew(make_agent(model(evidence, final(ANSWER)))))


def offer(evidence: Evidence) -> str:
    """Answer at once, with a tool on offer."""
    llm = model(evidence, final(ANSWER))
    return kickoff(make_crew(make_agent(llm, tools=[Note(note=evidence.done.append)])))

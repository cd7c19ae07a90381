"""Real crews of every shape, each with a scripted model: build, then kick off.

Task descriptions hold `{topic}`: kick off with `kickoff(crew)`, or with `inputs=TOPIC`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from crewai import Agent, Crew, Process, Task
from crewai.crews.crew_output import CrewOutput
from crewai.tools import BaseTool, tool

from tests.integration_crewai.scripted import (
    Answer,
    ModelCall,
    Script,
    ScriptedLLM,
    final,
    tool_calls,
    use_tool,
)

TOPIC = {"topic": "tides"}
TOPICS = [{"topic": "tides"}, {"topic": "winds"}, {"topic": "stars"}]


def agent(llm: ScriptedLLM, role: str = "Researcher", **settings: Any) -> Agent:
    """Return an agent that is silent and knows only its model."""
    return Agent(role=role, goal="find out", backstory="curious", llm=llm, **settings)


def task(name: str, worker: Agent | None, **settings: Any) -> Task:
    """Return a task about the topic."""
    description = f"do {name} about topic={{topic}}"
    return Task(
        name=name, description=description, expected_output="a line", agent=worker, **settings
    )


def simple_crew(
    tasks: int = 1,
    *,
    script: Script | None = None,
    tools: Sequence[BaseTool] = (),
    native: bool = False,
    agent_settings: dict[str, Any] | None = None,
    **settings: Any,
) -> Crew:
    """Return a crew named `research` of one agent.

    Args:
        tasks: How many, named `task_0` and so on. They run one after the other.
        script: The model's answers; by default `answer 0` for the first task, and so on.
        tools: What the agent may use.
        native: Whether the model calls tools itself.
        agent_settings: Fields of `Agent`.
        settings: Fields of `Crew`.
    """
    answers = [final(f"answer {number}") for number in range(tasks)]
    worker = agent(
        ScriptedLLM(answers if script is None else script, native=native),
        tools=list(tools),
        **(agent_settings or {}),
    )
    todo = [task(f"task_{number}", worker) for number in range(tasks)]
    fields: dict[str, Any] = {"name": "research", "agents": [worker], "tasks": todo, **settings}
    return Crew(**fields)


# crewAI's own types leave parameters of its kickoff methods unknown: hence `untyped` below.


def kickoff(crew: Crew, inputs: dict[str, Any] = TOPIC) -> CrewOutput:
    """Kick off a crew that does not stream."""
    untyped: Any = crew
    output: CrewOutput = untyped.kickoff(inputs=inputs)
    return output


async def akickoff(crew: Crew, inputs: dict[str, Any] = TOPIC) -> CrewOutput:
    """Kick off a crew that does not stream, in the running loop."""
    untyped: Any = crew
    output: CrewOutput = await untyped.akickoff(inputs=inputs)
    return output


def kickoff_each(crew: Crew) -> list[CrewOutput]:
    """Kick off a crew once for each of three topics."""
    untyped: Any = crew
    outputs: list[CrewOutput] = untyped.kickoff_for_each(inputs=TOPICS)
    return outputs


def stream(crew: Crew) -> tuple[list[str], CrewOutput]:
    """Kick off a crew that streams; return the chunks and the output."""
    untyped: Any = crew
    streaming = untyped.kickoff(inputs=TOPIC)
    return [chunk.content for chunk in streaming], streaming.result


def ask(asked: Agent) -> str:
    """Kick off an agent alone; return its answer."""
    untyped: Any = asked
    return str(untyped.kickoff("think"))


def llm_of(crew: Crew) -> ScriptedLLM:
    """Return the model of a crew's first agent."""
    llm = crew.agents[0].llm
    assert isinstance(llm, ScriptedLLM)
    return llm


def echo_crew(**settings: Any) -> Crew:
    """Return a crew whose answer is `about <topic>`, however often it runs."""
    return simple_crew(script=about_the_topic, **settings)


def about_the_topic(call: ModelCall) -> Answer:
    """Answer with the topic in the prompt."""
    found = re.search(r"topic=(\w+)", call.prompt)
    return final(f"about {found[1] if found else 'nothing'}")


@tool("lookup")
def lookup(city: str) -> str:
    """Tell how high the tide is."""
    return f"{city}: high"


@tool("measure")
def measure(city: str) -> str:
    """Tell how strong the wind is."""
    return f"{city}: strong"


def tool_crew(**settings: Any) -> Crew:
    """Return a crew that uses one tool twice, in the text protocol."""
    answers = [use_tool("lookup", city="Brest"), use_tool("lookup", city="Hull"), final("both")]
    return simple_crew(script=answers, tools=[lookup], **settings)


def native_tool_crew(**settings: Any) -> Crew:
    """Return a crew whose model calls one tool twice, natively, one call after the other."""
    calls = [("lookup", {"city": "Brest"}), ("lookup", {"city": "Hull"})]
    answers: list[Answer] = [*(tool_calls(call) for call in calls), "both"]
    return simple_crew(script=answers, tools=[lookup], native=True, **settings)


def parallel_tools_crew(**settings: Any) -> Crew:
    """Return a crew whose model calls two tools natively at once: crewAI uses two threads."""
    calls = tool_calls(("lookup", {"city": "Brest"}), ("measure", {"city": "Brest"}))
    return simple_crew(script=[calls, "both"], tools=[lookup, measure], native=True, **settings)


def failing_crew(error: BaseException | None = None, *, retries: int = 0, **settings: Any) -> Crew:
    """Return a crew whose model raises.

    Args:
        error: What it raises each time; by default `RuntimeError("model down")`.
        retries: How often the agent tries again after an `Exception`.
        settings: Fields of `Crew`.
    """
    raised = RuntimeError("model down") if error is None else error
    return simple_crew(
        script=lambda call: raised, agent_settings={"max_retry_limit": retries}, **settings
    )


def async_tasks_crew() -> Crew:
    """Return a crew whose first two of three tasks run at the same time; the third waits."""
    workers = [agent(ScriptedLLM(about_the_topic), f"Worker {number}") for number in range(3)]
    todo = [
        task(f"task_{number}", worker, async_execution=number < 2)
        for number, worker in enumerate(workers)
    ]
    todo[2].context = todo[:2]
    return Crew(name="research", agents=[*workers], tasks=todo)


def hierarchical_crew() -> Crew:
    """Return a crew whose manager delegates its one task to a worker, once."""
    llm = ScriptedLLM(_manage_or_work, native=True)
    return Crew(
        name="research",
        agents=[agent(llm, "Worker")],
        tasks=[task("task_0", None)],
        process=Process.hierarchical,
        manager_llm=llm,
    )


def _manage_or_work(call: ModelCall) -> Answer:
    """Answer as the manager if there is somebody to delegate to, else as the worker."""
    if not call.tools:
        return final("worked")
    if call.has_tool_result:
        return "managed"
    order = {"task": "look", "context": "the sea", "coworker": "Worker"}
    return tool_calls(("delegate_work_to_coworker", order))


async def two_akickoffs() -> list[str]:
    """Run two crews at the same time in one loop; return their answers."""
    crews = [echo_crew(name="first"), echo_crew(name="second")]
    runs = [akickoff(crew, topic) for crew, topic in zip(crews, TOPICS, strict=False)]
    return [str(output) for output in await asyncio.gather(*runs)]


def solo_agent() -> Agent:
    """Return an agent to kick off without a crew."""
    return agent(ScriptedLLM([final("alone")]), "Solo")

"""The crew, the flow and the two runs of the demonstration."""

from __future__ import annotations

from typing import Any

from crewai import Agent, Crew, Task
from crewai.flow.flow import Flow, start
from crewai.tools import tool
from pydantic import BaseModel

from hookspan.cli.demo.model import ScriptedModel, final, use_tool

_SCRIPT = [
    use_tool("look_up_order", order="A-1042"),
    use_tool("delete_file", path="/srv/orders/A-1042.json"),
    final("Order A-1042 has shipped. Write to ada@example.com to change it."),
]


@tool
def look_up_order(order: str) -> str:
    """Look an order up by its number."""
    return f"order {order}: shipped"


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    message = f"{path}: the demonstration deletes nothing"
    raise RuntimeError(message)


def make_crew(pause: float) -> Crew:
    """Make a crew of one agent with two tools, one of which the hooks deny.

    Args:
        pause: How long its model takes for each answer, in seconds.
    """
    agent = Agent(
        role="Support agent",
        goal="Answer tickets",
        backstory="You know every order.",
        tools=[look_up_order, delete_file],
        llm=ScriptedModel(model="scripted", script=_SCRIPT, pause=pause),
    )
    task = Task(
        name="answer_ticket",
        description="Answer in {language}: {text}",
        expected_output="An answer",
        agent=agent,
    )
    return Crew(name="support_crew", agents=[agent], tasks=[task])


class Ticket(BaseModel):
    """What the flow is given."""

    requested_by: str = ""
    text: str = ""
    language: str = ""
    pause: float = 0.0


class SupportDesk(Flow[Ticket]):
    """Takes a ticket and has a crew answer it."""

    name = "support_desk"
    _skip_auto_memory = True  # crewAI would import a vector store, for seconds, to remember nothing

    @start()
    def handle_ticket(self) -> str:
        """Run the crew on the ticket."""
        ticket: Ticket = self.state
        inputs = ticket.model_dump(include={"requested_by", "text", "language"})
        crew: Any = make_crew(ticket.pause)  # crewAI's types leave open what a crew returns
        return str(crew.kickoff(inputs=inputs).raw)


def answer(requested_by: str, pause: float) -> str:
    """Have the flow answer a ticket.

    Args:
        requested_by: Who asks.
        pause: How long the model takes for each answer, in seconds.

    Returns:
        The answer.

    Raises:
        HookAborted: By the hook that denies the run.
    """
    # Without this argument crewAI draws boxes of its own around each step of a flow.
    desk = SupportDesk(suppress_flow_events=True)
    text = "Where is order A-1042? My key is sk-4f9a."
    return str(desk.kickoff(inputs={"requested_by": requested_by, "text": text, "pause": pause}))

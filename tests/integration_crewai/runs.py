"""Every way in which a run can end, on real crewAI: how it comes about, and what must be seen.

A tree is written a line a span: `kind name: outcome` of a run, with the error that left it and,
after `END`, what EXECUTION_END said; the point and the outcome of a dispatch. Hooks are at the
points that a situation names, by default at EXECUTION_START and EXECUTION_END.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from crewai import Crew
from crewai.flow.flow import Flow, start
from crewai.tools import tool

from tests.integration_crewai import crews
from tests.integration_crewai.crews import TOPIC
from tests.integration_crewai.scripted import Answer, ModelCall, ScriptedLLM, final, use_tool
from tests.integration_crewai.snapshot import DISPATCH

Hook = Callable[[Any], Any]

BOUNDARY = ("execution_start", "execution_end")


@dataclass(frozen=True)
class Situation:
    """A way for a run to end.

    Attributes:
        name: What happens.
        run: Brings it about; returns or raises what the caller gets.
        caller: That, as text: the answer, or the exception.
        tree: What must be recorded.
        hooks: A hook for each point at which there is one beside the watching ones.
        watched: Points with a hook that does nothing.
        concurrent: Whether siblings begin in any order.
    """

    name: str
    run: Callable[[], Any]
    caller: str
    tree: str
    hooks: dict[str, Hook] = field(default_factory=dict[str, Hook])
    watched: tuple[str, ...] = BOUNDARY
    concurrent: bool = False

    @property
    def identifier(self) -> str:
        """Its name without blanks, for a command line."""
        return self.name.replace(",", "").replace(" ", "_")


def raising(error: BaseException) -> Hook:
    """Return a hook that raises."""

    def hook(ctx: Any) -> None:
        raise error

    return hook


def watch(ctx: Any) -> None:
    """Change nothing."""


def aborting(ctx: Any) -> None:
    """Abort."""
    raise DISPATCH.HookAborted("no", "policy")  # noqa: EM101 - a reason is no message


def untyped(subject: Any) -> Any:
    """Return an object of crewAI's: its own types leave parameters unknown."""
    return subject


def crew_with_tool(error: BaseException) -> Crew:
    """Return a crew whose tool raises."""

    @tool("broken")
    def broken(city: str) -> str:
        """Tell nothing."""
        raise error

    return crews.simple_crew(script=[use_tool("broken", city="Brest"), final("x")], tools=[broken])


def after_kickoff(callback: Callable[[Any], Any]) -> Crew:
    """Return a crew with a callback for after its run."""
    crew = crews.simple_crew()
    crew.after_kickoff_callbacks.append(callback)
    return crew


def fail(output: Any) -> Any:
    """Fail, as a callback."""
    message = "callback down"
    raise ValueError(message)


def ask_once_more(output: Any) -> Any:
    """Call a model, as a callback: its hooks are dispatched when EXECUTION_END has been."""
    ScriptedLLM([final("more")]).call("more?")
    return output


class Waiting(Flow[dict[str, Any]]):
    """Waits until it is cancelled."""

    @start()
    async def begin(self) -> str:
        """Wait."""
        await asyncio.sleep(10)
        return "not cancelled"


def slow_crew(**settings: Any) -> Crew:
    """Return a crew whose model takes its time, on a thread of crewAI's."""
    return crews.simple_crew(script=_late, **settings)


def _late(call: ModelCall) -> Answer:
    time.sleep(0.3)
    return final("too late")


async def cancelled(work: Any) -> Any:
    """Cancel work that has begun."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0.05)
    task.cancel()
    return await task


async def timed_out(work: Any) -> Any:
    """Wait for work, not long enough."""
    return await asyncio.wait_for(work, 0.05)


def agent_waits() -> Any:
    """Return the coroutine of an agent whose model takes its time."""
    return untyped(crews.agent(ScriptedLLM(_late), "Solo")).kickoff_async("think")


def in_loop(work: Callable[[], Any], how: Callable[[Any], Any]) -> Callable[[], Any]:
    """Return what runs work in a loop of its own in some way."""

    async def main() -> Any:
        return await how(work())

    return lambda: asyncio.run(main())


async def plain(work: Any) -> Any:
    """Wait for work."""
    return await work


def slept() -> str:
    """Cancel who awaits `kickoff_async`: the thread that runs the crew cannot be cancelled."""
    return str(asyncio.run(cancelled(untyped(slow_crew()).kickoff_async(inputs=TOPIC))))

"""Runs in several parts: paused, replayed, restored, repeated, streamed, nested."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from contextlib import suppress
from contextvars import Context
from pathlib import Path
from typing import Any

from crewai.events.event_bus import crewai_event_bus
from crewai.flow.flow import Flow, listen, start
from crewai.state.checkpoint_config import CheckpointConfig
from crewai.tools import tool

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import TOPIC, TOPICS, kickoff
from tests.integration_crewai.runs import plain, slow_crew, untyped
from tests.integration_crewai.scripted import Answer, ModelCall, final, use_tool


def paused() -> str:
    """Pause a flow."""
    with tempfile.TemporaryDirectory() as folder:
        return type(flows.pausing_flow(Path(folder)).kickoff()).__name__


def resumed() -> str:
    """Let a flow go on that has paused, as another process would: from what it left behind."""
    with tempfile.TemporaryDirectory() as folder:
        flow = flows.pausing_flow(Path(folder))
        flow.kickoff()
        return str(untyped(flows.paused_flow(Path(folder), flow.flow_id)).resume("fine"))


def paused_twice() -> str:
    """Let a flow go on until it pauses again, then let the same object go on."""
    with tempfile.TemporaryDirectory() as folder:
        flow = flows.pausing_flow(Path(folder), flows.ReviewedTwice)
        flow.kickoff()
        again = untyped(flows.paused_flow(Path(folder), flow.flow_id, flows.ReviewedTwice))
        first = type(again.resume("fine")).__name__
        return f"{first}, {again.resume('finer')}"


def replayed(error: BaseException | None = None) -> str:
    """Run a crew, then replay it from its second task."""
    answers: list[Answer] = [final("a"), final("b"), final("c") if error is None else error]
    crew = crews.simple_crew(2, script=answers, agent_settings={"max_retry_limit": 0})
    kickoff(crew)
    return str(untyped(crew).replay(str(crew.tasks[1].id)))


class Checkpointed(Flow[dict[str, Any]]):
    """Writes a checkpoint after its first method."""

    folder = ""

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @listen(begin)
    async def keep(self, before: str) -> str:
        """Write the checkpoint, where no other event is on its way."""
        crewai_event_bus.flush()
        state = crewai_event_bus.runtime_state
        if self.folder and state is not None:
            state.checkpoint(self.folder)
        return f"{before}, kept"


def from_checkpoint() -> str:
    """Run a flow that writes a checkpoint, then go on from that."""
    with tempfile.TemporaryDirectory() as folder:
        Checkpointed.folder = folder
        flow = untyped(Checkpointed())
        Context().run(flow.kickoff)  # a checkpoint holds all that its context has seen
        Checkpointed.folder = ""
        (kept,) = Path(folder).rglob("*.json")
        again = CheckpointConfig(location=folder, on_events=[], restore_from=kept)
        return str(flow.kickoff(from_checkpoint=again))


def each(method: str) -> str:
    """Run a crew for each of three topics."""
    started = getattr(crews.echo_crew(), method)(inputs=TOPICS)
    if asyncio.iscoroutine(started):
        started = asyncio.run(plain(started))
    return ", ".join(sorted(map(str, started)))


def twice_in_threads() -> str:
    """Run one crew twice at the same time, in two threads: its agent refuses the second."""
    entered, refused = threading.Event(), threading.Event()

    def answer(call: ModelCall) -> Answer:
        entered.set()
        refused.wait(10)
        return crews.about_the_topic(call)

    crew = crews.simple_crew(script=answer, agent_settings={"max_retry_limit": 0})
    answers: list[str] = []
    first = threading.Thread(target=lambda: answers.append(str(kickoff(crew))))
    first.start()
    entered.wait(10)
    try:
        kickoff(crew)
    except RuntimeError:
        answers.append("refused")
    refused.set()
    first.join()
    return ", ".join(answers)


async def twice_in_a_loop() -> str:
    """Run one crew twice at the same time, in one loop: its agent refuses the second."""
    crew = slow_crew(agent_settings={"max_retry_limit": 0})
    both = await asyncio.gather(*(crews.akickoff(crew) for _ in range(2)), return_exceptions=True)
    return ", ".join(type(one).__name__ for one in both)


def stream_left_early() -> str:
    """Read one chunk of a stream and close it."""
    streaming = untyped(crews.simple_crew(stream=True)).kickoff(inputs=TOPIC)
    chunk = next(iter(streaming))
    streaming.close()
    return str(type(chunk).__name__)


async def async_stream_left_early() -> str:
    """Read one chunk of an asynchronous stream and close it while the model is at work."""
    streaming = await untyped(slow_crew(stream=True)).akickoff(inputs=TOPIC)
    reading = asyncio.ensure_future(anext_of(streaming))
    await asyncio.sleep(0.05)
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    await streaming.aclose()
    return "left"


async def anext_of(streaming: Any) -> Any:
    """Return the next chunk."""
    return await streaming.__aiter__().__anext__()


def stream_never_read() -> str:
    """Ask for a stream and forget it: crewAI does not begin."""
    streaming = untyped(crews.simple_crew(stream=True)).kickoff(inputs=TOPIC)
    streaming.close()
    return "forgotten"


def nested() -> str:
    """Run a crew whose tool runs a flow that runs a crew."""

    @tool("study")
    def study(city: str) -> str:
        """Run the flow."""
        return str(flows.flow(flows.OfCrew).kickoff())

    script = [use_tool("study", city="Brest"), final("outer")]
    return str(kickoff(crews.simple_crew(script=script, tools=[study], name="outer")))

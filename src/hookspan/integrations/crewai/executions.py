"""The frames of crewAI's runs: what is entered when a run begins and left when it ends."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from opentelemetry.context import get_current

from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.identity import agent_run, crew_run, flow_run
from hookspan.integrations.crewai.patching import Patch
from hookspan.integrations.crewai.pauses import execution_uuid_of, remember, resumed_flow_run
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run, current_execution
from hookspan.telemetry.recorder import Frame, Recorder

Describe = Callable[[Any], Run]


@dataclass(frozen=True)
class Entry:
    """A method of crewAI's that a run enters by.

    Attributes:
        module: The module of its class.
        owner: The class.
        method: The method.
        describe: Says which run it is.
        hands_on: Whether it only drives another entry of the same object in a loop of its own. Its
            frame then is the one: an interrupt leaves the other as a cancellation.
    """

    module: str
    owner: str
    method: str
    describe: Describe
    hands_on: bool = False


ENTRIES = (
    Entry("crewai.crew", "Crew", "kickoff", crew_run),
    Entry("crewai.crew", "Crew", "akickoff", crew_run),
    Entry("crewai.crew", "Crew", "replay", crew_run),
    Entry("crewai.flow.runtime", "Flow", "kickoff", flow_run, hands_on=True),
    Entry("crewai.flow.runtime", "Flow", "kickoff_async", flow_run),
    Entry("crewai.flow.runtime", "Flow", "resume", resumed_flow_run, hands_on=True),
    Entry("crewai.flow.runtime", "Flow", "resume_async", resumed_flow_run),
    Entry("crewai.agent.core", "Agent", "kickoff", agent_run),
    Entry("crewai.agent.core", "Agent", "kickoff_async", agent_run),
    Entry("crewai.lite_agent", "LiteAgent", "kickoff", agent_run),
)
"""Every way into a run; `Crew.kickoff_async` and the like call one of these."""


_HANDED_ON: ContextVar[Any] = ContextVar("hookspan-handed-on", default=None)
"""The object whose frame is open already when its other entry is called."""


class Frames:
    """Opens and ends the execution span of each run.

    Args:
        recorder: Records it. None once switched off: the frames then pass through.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder: Recorder | None = recorder

    def patches(self) -> Iterator[Patch]:
        """Make a patch for each entry that this crewAI has."""
        for entry in ENTRIES:
            owner = getattr(importlib.import_module(entry.module), entry.owner, None)
            if owner is not None and entry.method in vars(owner):
                yield Patch(owner, entry.method, functools.partial(self._wrap, entry))

    def _wrap(self, entry: Entry, original: Any) -> Any:
        position = _position("from_checkpoint", original)
        begin = functools.partial(self._begin, entry.describe, position)
        if inspect.iscoroutinefunction(original):
            return _wrap_async(original, begin)
        return _wrap_sync(original, begin, _handing_on(original) if entry.hands_on else original)

    def _begin(
        self, describe: Describe, checkpoint: int | None, subject: Any, *args: Any, **kwargs: Any
    ) -> Frame | None:
        """Begin a run; None where crewAI will call itself again, or nobody listens."""
        recorder = self.recorder
        if recorder is None:
            return None
        try:
            if _calls_itself(subject, args, kwargs, checkpoint) or _is_handed_on(subject):
                return None
            executor = _lone_executor(subject)
            run = describe(subject) if executor is None else agent_run(executor)
            return recorder.begin_execution(run)
        except Exception as error:  # noqa: BLE001 - telemetry must not break a run
            GUARD.failed("execution.begin", error)
            return None


Begin = Callable[..., "Frame | None"]


def _handing_on(original: Any) -> Any:
    def call(subject: Any, *args: Any, **kwargs: Any) -> Any:
        token = _HANDED_ON.set(subject)
        try:
            return original(subject, *args, **kwargs)
        finally:
            _HANDED_ON.reset(token)

    return call


def _is_handed_on(subject: Any) -> bool:
    """Tell, once, whether the frame of a run is open already; what it runs in turn has its own."""
    if _HANDED_ON.get() is not subject:
        return False
    _HANDED_ON.set(None)
    return True


def _wrap_sync(original: Any, begin: Begin, inside: Any) -> Any:
    @functools.wraps(original)
    def frame(subject: Any, *args: Any, **kwargs: Any) -> Any:
        if _inside_loop(original):
            return original(subject, *args, **kwargs)
        opened = begin(subject, *args, **kwargs)
        if opened is None:
            return original(subject, *args, **kwargs)
        try:
            result = inside(subject, *args, **kwargs)
        except BaseException as error:
            _end(opened, error)
            raise
        _end(opened, None, result)
        return result

    return frame


def _wrap_async(original: Any, begin: Begin) -> Any:
    @functools.wraps(original)
    async def frame(subject: Any, *args: Any, **kwargs: Any) -> Any:
        opened = begin(subject, *args, **kwargs)
        if opened is None:
            return await original(subject, *args, **kwargs)
        try:
            result = await original(subject, *args, **kwargs)
        except BaseException as error:
            _end(opened, error)
            raise
        _end(opened, None, result)
        return result

    return frame


def _end(frame: Frame, error: BaseException | None, result: Any = None) -> None:
    try:
        if type(result).__name__ != "HumanFeedbackPending":
            frame.finish(error)
            return
        remember(result, frame.span)
        frame.finish(
            error,
            semconv.CREWAI_EXECUTION_OUTCOME_PAUSED,
            execution_uuid=execution_uuid_of(result),
        )
    except Exception as failure:  # noqa: BLE001 - telemetry must not break a run
        GUARD.failed("execution.finish", failure)


def _position(name: str, function: Any) -> int | None:
    """Return where among the positional arguments after ``self`` a parameter stands."""
    names = list(inspect.signature(function).parameters)
    return names.index(name) - 1 if name in names else None


def _calls_itself(
    subject: Any, args: tuple[Any, ...], kwargs: dict[str, Any], checkpoint: int | None
) -> bool:
    """Tell whether crewAI will enter the same method again, on this or a restored object.

    It does when it streams, when it restores a checkpoint, and for its internal flows, whose run
    is that of whoever uses them.
    """
    if getattr(subject, "stream", False):
        return True
    config = kwargs.get("from_checkpoint")
    if config is None and checkpoint is not None and len(args) > checkpoint:
        config = args[checkpoint]
    if getattr(config, "restore_from", None) is not None:
        return True
    internal = bool(getattr(subject, "is_crewai_internal", False))
    return internal and _lone_executor(subject) is None


def _lone_executor(subject: Any) -> Any:
    """Return the agent of an agent's internal flow that runs outside of every run, or None."""
    if type(subject).__name__ != "AgentExecutor" or current_execution(get_current()) is not None:
        return None
    return getattr(subject, "agent", None)


def _inside_loop(original: Any) -> bool:
    """Tell whether an agent's kickoff will only hand out its coroutine, whose frame is another."""
    if original.__qualname__ != "Agent.kickoff":
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True

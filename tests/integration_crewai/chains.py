"""Lists of hooks as plain data, and what becomes of them in crewAI's own `dispatch`."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.hook_events import HookDispatchedEvent
from crewai.hooks import contexts, llm_hooks, tool_hooks
from crewai_core.printer import PRINTER

import hookspan
from hookspan.engine.hooks import ConfiguredHook
from tests.integration_crewai.snapshot import DISPATCH

Hook = Callable[[Any], Any]


class TheirSubclass(DISPATCH.HookAborted):  # type: ignore[misc]  # crewAI is looked up at run time
    """A user's subclass of crewAI's abort."""


class OurSubclass(hookspan.HookAborted):
    """A user's subclass of ours; its constructor calls no other."""

    def __init__(self, reason: str, source: Any = None) -> None:
        Exception.__init__(self, reason)
        self.reason, self.source = reason, source


ABORTS: dict[str, Callable[..., BaseException]] = {
    "abort, crewAI's": DISPATCH.HookAborted,
    "abort, ours": hookspan.HookAborted,
    "abort, subclass of crewAI's": TheirSubclass,
    "abort, subclass of ours": OurSubclass,
}
RAISES: dict[str, Callable[..., BaseException]] = {"raise": ValueError, "base": KeyboardInterrupt}
ACTIONS = ("none", "mutate", "replace", "registers", *ABORTS, *RAISES)
FILTERS = ("crewAI's, matching", "crewAI's, other", "ours, matching", "ours, other", "no filter")


@dataclass(frozen=True)
class Spec:
    """What a hook does, which filter it is behind, and whether its abort names a source."""

    action: str
    filter: str
    sourced: bool


@dataclass(frozen=True)
class Seam:
    """A point, and how crewAI dispatches it: makes the context, knows the reducer."""

    point: str
    context: Callable[[], Any]
    reducer: Any = None


def _model(**more: Any) -> Callable[[], Any]:
    return lambda: llm_hooks.LLMCallHookContext(messages=[], agent=_Agent(), **more)


def _tool(**more: Any) -> Callable[[], Any]:
    def make() -> Any:
        untyped: Any = tool_hooks.ToolCallHookContext
        return untyped("lookup", {}, None, agent=_Agent(), **more)

    return make


@dataclass
class _Agent:
    """The agent that filters ask for."""

    role: str = "Researcher"


SEAMS = (
    Seam("execution_start", lambda: contexts.ExecutionStartContext({}, _Agent(), inputs={})),
    Seam("input", lambda: contexts.InputContext({}, agent_role="Researcher")),
    Seam("output", lambda: contexts.OutputContext([], _Agent())),
    Seam("execution_end", lambda: contexts.ExecutionEndContext({}, _Agent(), status="failed")),
    Seam("pre_step", lambda: contexts.StepContext({}, _Agent(), kind="task", step_name="one")),
    Seam("pre_model_call", _model(), llm_hooks.before_llm_call_reducer),
    Seam("post_model_call", _model(response="said"), llm_hooks.after_llm_call_reducer),
    Seam("pre_tool_call", _tool(), tool_hooks.before_tool_call_reducer),
    Seam("post_tool_call", _tool(tool_result="done"), tool_hooks.after_tool_call_reducer),
)


@dataclass
class Seen:
    """All that a user can see of one dispatch."""

    called: list[int] = field(default_factory=list[int])
    context: dict[str, Any] = field(default_factory=dict[str, Any])
    returned: bool = False
    raised: tuple[Any, ...] = ()
    events: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    printed: str = ""
    before: int = 0
    registered: list[str] = field(default_factory=list[str])


class World:
    """Hooks made from specifications, and where they are registered.

    Args:
        seam: Where they are dispatched.
        adopted: Whether hookspan's filtered hooks are registered through hookspan; else what
            would be in crewAI's list then is put there by hand.
    """

    def __init__(self, seam: Seam, *, adopted: bool) -> None:
        self._seam = seam
        self._point = DISPATCH.InterceptionPoint(seam.point)
        self._adopted = adopted
        self._functions: list[Hook] = []
        self._thrown: list[BaseException] = []
        self._seen = Seen()

    def register(self, spec: Spec) -> None:
        """Register a hook globally."""
        function = self._function(spec)
        roles = ["Researcher" if spec.filter.endswith("matching") else "Writer"]
        if spec.filter.startswith("crewAI's"):
            DISPATCH.on(self._point, agents=roles)(function)
        elif spec.filter == "no filter":
            DISPATCH.register(self._point, function)
        elif self._adopted:
            hookspan.on(self._seam.point, agents=roles)(function)
        else:
            DISPATCH.register(self._point, ConfiguredHook(function, agents=frozenset(roles)))

    def dispatch(self, scoped: list[Spec], *, verbose: bool) -> Seen:
        """Dispatch a context of the seam, with further hooks in a scope of crewAI's."""
        self._seen = seen = Seen(before=len(DISPATCH.get_hooks(self._point)))
        ctx = self._seam.context()
        scope = {self._point: [self._function(spec) for spec in scoped]}
        with _events(seen.events), _printed() as text, DISPATCH.scoped_hooks(scope):
            try:
                returned = DISPATCH.dispatch(
                    self._point, ctx, reducer=self._seam.reducer, verbose=verbose
                )
                seen.returned = returned is ctx
            except BaseException as error:  # noqa: BLE001 - hooks raise interrupts as well
                seen.raised = self._described(error)
        seen.printed = text.getvalue()
        fields: dict[str, Any] = ctx.__dict__
        seen.context = copy.deepcopy(fields)
        seen.registered = [hook.__name__ for hook in DISPATCH.get_hooks(self._point)]
        return seen

    def _described(self, error: BaseException) -> tuple[Any, ...]:
        thrown = [index for index, held in enumerate(self._thrown) if held is error]
        source = getattr(error, "source", None)
        # The one name for a filtered hook of ours is its function: only there a wrapper would be
        # in crewAI's list when nothing is instrumented.
        if isinstance(source, ConfiguredHook):
            source = source.function
        named = source if isinstance(source, str) else getattr(source, "__name__", source)
        mine = any(source is function for function in self._functions)
        return type(error).__name__, error.args, thrown, named, mine, error.__cause__

    def _function(self, spec: Spec) -> Hook:
        number = len(self._functions)

        def hook(ctx: Any) -> Any:
            self._seen.called.append(number)
            return self._act(spec, number, ctx)

        hook.__name__ = hook.__qualname__ = f"hook_{number}"
        self._functions.append(hook)
        return hook

    def _act(self, spec: Spec, number: int, ctx: Any) -> Any:
        make = {**ABORTS, **RAISES}.get(spec.action)
        if make is not None:
            sourced = spec.action in ABORTS and spec.sourced
            error = make(f"because of {number}", "policy") if sourced else make(f"of {number}")
            self._thrown.append(error)
            raise error
        if spec.action == "mutate":
            _mutate(ctx, number)
        if spec.action == "registers":
            DISPATCH.register(self._point, self._function(Spec("none", "no filter", False)))
        return f"replaced by {number}" if spec.action == "replace" else None


def _mutate(ctx: Any, number: int) -> None:
    """Change in place whatever a context offers for that."""
    ctx.marked = number
    for name in ("payload", "messages", "tool_input", "inputs"):
        value: Any = getattr(ctx, name, None)
        if hasattr(value, "append"):
            value.append(number)
        elif hasattr(value, "update"):
            value.update({f"by {number}": True})


@contextlib.contextmanager
def _events(events: list[tuple[Any, ...]]) -> Generator[None]:
    def note(source: Any, event: HookDispatchedEvent) -> None:
        point, outcome, count = event.interception_point, event.outcome, event.hook_count
        events.append((point, outcome, count, event.abort_reason, event.abort_source))

    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.on(HookDispatchedEvent)(note)
        yield
        assert crewai_event_bus.flush(timeout=10)


@contextlib.contextmanager
def _printed() -> Generator[io.StringIO]:
    """Capture what crewAI's printer prints, with its colour."""
    text = io.StringIO()
    printer: Any = PRINTER
    original = printer.print

    def note(*args: Any, **kwargs: Any) -> None:
        text.write(f"{args} {kwargs}\n")

    printer.print = note
    try:
        yield text
    finally:
        printer.print = original

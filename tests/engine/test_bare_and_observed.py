"""The bare loop and the observed one do the same, for every kind of hook."""

# Which loop a dispatcher runs shows in no other way.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from hookspan.contract.contexts import InputContext, LLMCallHookContext, ToolCallHookContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.events import HookDispatchedEvent
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, clear_hooks, dispatch, register_hook
from hookspan.engine.decorators import on
from hookspan.engine.dispatcher import run_hooks
from hookspan.engine.events import source_name, subscribe
from hookspan.engine.observe import DISPATCHES

KINDS = ["none", "mutate", "replace", "abort", "raise", "base", "filtered"]
EDITOR = SimpleNamespace(role="Editor")
CONTEXTS: dict[InterceptionPoint, Any] = {
    InterceptionPoint.INPUT: InputContext({"edits": []}, agent=EDITOR),
    InterceptionPoint.PRE_MODEL_CALL: LLMCallHookContext(["hello"], agent=EDITOR),
    InterceptionPoint.POST_TOOL_CALL: ToolCallHookContext(tool_result="found", agent=EDITOR),
}


class Spec(NamedTuple):
    """One hook to make."""

    kind: str
    value: Any
    source: str | None


specs = st.builds(
    Spec,
    st.sampled_from(KINDS),
    st.sampled_from([False, 0, "", [], "text", {"new": 1}]),
    st.sampled_from([None, "policy", ""]),
)


class Denied(HookAborted):
    """A user's own kind of abort."""


@dataclass
class Run:
    """What one dispatch came to, in terms that two runs can be compared by."""

    calls: list[int] = field(default_factory=list[int])
    ctx: Any = None
    same_ctx: bool = False
    raised: int | None = None
    raised_type: type[BaseException] | None = None
    reason: str | None = None
    source: Any = None
    events: list[HookDispatchedEvent] = field(default_factory=list[HookDispatchedEvent])


def error_of(spec: Spec) -> BaseException | None:
    if spec.kind == "abort":
        kind = Denied if spec.value else HookAborted
        return kind(f"because of {spec.value!r}", spec.source)
    return {"raise": ValueError("boom"), "base": KeyboardInterrupt("stop")}.get(spec.kind)


def edit(ctx: Any, index: int) -> None:
    """Change in place what hooks of this context change in place."""
    if isinstance(ctx, LLMCallHookContext):
        ctx.messages.append(index)
    elif isinstance(ctx, ToolCallHookContext):
        ctx.tool_input[str(index)] = index
    else:
        ctx.agent_role = f"{ctx.agent_role} {index}"


def make(run: Run, index: int, spec: Spec, error: BaseException | None) -> Callable[[Any], Any]:
    """Make a hook that notes its call and then does what its kind does."""

    def hook(ctx: Any) -> Any:
        run.calls.append(index)
        if spec.kind == "mutate":
            edit(ctx, index)
        if error is not None:
            raise error
        return spec.value if spec.kind in {"replace", "filtered"} else None

    hook.__name__ = f"hook_{index}"
    return hook


def run(point: InterceptionPoint, hooks: list[Spec]) -> Run:
    """Register the hooks, dispatch once, and tell what it came to."""
    done = Run()
    errors = [error_of(spec) for spec in hooks]
    made = [make(done, i, spec, errors[i]) for i, spec in enumerate(hooks)]
    clear_hooks(point)
    for spec, hook in zip(hooks, made, strict=True):
        if spec.kind == "filtered":
            on(point, agents=["Writer"])(hook)
        else:
            register_hook(point, hook)
    ctx = copy.deepcopy(CONTEXTS[point])
    try:
        done.same_ctx = dispatch(point, ctx, verbose=False) is ctx
    except BaseException as error:  # noqa: BLE001 - what left the dispatch is what is compared
        done.raised_type = type(error)
        # A legacy False raises an error that is made on the spot: -1.
        done.raised = next((i for i, own in enumerate(errors) if own is error), -1)
        done.reason = getattr(error, "reason", None)
        source: Any = getattr(error, "source", None)
        done.source = made.index(source) if source in made else source
    done.ctx = ctx
    return done


def expected_event(bare: Run, count: int) -> dict[str, Any]:
    """Return what the event must say, from the run that nobody observed."""
    aborted = bare.raised_type is not None and issubclass(bare.raised_type, HookAborted)
    named = f"hook_{bare.source}" if isinstance(bare.source, int) else source_name(bare.source)
    return {
        "hook_count": count,
        "aborted": aborted,
        "abort_reason": bare.reason if aborted else None,
        "abort_source": named if aborted else None,
    }


def said(event: HookDispatchedEvent) -> dict[str, Any]:
    fields = event.model_dump(include={"hook_count", "abort_reason", "abort_source"})
    return {**fields, "aborted": event.outcome == "aborted"}


def replaced(point: InterceptionPoint, hooks: list[Spec], bare: Run) -> bool:
    """Tell whether a hook that was called returned what counts as a replacement."""
    rules: dict[InterceptionPoint, Callable[[Any], bool]] = {
        InterceptionPoint.INPUT: lambda _value: True,
        InterceptionPoint.PRE_MODEL_CALL: lambda _value: False,
        InterceptionPoint.POST_TOOL_CALL: lambda value: isinstance(value, str),
    }
    values = [hooks[i].value for i in bare.calls if hooks[i].kind == "replace"]
    return any(map(rules[point], values))


def test_both_loops_come_to_the_same() -> None:
    generated, left = Counter[str](), Counter[str]()

    @settings(max_examples=400, deadline=None, derandomize=True)
    @given(st.sampled_from(list(CONTEXTS)), st.lists(specs, min_size=1, max_size=6))
    def compare(point: InterceptionPoint, hooks: list[Spec]) -> None:
        assert DISPATCHER._run is run_hooks
        bare = run(point, hooks)

        undo = DISPATCHES.observe(lambda _chain: lambda _error: None)
        observed = run(point, hooks)
        told: list[HookDispatchedEvent] = []
        unsubscribe = subscribe(told.append)
        both = run(point, hooks)
        undo()
        subscribed = run(point, hooks)
        unsubscribe()

        assert bare == observed == both == subscribed
        assert list(map(said, told)) == [expected_event(bare, len(hooks))] * 2
        if "mutate" not in [hooks[index].kind for index in bare.calls]:
            modified = replaced(point, hooks, bare) and not said(told[0])["aborted"]
            assert [event.outcome == "modified" for event in told] == [modified] * 2
        generated.update(spec.kind for spec in hooks)
        left[bare.raised_type.__name__ if bare.raised_type else "nothing"] += 1

    compare()

    assert {kind for kind in KINDS if generated[kind] < 0.05 * generated.total()} == set()
    ways = ["nothing", "HookAborted", "Denied", "KeyboardInterrupt"]
    assert {way for way in ways if left[way] < 0.05 * left.total()} == set()

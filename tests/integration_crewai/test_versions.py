"""What happens where crewAI, or a seam of it, is not what is needed."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import logging
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import pytest
from crewai.flow.runtime import Flow
from crewai.memory.unified_memory import Memory as CrewMemory
from crewai.utilities import agent_utils

import hookspan
from hookspan import InputContext, InstrumentationError, InterceptionPoint
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.snapshot import DISPATCH, differences, snapshot
from tests.kit.memory import Memory, key

RETRY = InterceptionPoint.RETRY_ATTEMPT
VERSION = importlib.metadata.version("crewai")

pytestmark = pytest.mark.usefixtures("switched_off")


def guard(ctx: Any) -> None:
    """Do nothing."""


def old_version(patch: pytest.MonkeyPatch) -> None:
    original = importlib.metadata.version

    def version(name: str) -> str:
        return "1.15.2" if name == "crewai" else original(name)

    patch.setattr(importlib.metadata, "version", version)


def dispatch_nothing(point: Any, ctx: Any, **settings: Any) -> Any:
    """Do what crewAI's `dispatch` does without hooks, also where its loop has another shape."""
    return ctx


def no_loop(patch: pytest.MonkeyPatch) -> None:
    def proceed(*_args: Any, **_settings: Any) -> bool:
        return True

    def answered(_executor: Any, answer: Any, *_args: Any, **_settings: Any) -> Any:
        return answer

    patch.setattr(agent_utils, "_setup_before_llm_call_hooks", proceed)
    patch.setattr(agent_utils, "_setup_after_llm_call_hooks", answered)
    patch.setattr(DISPATCH, "dispatch", dispatch_nothing)
    patch.delattr(DISPATCH, "run_hooks")


def other_signature(patch: pytest.MonkeyPatch) -> None:
    original = DISPATCH.run_hooks

    def run_hooks(point: Any, ctx: Any, hooks: Any, *, reducer: Any = None, quiet: Any = 0) -> Any:
        return original(point, ctx, hooks, reducer=reducer)

    patch.setattr(DISPATCH, "dispatch", dispatch_nothing)
    patch.setattr(DISPATCH, "run_hooks", run_hooks)


def none_at_all(patch: pytest.MonkeyPatch) -> None:
    original = importlib.util.find_spec

    def find_spec(name: str) -> ModuleSpec | None:
        return None if name == "crewai" else original(name)

    patch.setattr(importlib.util, "find_spec", find_spec)


def folder_of_that_name(patch: pytest.MonkeyPatch) -> None:
    """Have `import crewai` find something that no distribution has installed."""

    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    patch.setattr(importlib.metadata, "version", version)


SITUATIONS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str, str | None]] = {
    "old": (
        old_version,
        "crewAI 1.15.2 is older than 1.15.19, the first supported: upgrade crewai",
        "1.15.2",
    ),
    "no loop": (no_loop, f"crewAI {VERSION} has no crewai.hooks.dispatch.run_hooks", VERSION),
    "other signature": (
        other_signature,
        f"crewAI {VERSION} has no crewai.hooks.dispatch.run_hooks(reducer=, verbose=)",
        VERSION,
    ),
    "none": (none_at_all, "crewAI is not installed", None),
    "folder": (folder_of_that_name, "crewAI is not installed", None),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_without_a_seam_crews_run_as_ever_and_one_line_says_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    situation, problem, version = SITUATIONS[name]
    situation(monkeypatch)
    kickoff(crews.simple_crew())
    before = snapshot()
    caplog.clear()
    hookspan.instrument(**memory.providers)
    assert caplog.messages == [f"{problem}; only dispatches of hookspan's own engine are traced"]
    crewais = [change for change in differences(before, snapshot()) if change.startswith("crewai")]
    assert crewais == []
    assert str(kickoff(crews.simple_crew())) == "answer 0"
    named = {} if version is None else {"crewai__version": version}
    assert memory.points("hookspan.point.instrumented") == {
        key(crewai__hook__point=point.value, **named): 0 for point in InterceptionPoint
    }
    hookspan.register_hook(RETRY, guard)
    hookspan.dispatch(RETRY, hookspan.RetryAttemptContext({}))
    assert [node.name for node in memory.trees()] == ["run_hooks retry_attempt"]
    hookspan.uninstrument()
    assert differences(before, snapshot()) == [f"hookspan's {RETRY}[0]"]


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_required_point_that_is_missing_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    situation, problem, _ = SITUATIONS[name]
    situation(monkeypatch)
    before = snapshot()
    with pytest.raises(InstrumentationError) as raised:
        hookspan.instrument(require_points=["input", "pre_tool_call"])
    assert str(raised.value) == (
        f"require_points: input, pre_tool_call cannot be instrumented ({problem})"
    )
    assert differences(before, snapshot()) == []
    hookspan.uninstrument()


def test_required_points_that_are_there_are_instrumented(memory: Memory) -> None:
    every = [point.value for point in InterceptionPoint]
    hookspan.instrument(**memory.providers, require_points=every)
    assert memory.points("hookspan.point.instrumented") == {
        key(crewai__hook__point=point, crewai__version=VERSION): 1 for point in every
    }


def renamed(patch: pytest.MonkeyPatch) -> str:
    """Have crewAI call a method by another name; return what it then lacks."""
    method = CrewMemory.remember
    patch.setattr(CrewMemory, "keep", method, raising=False)
    patch.delattr(CrewMemory, "remember")
    return "memory_write (no crewai.memory.unified_memory.Memory.remember)"


def without_parameter(patch: pytest.MonkeyPatch) -> str:
    def remember(self: CrewMemory, content: str) -> None:
        """Take nothing else."""

    patch.setattr(CrewMemory, "remember", remember)
    return (
        "memory_write (no crewai.memory.unified_memory.Memory.remember"
        "(agent_role, metadata, root_scope, scope))"
    )


def made_asynchronous(patch: pytest.MonkeyPatch) -> str:
    original = CrewMemory.remember

    @functools.wraps(original)
    async def remember(self: CrewMemory, *args: Any, **kwargs: Any) -> Any:
        return original(self, *args, **kwargs)

    patch.setattr(CrewMemory, "remember", remember)
    return "memory_write (crewai.memory.unified_memory.Memory.remember is a coroutine function)"


def no_module(patch: pytest.MonkeyPatch) -> str:
    patch.setitem(sys.modules, "crewai.memory.unified_memory", None)
    lacks = [
        f"no crewai.memory.unified_memory.Memory.{name}"
        for name in ("remember", "remember_many", "update")
    ]
    return (
        f"memory_write ({'; '.join(lacks)}),"
        " memory_read (no crewai.memory.unified_memory.Memory.recall)"
    )


@pytest.mark.parametrize("change", [renamed, without_parameter, made_asynchronous, no_module])
def test_a_seam_that_is_missing_is_told_once_and_harms_nothing(
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[pytest.MonkeyPatch], str],
) -> None:
    lacks = change(monkeypatch)
    wired = 18 if change is no_module else 19
    caplog.clear()
    hookspan.instrument(**memory.providers)
    assert caplog.messages == [f"instrumented {wired} of 20 points: crewAI {VERSION} lacks {lacks}"]
    assert sum(memory.points("hookspan.point.instrumented").values()) == wired
    hookspan.register_hook(InterceptionPoint.MEMORY_WRITE, guard)
    assert errors(caplog) == [unwired("MEMORY_WRITE")]
    hookspan.register_hook(InterceptionPoint.TOOL_SELECTION, guard)
    assert str(kickoff(crews.simple_crew())) == "answer 0"
    assert len(memory.named("run_hooks tool_selection")) == 1
    hookspan.uninstrument()
    with pytest.raises(InstrumentationError) as raised:
        hookspan.instrument(require_points="memory_write,input")
    assert str(raised.value) == (
        f"require_points: memory_write cannot be instrumented (crewAI {VERSION} lacks {lacks})"
    )


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.ERROR]


def unwired(point: str, version: str = VERSION) -> str:
    return (
        f"{__name__}.guard is registered at {point}, which is not instrumented in crewAI {version}:"
        " no crew or flow will call it"
    )


def test_a_guard_that_nothing_calls_is_reported(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delattr(CrewMemory, "recall")
    monkeypatch.delattr(Flow, "_find_triggered_methods")
    hookspan.register_hook(InterceptionPoint.MEMORY_READ, guard)
    hookspan.register_hook(InterceptionPoint.INPUT, guard)
    hookspan.instrument(**memory.providers)
    expected = [unwired("MEMORY_READ")]
    assert errors(caplog) == expected
    hookspan.register_hook(InterceptionPoint.INPUT, guard)
    hookspan.on(InterceptionPoint.FLOW_TRANSITION, agents=["Researcher"])(guard)
    expected += [unwired("FLOW_TRANSITION")]
    assert errors(caplog) == expected
    with hookspan.scoped_hooks({InterceptionPoint.MEMORY_READ: [guard]}):
        hookspan.register_scoped(InterceptionPoint.FLOW_TRANSITION, guard)
        hookspan.register_scoped(InterceptionPoint.OUTPUT, guard)
    expected += [unwired("MEMORY_READ"), unwired("FLOW_TRANSITION")]
    assert errors(caplog) == expected
    hookspan.uninstrument()
    hookspan.register_hook(InterceptionPoint.MEMORY_READ, guard)
    assert errors(caplog) == expected


@pytest.mark.parametrize(("name", "version"), [("old", "1.15.2"), ("none", None)])
def test_a_guard_beside_an_unsupported_crewai_is_reported_at_every_point(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    version: str | None,
) -> None:
    SITUATIONS[name][0](monkeypatch)
    hookspan.register_hook(InterceptionPoint.INPUT, guard)
    hookspan.instrument()
    hookspan.register_hook(InterceptionPoint.OUTPUT, guard)
    expected = [unwired("INPUT", version), unwired("OUTPUT", version)] if version else []
    assert errors(caplog) == expected


def test_a_later_crewai_that_passes_more_is_followed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[Any] = []
    original = DISPATCH.run_hooks

    def run_hooks(
        point: Any, ctx: Any, hooks: Any, *, reducer: Any = None, verbose: Any = 1, **more: Any
    ) -> Any:
        passed.append(more)
        return original(point, ctx, hooks, reducer=reducer, verbose=verbose)

    monkeypatch.setattr(DISPATCH, "run_hooks", run_hooks)
    hookspan.instrument(**memory.providers)
    hookspan.register_hook(InterceptionPoint.INPUT, guard)
    ctx = InputContext({})
    hooks = hookspan.get_hooks(InterceptionPoint.INPUT)
    assert DISPATCH.run_hooks(DISPATCH.InterceptionPoint.INPUT, ctx, hooks, budget=7) is ctx
    DISPATCH.dispatch(DISPATCH.InterceptionPoint.INPUT, ctx)
    hookspan.uninstrument()
    assert DISPATCH.run_hooks is run_hooks
    assert passed == [{"budget": 7}, {}]
    assert [node.name for node in memory.trees()] == ["run_hooks input"] * 2

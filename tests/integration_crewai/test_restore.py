"""Switching off leaves crewAI as it was found: every attribute, every list, every hook."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from crewai import Agent, Crew
from crewai.hooks import dispatch as crewai_dispatch
from crewai.hooks.contexts import InputContext

import hookspan
from hookspan import InstrumentationError, InterceptionPoint
from hookspan.integrations.crewai import executions, instrumentor
from hookspan.integrations.crewai.patching import Patch
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.snapshot import DISPATCH, differences, snapshot
from tests.kit.memory import Memory

CREW: Any = Crew  # crewAI's own types leave parameters of its methods unknown
INPUT = InterceptionPoint.INPUT
PATCHED = [
    "crewai.agent.core.Agent._add_skill_loader_tool",
    "crewai.agent.core.Agent._check_execution_error",
    "crewai.agent.core.Agent._execute_and_build_output",
    "crewai.agent.core.Agent._process_kickoff_guardrail",
    "crewai.agent.core.Agent.aexecute_task",
    "crewai.agent.core.Agent.execute_task",
    "crewai.agent.core.Agent.kickoff",
    "crewai.agent.core.Agent.kickoff_async",
    "crewai.agents.agent_builder.base_agent.BaseAgent.copy",
    "crewai.crew.Crew.akickoff",
    "crewai.crew.Crew.kickoff",
    "crewai.crew.Crew.replay",
    "crewai.flow.async_feedback.types.PendingFeedbackContext.from_dict",
    "crewai.flow.async_feedback.types.PendingFeedbackContext.to_dict",
    "crewai.flow.runtime.Flow._execute_listeners",
    "crewai.flow.runtime.Flow._execute_method",
    "crewai.flow.runtime.Flow._execute_start_method",
    "crewai.flow.runtime.Flow._find_triggered_methods",
    "crewai.flow.runtime.Flow.kickoff",
    "crewai.flow.runtime.Flow.kickoff_async",
    "crewai.flow.runtime.Flow.resume",
    "crewai.flow.runtime.Flow.resume_async",
    "crewai.flow.runtime._actions.ScriptAction.run",
    "crewai.flow.runtime._actions.ToolAction.run",
    "crewai.hooks.dispatch.run_hooks",
    "crewai.knowledge.knowledge.Knowledge.aquery",
    "crewai.knowledge.knowledge.Knowledge.query",
    "crewai.lite_agent.LiteAgent._format_messages",
    "crewai.lite_agent.LiteAgent.kickoff",
    "crewai.llm.LLM.acall",
    "crewai.llms.base_llm.BaseLLM._invoke_after_llm_call_hooks",
    "crewai.llms.providers.openai.completion.OpenAICompletion.acall",
    "crewai.mcp.client.MCPClient.connect",
    "crewai.mcp.tool_resolver.MCPToolResolver._get_mcp_tool_schemas_async",
    "crewai.mcp.tool_resolver.MCPToolResolver.resolve",
    "crewai.memory.unified_memory.Memory.recall",
    "crewai.memory.unified_memory.Memory.remember",
    "crewai.memory.unified_memory.Memory.remember_many",
    "crewai.memory.unified_memory.Memory.update",
    "crewai.task.Task._ainvoke_guardrail_function",
    "crewai.task.Task._invoke_guardrail_function",
    "crewai.task.process_guardrail",
    "crewai.tools.agent_tools.base_agent_tools.BaseAgentTool._execute",
    "crewai.tools.mcp_native_tool.MCPNativeTool._run",
    "crewai.tools.mcp_tool_wrapper.MCPToolWrapper._run",
    "crewai.tools.mcp_tool_wrapper.MCPToolWrapper._run_async",
    "crewai.tools.memory_tools.RecallMemoryTool._run",
    "crewai.tools.memory_tools.RememberTool._run",
    "crewai.tools.tool_usage.ToolUsage._tool_calling",
    "crewai.tools.tool_usage.ToolUsage.ause",
    "crewai.tools.tool_usage.ToolUsage.on_tool_error",
    "crewai.tools.tool_usage.ToolUsage.use",
]

IMPORTED_LATE = [
    "crewai.llms.providers.openai.completion",
    "crewai.tools.memory_tools",
    "crewai.mcp.tool_resolver",
    "crewai.tools.mcp_native_tool",
    "crewai.tools.mcp_tool_wrapper",
]

pytestmark = pytest.mark.usefixtures("switched_off")


class Refused(Exception):  # noqa: N818 - it is no error of anybody's
    """Stands for whatever may go wrong while instrumenting."""


def first(ctx: Any) -> None:
    """Do nothing."""


def second(ctx: Any) -> None:
    """Do nothing."""


def third(ctx: Any) -> None:
    """Do nothing."""


def theirs(ctx: Any) -> None:
    """Do nothing."""


@pytest.fixture
def hooks_on_both_sides() -> None:
    """Register hooks through hookspan and through crewAI, at wired points and at another."""
    hookspan.register_hook(INPUT, first)
    hookspan.register_hook(InterceptionPoint.RETRY_ATTEMPT, second)
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, theirs)


def names(hooks: list[Any]) -> list[str]:
    return [hook.__name__ for hook in hooks]


def in_crewai(point: str = "input") -> list[str]:
    return names(DISPATCH._global_hooks[point])


def in_hookspan(point: InterceptionPoint = INPUT) -> list[str]:
    return names(hookspan.get_hooks(point))


def dispatch_input() -> None:
    crewai_dispatch(DISPATCH.InterceptionPoint.INPUT, InputContext(payload={}))


def recorded(memory: Memory) -> list[str]:
    """The point of each dispatch span, with the number of its hooks."""
    return [
        f"{node.attributes['crewai.hook.point']} {node.attributes['crewai.hook.count']}"
        for node in memory.trees()
    ]


@pytest.mark.usefixtures("hooks_on_both_sides")
def test_everything_is_as_before(memory: Memory) -> None:
    kickoff(crews.simple_crew())  # crewAI completes its own classes when they are first used
    for module in IMPORTED_LATE:
        importlib.import_module(module)
    before = snapshot()
    hookspan.instrument(**memory.providers)
    changed = differences(before, snapshot())
    kickoff(crews.simple_crew())
    hookspan.uninstrument()
    assert [name for name in changed if name.startswith("crewai.")] == PATCHED
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"require_points": ["retry_attempt"]}, r"lacks retry_attempt \(no .*Agent\.execute_task"),
        ({"colour": "red"}, "colour= is not a setting"),
        ({"spans": "some"}, "spans='some' is not valid"),
    ],
)
@pytest.mark.usefixtures("hooks_on_both_sides")
def test_a_refused_call_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], message: str
) -> None:
    monkeypatch.delattr(Agent, "execute_task")
    before = snapshot()
    with pytest.raises(InstrumentationError, match=message):
        hookspan.instrument(**arguments)
    assert differences(before, snapshot()) == []


@pytest.mark.parametrize("successful", range(0, len(PATCHED) - len(IMPORTED_LATE) - 3, 4))
@pytest.mark.usefixtures("hooks_on_both_sides")
def test_a_failure_between_two_patches_undoes_those_before(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, successful: int
) -> None:
    applied: list[Patch] = []

    def apply(patch: Patch) -> None:
        if len(applied) == successful:
            raise Refused
        applied.append(patch)
        original(patch)

    original = Patch.apply
    before = snapshot()
    with monkeypatch.context() as patched:
        patched.setattr(Patch, "apply", apply)
        with pytest.raises(Refused):
            hookspan.instrument(**memory.providers)
    assert differences(before, snapshot()) == []
    hookspan.instrument(**memory.providers)
    dispatch_input()
    assert recorded(memory) == ["input 2"]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (instrumentor, "unify_aborts"),
        (instrumentor, "adopt"),
        (instrumentor, "watch_loop"),
        (executions, "_position"),
        (instrumentor, "Recorder"),
    ],
)
@pytest.mark.usefixtures("hooks_on_both_sides")
def test_a_failure_of_a_step_undoes_those_before(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise Refused

    before = snapshot()
    with monkeypatch.context() as patched:
        patched.setattr(module, name, refuse)
        with pytest.raises(Refused):
            hookspan.instrument()
    assert differences(before, snapshot()) == []


@pytest.fixture
def originals(switched_off: None, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have what is patched below put back to crewAI's own in the end, not to ours."""
    monkeypatch.setattr(DISPATCH, "run_hooks", DISPATCH.run_hooks)
    monkeypatch.setattr(CREW, "kickoff", CREW.kickoff)
    return monkeypatch


def foreign(calls: list[str], original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function as another library would."""

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        calls.append(original.__name__)
        return original(*args, **kwargs)

    return wrapper


def test_a_foreign_patch_over_ours_stays_and_ours_passes_through(
    originals: pytest.MonkeyPatch, instrumented: Memory
) -> None:
    calls: list[str] = []
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, first)
    over_loop, over_crew = foreign(calls, DISPATCH.run_hooks), foreign(calls, CREW.kickoff)
    originals.setattr(DISPATCH, "run_hooks", over_loop)
    originals.setattr(CREW, "kickoff", over_crew)
    hookspan.uninstrument()
    assert (DISPATCH.run_hooks, vars(CREW)["kickoff"]) == (over_loop, over_crew)
    assert str(kickoff(crews.simple_crew())) == "answer 0"
    assert calls == ["kickoff", "run_hooks"]
    assert instrumented.spans() == []


def test_a_foreign_patch_over_ours_does_not_make_us_record_twice(
    originals: pytest.MonkeyPatch, instrumented: Memory
) -> None:
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, first)
    originals.setattr(DISPATCH, "run_hooks", foreign([], DISPATCH.run_hooks))
    originals.setattr(CREW, "kickoff", foreign([], CREW.kickoff))
    hookspan.uninstrument()
    hookspan.instrument(**instrumented.providers)
    kickoff(crews.simple_crew())
    (run,) = instrumented.trees()
    assert run.names() == ("invoke_workflow research", [("run_hooks input", [])])


def test_cached_references_pass_through(instrumented: Memory) -> None:
    seen: list[Any] = []
    loop, run = DISPATCH.run_hooks, CREW.kickoff
    hookspan.uninstrument()
    ctx = InputContext(payload={})
    assert loop(DISPATCH.InterceptionPoint.INPUT, ctx, [seen.append]) is ctx
    assert seen == [ctx]
    assert str(run(crews.simple_crew(), inputs=crews.TOPIC)) == "answer 0"
    assert instrumented.spans() == []


def test_a_second_call_of_either_changes_nothing(
    instrumented: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    other = Memory()
    once = snapshot()
    hookspan.instrument(**other.providers, spans="off")
    assert differences(once, snapshot()) == []
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, first)
    dispatch_input()
    assert (recorded(instrumented), other.spans()) == (["input 1"], [])
    hookspan.uninstrument()
    off = snapshot()
    hookspan.uninstrument()
    assert differences(off, snapshot()) == []
    assert caplog.records == []
    other.close()


def test_each_hook_goes_back_to_where_it_was_registered(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    hookspan.register_hook(INPUT, first)
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, theirs)
    assert (in_crewai(), in_hookspan()) == (["theirs"], ["first"])
    hookspan.instrument(**memory.providers)
    shared = ["theirs", "first"]
    assert (in_crewai(), in_hookspan()) == (shared, shared)
    hookspan.register_hook(INPUT, second)
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, print)
    hookspan.on(INPUT, agents=["Researcher"])(third)
    shared += ["second", "print", "third"]
    assert (in_crewai(), in_hookspan()) == (shared, shared)
    hookspan.uninstrument()
    assert (in_crewai(), in_hookspan()) == (["theirs", "print"], ["first", "second", "third"])
    assert caplog.messages == ["3 hooks registered through hookspan no longer run in crewAI"]


def test_the_same_function_on_both_sides_keeps_its_places(instrumented: Memory) -> None:
    register = functools.partial(DISPATCH.register, DISPATCH.InterceptionPoint.INPUT)
    register(first)
    register(theirs)
    hookspan.register_hook(INPUT, first)
    register(second)
    hookspan.uninstrument()
    assert (in_crewai(), in_hookspan()) == (["first", "theirs", "second"], ["first"])


def test_of_one_hook_registered_twice_one_can_be_taken_out(instrumented: Memory) -> None:
    hookspan.register_hook(INPUT, first)
    hookspan.register_hook(INPUT, first)
    assert hookspan.unregister_hook(INPUT, first)
    hookspan.uninstrument()
    assert (in_crewai(), in_hookspan()) == ([], ["first"])


@pytest.mark.parametrize("unregister", [hookspan.unregister_hook, DISPATCH.unregister])
def test_either_side_unregisters_what_either_has_registered(
    instrumented: Memory, unregister: Callable[..., bool]
) -> None:
    point = DISPATCH.InterceptionPoint.INPUT
    hookspan.on(INPUT, agents=["Researcher"])(first)
    hookspan.register_hook(INPUT, second)
    DISPATCH.register(point, theirs)
    assert [unregister(point, hook) for hook in (first, second, theirs, third)] == [
        True,
        True,
        True,
        False,
    ]
    hookspan.uninstrument()
    assert (in_crewai(), in_hookspan()) == ([], [])


@pytest.mark.parametrize("clear_all", [hookspan.clear_all_hooks, DISPATCH.clear_all])
@pytest.mark.usefixtures("hooks_on_both_sides")
def test_clearing_everything_on_either_side(
    memory: Memory, clear_all: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    hookspan.instrument(**memory.providers)
    caplog.clear()
    clear_all()
    assert [hooks for hooks in DISPATCH._global_hooks.values() if hooks] == []
    dispatch_input()
    assert recorded(memory) == []
    DISPATCH.register(DISPATCH.InterceptionPoint.INPUT, theirs)
    hookspan.register_hook(INPUT, second)
    dispatch_input()
    assert recorded(memory) == ["input 2"]
    hookspan.uninstrument()
    assert (in_crewai(), in_hookspan()) == (["theirs"], ["second"])
    assert caplog.messages == ["1 hooks registered through hookspan no longer run in crewAI"]


def test_filters_work_in_snapshots_that_outlive_the_instrumentation(instrumented: Memory) -> None:
    heard: list[str] = []

    @hookspan.before_llm_call(agents=["Researcher"])
    def for_researchers(ctx: Any) -> None:
        heard.append(f"researchers: {ctx.agent.role}")

    @hookspan.before_llm_call(agents=["Writer"])
    def for_writers(ctx: Any) -> None:
        heard.append(f"writers: {ctx.agent.role}")

    kickoff(crews.simple_crew())
    assert heard == ["researchers: Researcher"]
    hooks = DISPATCH.get_hooks(DISPATCH.InterceptionPoint.PRE_MODEL_CALL)
    assert names(hooks) == ["for_researchers", "for_writers"]
    hookspan.uninstrument()
    ctx = InputContext(agent=crews.solo_agent())
    ctx.agent.role = "Writer"
    DISPATCH.run_hooks(DISPATCH.InterceptionPoint.PRE_MODEL_CALL, ctx, hooks)
    assert heard == ["researchers: Researcher", "writers: Writer"]

"""Cases from reports of users, as they are told there."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from crewai import Crew
from crewai.hooks.contexts import InputContext
from opentelemetry.trace import get_current_span

import hookspan
from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.scripted import ScriptedLLM
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, Node, key

EVENTS: Any = importlib.import_module("crewai.events.event_bus")


def watch(ctx: Any) -> None:
    """Change nothing."""


def register(*points: str, hook: Any = watch) -> None:
    for point in points:
        DISPATCH.register(DISPATCH.InterceptionPoint(point), hook)


def below(node: Node) -> list[Node]:
    return [one for child in node.children for one in (child, *below(child))]


def test_c01_an_abort_at_the_start(instrumented: Memory) -> None:
    aborted = DISPATCH.HookAborted("unauthorized", "access-control")

    def guard(ctx: Any) -> None:
        raise aborted

    register("execution_start", hook=guard)
    with pytest.raises(DISPATCH.HookAborted) as raised:
        kickoff(crews.simple_crew())
    assert raised.value is aborted
    (run,) = instrumented.trees()
    (hook,) = run.children
    assert run.span.end_time is not None
    assert (run.name, run.status) == ("invoke_workflow research", "ERROR")
    assert run.attributes["error.type"] == "crewai.hooks.dispatch.HookAborted"
    assert run.attributes["crewai.execution.outcome"] == "aborted"
    assert (hook.name, hook.status) == ("run_hooks execution_start", "UNSET")
    assert hook.attributes["crewai.hook.outcome"] == "aborted"
    assert hook.attributes["crewai.hook.abort.reason"] == "unauthorized"
    assert hook.attributes["crewai.hook.abort.source"] == "access-control"
    assert instrumented.points("crewai.executions") == {
        key(
            crewai__execution__kind="crew",
            crewai__execution__outcome="aborted",
            crewai__execution__denied=True,
            crewai__execution__nested=False,
            gen_ai__workflow__name="research",
        ): 1
    }
    assert instrumented.points("crewai.execution.active") == {
        key(crewai__execution__kind="crew"): 0
    }


def test_c02_a_model_that_fails(instrumented: Memory) -> None:
    error = RuntimeError("model down")
    register("execution_start", "execution_end")
    with pytest.raises(RuntimeError) as raised:
        kickoff(crews.failing_crew(error))
    assert raised.value is error
    (run,) = instrumented.trees()
    assert run.names() == (
        "invoke_workflow research",
        [("run_hooks execution_start", []), ("run_hooks execution_end", [])],
    )
    assert (run.status, run.attributes["error.type"]) == ("ERROR", "RuntimeError")
    assert run.attributes["crewai.execution.outcome"] == "failed"
    assert run.attributes["crewai.execution.status"] == "failed"
    assert run.children[1].attributes["crewai.execution.status"] == "failed"


def test_c03_hooks_at_a_tool_only(instrumented: Memory) -> None:
    register("pre_tool_call")
    kickoff(crews.tool_crew())
    (run,) = instrumented.trees()
    assert run.names() == ("invoke_workflow research", [("run_hooks pre_tool_call", [])] * 2)
    assert [hook.attributes["crewai.hook.count"] for hook in run.children] == [1, 1]


def test_c07_an_asynchronous_task_inside_a_callers_span(instrumented: Memory) -> None:
    contexts: list[Any] = []
    register("pre_step", hook=contexts.append)
    register("pre_model_call")
    workers = [crews.agent(ScriptedLLM(crews.about_the_topic)) for _ in range(2)]
    todo = [
        crews.task(f"task_{number}", worker, async_execution=number == 0)
        for number, worker in enumerate(workers)
    ]
    crew = Crew(name="research", agents=[*workers], tasks=todo)
    tracer = instrumented.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("request") as caller:
        kickoff(crew)
        assert get_current_span() is caller
    (root,) = instrumented.trees()
    (run,) = root.children
    assert (root.name, run.name) == ("request", "invoke_workflow research")
    steps = [node for node in below(run) if node.name == "run_hooks pre_step"]
    assert len(below(run)) == 4
    assert [ctx.crew for ctx in contexts] == [None, None]
    assert sorted(
        (step.attributes["crewai.crew.name"], step.attributes["crewai.task.name"]) for step in steps
    ) == [("research", "task_0"), ("research", "task_1")]
    traces = {span.context.trace_id for span in instrumented.spans() if span.context}
    assert len(traces) == 1


def test_c09_a_flow_that_survives_the_failure_of_its_crew(instrumented: Memory) -> None:
    register("execution_start", "execution_end")
    assert flows.flow(flows.OfFailingCrew).kickoff() == "caught: model down"
    (flow,) = instrumented.trees()
    hooks: list[tuple[str, list[Any]]] = [
        ("run_hooks execution_start", []),
        ("run_hooks execution_end", []),
    ]
    assert flow.names() == (
        "invoke_workflow OfFailingCrew",
        [hooks[0], ("invoke_workflow research", hooks), hooks[1]],
    )
    crew = flow.children[1]
    assert [
        (node.status, node.attributes["crewai.execution.outcome"]) for node in (flow, crew)
    ] == [("UNSET", "completed"), ("ERROR", "failed")]
    ends = [node.children[-1].attributes["crewai.execution.status"] for node in (crew, flow)]
    assert ends == ["failed", "completed"]
    assert (flow.span.end_time or 0) > (crew.span.end_time or 0)


class Hostile:
    """Raises whatever is asked of it."""

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError

    __repr__ = __eq__ = __ne__ = __deepcopy__ = __bool__ = __len__ = __str__ = _refuse
    __hash__ = object.__hash__


def test_c29_on_and_off_and_hooks_come_and_go(memory: Memory, switched_off: None) -> None:
    original, point = DISPATCH.run_hooks, DISPATCH.InterceptionPoint.PRE_STEP
    calls: list[Any] = []

    def kick(spans: int) -> list[Any]:
        """Kick off; return the user's view of the hooks, after checking the spans so far."""
        kickoff(crews.simple_crew())
        assert len(memory.named("run_hooks pre_step")) == spans
        return list(DISPATCH.get_hooks(point))

    DISPATCH.register(point, calls.append)
    hookspan.instrument(**memory.providers)
    hookspan.instrument(**memory.providers)
    assert kick(1) == [calls.append]
    DISPATCH.clear_all()
    assert kick(1) == []
    DISPATCH.register(point, calls.append)
    assert kick(2) == [calls.append]
    hookspan.uninstrument()
    assert kick(2) == [calls.append]
    assert (len(calls), DISPATCH.run_hooks is original) == (3, True)


@pytest.mark.parametrize("returned", [False, True])
def test_c29_a_payload_that_cannot_be_touched(instrumented: Memory, returned: bool) -> None:
    hostile, other = Hostile(), Hostile()

    def hook(ctx: Any) -> Hostile | None:
        return other if returned else None

    register("input", hook=hook)
    ctx = DISPATCH.dispatch(DISPATCH.InterceptionPoint.INPUT, InputContext(payload=hostile))
    assert ctx.payload is (other if returned else hostile)
    (span,) = instrumented.trees()
    assert span.attributes["crewai.hook.outcome"] == ("modified" if returned else "proceeded")

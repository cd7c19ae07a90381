"""Runs at the same time never mix: traces, names, outcomes, counts, metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from opentelemetry import baggage
from opentelemetry.context import attach, detach

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.runs import untyped
from tests.integration_crewai.scripted import Answer, ModelCall, tool_calls
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory, Node

RUNS = 12
ENDS = ("completed", "failed", "denied", "flow")
SEEN: list[tuple[Any, Any]] = []


def deny_those(ctx: Any) -> None:
    """Deny the tools of the runs whose tenant says so."""
    if str(baggage.get_baggage("tenant")).startswith("denied"):
        raise DISPATCH.HookAborted("no", "policy")  # noqa: EM101 - a reason is no message


def look(ctx: Any) -> None:
    """Note whose run the hook believes to be in."""
    crew = getattr(ctx, "crew", None)
    SEEN.append((baggage.get_baggage("tenant"), crew.name if crew else None))


def run_of(name: str, all_there: threading.Barrier) -> Callable[[], Any]:
    """Return a run whose end its name tells, and which waits until every run is at work."""

    def answer(call: ModelCall) -> Answer:
        if call.has_tool_result:
            return "done"
        all_there.wait(20)
        return RuntimeError("down") if name.startswith("failed") else tool_calls(ORDER)

    if name.startswith("flow"):
        return lambda: (all_there.wait(20), untyped(flows.flow(flows.OfCrew)).kickoff())
    crew = crews.simple_crew(
        script=answer,
        name=name,
        tools=[crews.lookup],
        native=True,
        agent_settings={"max_retry_limit": 0},
    )
    return lambda: kickoff(crew)


ORDER = ("lookup", {"city": "Brest"})


def test_every_run_keeps_to_itself(instrumented: Memory) -> None:
    SEEN.clear()
    DISPATCH.register(DISPATCH.InterceptionPoint.PRE_TOOL_CALL, deny_those)
    DISPATCH.register(DISPATCH.InterceptionPoint.EXECUTION_START, look)
    names = [f"{ENDS[number % len(ENDS)]}-{number}" for number in range(RUNS)]
    all_there = threading.Barrier(RUNS)
    tracer = instrumented.tracer_provider.get_tracer("app")

    def request(name: str) -> None:
        token = attach(baggage.set_baggage("tenant", name))
        with tracer.start_as_current_span(name), suppress(RuntimeError):
            run_of(name, all_there)()
        detach(token)

    with ThreadPoolExecutor(RUNS) as pool:
        list(pool.map(request, names))

    roots = {root.name: root for root in instrumented.trees()}
    assert sorted(roots) == sorted(names)
    for name in names:
        check(name, roots[name])
    ends = {"completed": 0, "failed": 0}
    for key, value in instrumented.points("crewai.executions").items():
        ends[dict(key)["crewai.execution.outcome"]] += value
    # Each flow has a crew in it.
    assert ends == {"failed": RUNS // 4, "completed": RUNS // 4 * 2 + RUNS // 4 * 2}
    assert set(instrumented.points("crewai.execution.active").values()) == {0}
    assert {tenant for tenant, _ in SEEN} == set(names)
    assert all(crew in {tenant, "research", None} for tenant, crew in SEEN)


def check(name: str, root: Node) -> None:
    """Check the trace of one request: nothing of another's is in it."""
    (run,) = root.children
    trace_id = root.span.context.trace_id if root.span.context else None
    spans = [run, *below(run)]
    assert {span.span.context and span.span.context.trace_id for span in spans} == {trace_id}
    if name.startswith("flow"):
        assert run.names() == (
            "invoke_workflow OfCrew",
            [
                ("run_hooks execution_start", []),
                ("invoke_workflow research", [("run_hooks execution_start", [])]),
            ],
        )
        return
    assert {span.attributes["crewai.crew.name"] for span in spans} == {name}
    tools: list[Any] = [] if name.startswith("failed") else [("run_hooks pre_tool_call", [])]
    assert run.names() == (
        f"invoke_workflow {name}",
        [("run_hooks execution_start", []), *tools],
    )
    failed = name.startswith("failed")
    assert run.status == ("ERROR" if failed else "UNSET")
    assert run.attributes["crewai.execution.outcome"] == ("failed" if failed else "completed")
    assert run.attributes["crewai.execution.abort.count"] == int(name.startswith("denied"))


def below(node: Node) -> list[Node]:
    """Return every span below one."""
    return [one for child in node.children for one in (child, *below(child))]

"""Another instrumentation's span of a tool call stays as it was made; ours tells of the block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import crewai.hooks as crewai_hooks
import pytest
from crewai.agents.agent_executor import AgentExecutor
from opentelemetry.trace import Status, StatusCode

from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.registering import on
from tests.kit.memory import Memory, Node

PEER = "a.peer"
ATTRIBUTES = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}


@pytest.fixture
def peer(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every native tool call a span, as instrumentations of crewAI do: a block is an OK."""
    tracer = memory.tracer_provider.get_tracer(PEER)
    name = "_execute_single_native_tool_call"
    original: Callable[..., Any] = getattr(AgentExecutor, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        with tracer.start_as_current_span("execute_tool lookup", attributes=ATTRIBUTES) as span:
            result = original(*args, **kwargs)
            span.set_status(Status(StatusCode.OK))
            return result

    monkeypatch.setattr(AgentExecutor, name, call)


def denies(ctx: Any) -> None:
    reason = "no tides today"
    raise crewai_hooks.HookAborted(reason, "policy")


def crashes(ctx: Any) -> None:
    message = "broken"
    raise ValueError(message)


def changes(ctx: Any) -> str:
    return "something else"


def peers(memory: Memory) -> list[Node]:
    return memory.named("execute_tool lookup")


@pytest.mark.usefixtures("peer")
def test_peer_is_never_written_on(instrumented: Memory) -> None:
    on("pre_tool_call")(crashes)
    on("pre_tool_call")(denies)
    on("post_tool_call")(changes)
    kickoff(crews.native_tool_crew())
    assert len(peers(instrumented)) == 2
    for node in peers(instrumented):
        assert node.attributes == ATTRIBUTES
        assert (node.status, node.span.events, node.span.links) == ("OK", (), ())
        assert [child.name for child in node.children] == [
            "run_hooks pre_tool_call",
            "run_hooks post_tool_call",
        ]


@pytest.mark.usefixtures("peer")
def test_block_is_told_below_the_peer(instrumented: Memory) -> None:
    on("pre_tool_call")(denies)
    crew = crews.native_tool_crew()
    assert str(kickoff(crew)) == "both"
    assert "Brest: high" not in llm_of(crew).calls[-1].prompt
    blocked = [
        (below.attributes["crewai.hook.effect"], below.attributes["gen_ai.tool.name"])
        for above in peers(instrumented)
        for below in above.children
    ]
    assert blocked == [("blocked", "lookup")] * 2
    (run,) = instrumented.trees()
    assert run.attributes["crewai.execution.denied"] is True
    assert run.attributes["crewai.execution.outcome"] == "completed"


def test_block_in_the_text_protocol_is_told_alike(instrumented: Memory) -> None:
    on("pre_tool_call")(denies)
    kickoff(crews.tool_crew())
    found = instrumented.named("run_hooks pre_tool_call")
    assert [
        (node.attributes["crewai.hook.effect"], node.attributes["gen_ai.tool.name"])
        for node in found
    ] == [("blocked", "lookup")] * 2

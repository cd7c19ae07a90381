"""What crewAI itself does around its own tool and model points is asked about too."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

import pytest
from crewai.flow.flow import Flow
from crewai.tools import BaseTool

import hookspan
from hookspan import InterceptionPoint
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import Asked, deny, give, is_denied, outcome, told
from tests.integration_crewai.scripted import ScriptedLLM, final
from tests.kit.memory import Memory

PRE_TOOL, POST_TOOL = InterceptionPoint.PRE_TOOL_CALL, InterceptionPoint.POST_TOOL_CALL
PRE_MODEL, POST_MODEL = InterceptionPoint.PRE_MODEL_CALL, InterceptionPoint.POST_MODEL_CALL

RAN: list[str] = []


class Weather(BaseTool):
    """Tells the weather, and notes that it did."""

    name: str = "The Weather"
    description: str = "Tell."

    def _run(self, city: str) -> str:
        RAN.append(city)
        return f"{city}: rain"


def declared() -> Any:
    """Return a declared flow that runs the tool."""
    action = {"call": "tool", "ref": f"{__name__}:Weather", "with": {"city": "Brest"}}
    contents = {
        "schema": "crewai.flow/v1",
        "name": "Declared",
        "methods": {"only": {"start": True, "do": action}},
    }
    untyped: Any = Flow
    RAN.clear()
    return untyped.from_declaration(contents=contents)


def test_a_tool_of_a_declared_flow_is_asked_about_once(instrumented: Memory) -> None:
    before, after = Asked(PRE_TOOL), Asked(POST_TOOL)
    assert declared().kickoff() == "Brest: rain"
    assert [(ctx.tool_name, ctx.tool_input) for ctx in before] == [
        ("the_weather", {"city": "Brest"})
    ]
    assert [ctx.tool_result for ctx in after] == ["Brest: rain"]
    assert RAN == ["Brest"]


def test_a_tool_of_a_declared_flow_is_given_what_the_hook_says(instrumented: Memory) -> None:
    Asked(PRE_TOOL, lambda ctx: ctx.tool_input.update(city="Hull"))
    Asked(POST_TOOL, lambda ctx: ctx.tool_result.upper())
    assert declared().kickoff() == "HULL: RAIN"


def test_a_tool_of_a_declared_flow_is_blocked(instrumented: Memory) -> None:
    Asked(PRE_TOOL, deny())
    said = declared().kickoff()
    assert (said, RAN) == ("Tool execution blocked by hook. Tool: the_weather", [])
    assert told(instrumented, PRE_TOOL) == [("aborted", "blocked")]


def test_a_tool_that_an_agent_calls_is_asked_about_once(instrumented: Memory) -> None:
    before, after = Asked(PRE_TOOL), Asked(POST_TOOL)
    crews.kickoff(crews.tool_crew())
    crews.kickoff(crews.native_tool_crew())
    assert (len(before), len(after)) == (4, 4)


@pytest.fixture
def llm(instrumented: Memory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return crewAI's model behind OpenAI's protocol, which answers without the network."""
    module: Any = importlib.import_module("crewai.llms.providers.openai.completion")

    async def answer(*_args: Any, **_settings: Any) -> str:
        return "said"

    monkeypatch.setattr(module.OpenAICompletion, "_acall_completions", answer)
    untyped: Any = importlib.import_module("crewai").LLM
    return untyped(model="openai/gpt-4o-mini", api_key="none")


def test_the_answer_of_an_asynchronous_model_call_is_asked_about_once(llm: Any) -> None:
    before, after = Asked(PRE_MODEL), Asked(POST_MODEL, give("heard"))
    assert asyncio.run(llm.acall("hello")) == "heard"
    assert (len(before), len(after)) == (1, 1)
    assert after[0].messages == [{"role": "user", "content": "hello"}]


def test_an_abort_after_an_asynchronous_model_call_reaches_its_caller(llm: Any) -> None:
    Asked(POST_MODEL, deny())
    assert is_denied(outcome(lambda: llm.acall("hello")))


def test_an_answer_that_crewai_asks_about_itself_is_asked_about_once(
    llm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later crewAI may close the gap; the executor has asked already when it calls."""

    async def asks(self: Any, *_args: Any, **_settings: Any) -> str:
        said: str = self._invoke_after_llm_call_hooks([], "said", None)
        return said

    monkeypatch.setattr(llm.__class__, "_acall_completions", asks)
    after = Asked(POST_MODEL)
    asyncio.run(llm.acall("hello"))
    assert len(after) == 1


def test_without_hooks_and_afterwards_nothing_is_different(llm: Any) -> None:
    assert asyncio.run(llm.acall("hello")) == "said"
    assert declared().kickoff() == "Brest: rain"
    hookspan.uninstrument()
    assert asyncio.run(llm.acall("hello")) == "said"


def light_agent(llm: ScriptedLLM) -> Any:
    module: Any = importlib.import_module("crewai.lite_agent")
    tools = [crews.lookup, crews.measure]
    return module.LiteAgent(role="Lite", goal="g", backstory="b", llm=llm, tools=tools)


@pytest.mark.filterwarnings("ignore:LiteAgent is deprecated:FutureWarning")
def test_the_tools_of_a_light_agent_are_asked_about_once_a_run(instrumented: Memory) -> None:
    asked = Asked(
        InterceptionPoint.TOOL_SELECTION,
        lambda ctx: [tool for tool in ctx.tools if tool.name != "lookup"],
    )
    llm = ScriptedLLM([final("light"), final("again")])
    agent = light_agent(llm)
    for _ in range(2):
        agent.kickoff("think")
    offered = [sorted(tool.name for tool in tools) for tools in asked.payloads]
    assert offered == [["lookup", "measure"]] * 2
    assert {ctx.agent_role for ctx in asked} == {"Lite"}
    assert ["lookup" in call.prompt for call in llm.calls] == [False, False]
    assert ["measure" in call.prompt for call in llm.calls] == [True, True]


@pytest.mark.filterwarnings("ignore:LiteAgent is deprecated:FutureWarning")
def test_an_abort_stops_a_light_agent_before_its_model(instrumented: Memory) -> None:
    Asked(InterceptionPoint.TOOL_SELECTION, deny())
    llm = ScriptedLLM([final("light")])
    assert is_denied(outcome(lambda: light_agent(llm).kickoff("think")))
    assert llm.calls == ()

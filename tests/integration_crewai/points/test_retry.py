"""RETRY_ATTEMPT: asked before each attempt that follows a failed one, and before no first one."""

from __future__ import annotations

import contextvars
from typing import Any

import pytest
from crewai import Agent, Crew, Task
from crewai.tools import BaseTool

from hookspan import InterceptionPoint, RetryAttemptContext
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import (
    Asked,
    deny,
    give,
    is_denied,
    outcome,
    told,
    unannotated,
)
from tests.integration_crewai.scripted import Answer, ScriptedLLM, final, use_tool
from tests.kit.memory import Memory

POINT = InterceptionPoint.RETRY_ATTEMPT
RUNS = {"sync": crews.kickoff, "async": crews.akickoff}
FLAKY = RuntimeError("flaky")


def flaky_crew(*answers: Answer, **settings: Any) -> Crew:
    """Return a crew of two tasks whose model fails before it answers the first."""
    return crews.simple_crew(2, script=[*answers, final("first"), final("second")], **settings)


def refused(times: int, answers: int = 2) -> tuple[Task, ScriptedLLM, Crew]:
    """Return a crew of one task whose guardrail refuses that many outputs."""
    seen: list[str] = []

    def check(output: Any) -> tuple[bool, Any]:
        seen.append(output.raw)
        return (True, output.raw) if len(seen) > times else (False, f"refused {output.raw}")

    llm = ScriptedLLM([final(f"answer {number}") for number in range(answers)])
    worker = crews.agent(llm)
    task = crews.task("task_0", worker, guardrail=unannotated(check), guardrail_max_retries=2)
    return task, llm, Crew(name="research", agents=[worker], tasks=[task])


def numbers(asked: Asked) -> list[tuple[Any, ...]]:
    return [(ctx.operation, ctx.attempt, ctx.max_attempts) for ctx in asked]


@pytest.mark.parametrize("run", RUNS)
def test_an_agent_tries_its_task_again(instrumented: Memory, run: str) -> None:
    asked, crew = Asked(POINT), flaky_crew(FLAKY)
    assert str(outcome(lambda: RUNS[run](crew))) == "second"
    assert numbers(asked) == [("task", 2, 3)]
    (ctx,) = asked
    assert type(ctx) is RetryAttemptContext
    assert (ctx.agent, ctx.task, ctx.crew) == (crew.agents[0], crew.tasks[0], crew)
    assert ctx.error is FLAKY
    assert told(instrumented, POINT) == [("proceeded", "continued")]
    (span,) = instrumented.named("run_hooks retry_attempt")
    about = {key: span.attributes[f"crewai.retry.{key}"] for key in ("operation", "attempt")}
    assert about == {"operation": "task", "attempt": 2}


def test_every_further_attempt_is_asked_about(instrumented: Memory) -> None:
    asked, crew = Asked(POINT), flaky_crew(FLAKY, FLAKY)
    crews.kickoff(crew)
    assert numbers(asked) == [("task", 2, 3), ("task", 3, 3)]


def test_a_run_after_one_with_a_retry_begins_anew(instrumented: Memory) -> None:
    asked, crew = Asked(POINT), flaky_crew(FLAKY)

    def run_twice() -> None:
        crews.kickoff(crew)
        crews.llm_of(crew).say(final("first"), final("second"))
        crews.kickoff(crew)

    contextvars.Context().run(run_twice)  # whatever other tests have left behind
    assert len(asked) == 1


def test_the_last_failure_is_no_retry(instrumented: Memory) -> None:
    asked = Asked(POINT)
    assert outcome(lambda: crews.kickoff(crews.failing_crew(FLAKY))) is FLAKY
    assert asked == []


@pytest.mark.parametrize("run", RUNS)
def test_an_agent_tries_again_with_what_the_hook_says(instrumented: Memory, run: str) -> None:
    Asked(POINT, give("TRY THIS INSTEAD"))
    crew = flaky_crew(FLAKY)
    outcome(lambda: RUNS[run](crew))
    prompts = [call.prompt for call in crews.llm_of(crew).calls]
    assert ["TRY THIS INSTEAD" in prompt for prompt in prompts] == [False, True, False]
    assert told(instrumented, POINT) == [("modified", "replaced")]


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_of_an_agents_retry_leaves_the_run(instrumented: Memory, run: str) -> None:
    Asked(POINT, deny())
    crew = flaky_crew(FLAKY)
    error = outcome(lambda: RUNS[run](crew))
    assert is_denied(error)
    assert error.__context__ is FLAKY
    assert len(crews.llm_of(crew).calls) == 1
    assert told(instrumented, POINT) == [("aborted", "raised")]


@pytest.mark.parametrize("run", RUNS)
def test_a_refused_output_is_tried_again(instrumented: Memory, run: str) -> None:
    asked = Asked(POINT, lambda ctx: f"{ctx.payload} HINT {ctx.attempt}")
    task, llm, crew = refused(2, answers=3)
    assert str(outcome(lambda: RUNS[run](crew))) == "answer 2"
    assert numbers(asked) == [("guardrail", 2, 3), ("guardrail", 3, 3)]
    assert [str(ctx.error) for ctx in asked] == ["refused answer 0", "refused answer 1"]
    assert [(ctx.agent, ctx.task, ctx.crew) for ctx in asked] == [(crew.agents[0], task, crew)] * 2
    hints = ["HINT 2" in call.prompt for call in llm.calls]
    assert hints == [False, True, False]
    assert "HINT 3" in llm.calls[2].prompt


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_after_a_refusal_leaves_the_run(instrumented: Memory, run: str) -> None:
    Asked(POINT, deny())
    _, llm, crew = refused(1)
    assert is_denied(outcome(lambda: RUNS[run](crew)))
    assert len(llm.calls) == 1


def test_an_error_in_a_retry_after_a_refusal_is_its_own_retry(instrumented: Memory) -> None:
    asked = Asked(POINT)
    _, llm, crew = refused(1)
    llm.say(final("bad"), FLAKY, final("good"))
    assert str(crews.kickoff(crew)) == "good"
    assert numbers(asked) == [("guardrail", 2, 3), ("task", 2, 3)]


def solo(llm: ScriptedLLM) -> Agent:
    def check(output: Any) -> tuple[bool, Any]:
        return (True, output.raw) if "good" in output.raw else (False, "be good")

    return crews.agent(llm, "Solo", guardrail=unannotated(check), guardrail_max_retries=1)


def test_an_agent_by_itself_is_refused_an_answer(instrumented: Memory) -> None:
    asked, llm = Asked(POINT, give("BE BETTER")), ScriptedLLM([final("bad"), final("good")])
    agent = solo(llm)
    assert crews.ask(agent) == "good"
    assert numbers(asked) == [("guardrail", 2, 2)]
    assert (asked[0].agent, asked[0].task, str(asked[0].error)) == (agent, None, "be good")
    assert told(instrumented, POINT) == [("modified", "replaced")]
    assert "BE BETTER" in llm.calls[1].prompt
    assert "think" not in llm.calls[1].prompt


def test_an_abort_after_a_refused_answer_leaves_the_agent(instrumented: Memory) -> None:
    Asked(POINT, deny())
    llm = ScriptedLLM([final("bad"), final("good")])
    assert is_denied(outcome(lambda: crews.ask(solo(llm))))
    assert len(llm.calls) == 1


class Stubborn(BaseTool):
    """Works only for the right city."""

    name: str = "weather"
    description: str = "Tell."
    asked: list[str] = []  # noqa: RUF012 - a field of pydantic, which copies it

    def _run(self, city: str) -> str:
        self.asked.append(city)
        if city != "Brest":
            message = f"no {city}"
            raise LookupError(message)
        return "told"


def tool_crew(answer: Answer) -> tuple[Stubborn, Crew]:
    tool = Stubborn()
    return tool, crews.simple_crew(script=[answer, final("done")], tools=[tool])


@pytest.mark.parametrize("run", RUNS)
def test_a_tool_runs_again(instrumented: Memory, run: str) -> None:
    asked = Asked(POINT)
    _, crew = tool_crew(use_tool("weather", city="Atlantis"))
    assert str(outcome(lambda: RUNS[run](crew))) == "done"
    assert numbers(asked) == [("tool", 2, 3), ("tool", 3, 3)]
    assert {(ctx.tool_name, str(ctx.error)) for ctx in asked} == {("weather", "no Atlantis")}
    assert {ctx.task for ctx in asked} == {crew.tasks[0]}


@pytest.mark.parametrize("run", RUNS)
def test_a_tool_runs_again_with_what_the_hook_says(instrumented: Memory, run: str) -> None:
    asked = Asked(POINT, lambda ctx: ctx.payload.update(city="Brest"))
    tool, crew = tool_crew(use_tool("weather", city="Atlantis"))
    outcome(lambda: RUNS[run](crew))
    assert (len(asked), tool.asked[-1]) == (1, "Brest")
    assert "told" in crews.llm_of(crew).calls[1].prompt


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_before_a_tool_runs_again_is_its_answer(instrumented: Memory, run: str) -> None:
    asked = Asked(POINT, deny())
    tool, crew = tool_crew(use_tool("weather", city="Atlantis"))
    assert str(outcome(lambda: RUNS[run](crew))) == "done"
    assert len(asked) == 1
    assert set(tool.asked) == {"Atlantis"}
    answer = crews.llm_of(crew).calls[1].prompt
    assert "Another run of weather was blocked by a hook: not now" in answer
    assert told(instrumented, POINT) == [("aborted", "blocked")]


def test_an_abort_before_a_tool_call_is_read_again_is_its_answer(instrumented: Memory) -> None:
    asked = Asked(POINT, deny())
    tool, crew = tool_crew(use_tool("oracle", city="Brest"))
    assert str(crews.kickoff(crew)) == "done"
    assert (len(asked), tool.asked) == (1, [])
    answer = crews.llm_of(crew).calls[1].prompt
    assert "The tool call was blocked by a hook: not now" in answer
    assert told(instrumented, POINT) == [("aborted", "blocked")]


def test_a_text_without_a_tool_is_no_tool_call(instrumented: Memory) -> None:
    asked = Asked(POINT, give("nonsense"))
    tool, crew = tool_crew(use_tool("oracle", city="Brest"))
    assert str(crews.kickoff(crew)) == "done"
    assert (len(asked), tool.asked) == (2, [])


def test_a_tool_call_is_read_again_as_the_hook_says(instrumented: Memory) -> None:
    asked = Asked(POINT, give(use_tool("weather", city="Brest")))
    tool, crew = tool_crew(use_tool("oracle", city="Brest"))
    crews.kickoff(crew)
    assert numbers(asked) == [("tool_call", 2, 3)]
    assert tool.asked == ["Brest"]

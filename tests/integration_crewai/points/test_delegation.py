"""PRE_DELEGATION: asked once per delegation, whichever protocol the manager speaks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from crewai import Crew, Process

from hookspan import InterceptionPoint, PreDelegationContext
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import Asked, deny, give, outcome, told
from tests.integration_crewai.scripted import (
    Answer,
    ModelCall,
    ScriptedLLM,
    final,
    tool_calls,
    use_tool,
)
from tests.kit.memory import Memory

POINT = InterceptionPoint.PRE_DELEGATION
ORDER = {"task": "look", "context": "the sea", "coworker": "Worker"}
RUNS = {"sync": crews.kickoff, "async": crews.akickoff}
NATIVE = {"native": True, "text": False}


class Hierarchy:
    """A crew whose manager delegates once, then answers with what it was told."""

    def __init__(self, *, native: bool) -> None:
        self.worker_llm = ScriptedLLM([final("worked")])
        self.manager_llm = ScriptedLLM(self._manage, native=native)
        self._native = native
        self.worker = crews.agent(self.worker_llm, "Worker")
        self.crew = Crew(
            name="research",
            agents=[self.worker],
            tasks=[crews.task("task_0", None)],
            process=Process.hierarchical,
            manager_llm=self.manager_llm,
        )

    def _manage(self, call: ModelCall) -> Answer:
        if len(self.manager_llm.calls) > 1:
            return "managed" if self._native else final("managed")
        if self._native:
            return tool_calls(("delegate_work_to_coworker", ORDER))
        return use_tool("delegate_work_to_coworker", **ORDER)

    @property
    def worked_on(self) -> str:
        """What the worker's model was asked."""
        return "\n".join(call.prompt for call in self.worker_llm.calls)

    @property
    def answer(self) -> str:
        """What the manager's model read last."""
        return self.manager_llm.calls[-1].prompt


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("protocol", NATIVE)
def test_is_asked_once(instrumented: Memory, protocol: str, run: str) -> None:
    asked, team = Asked(POINT), Hierarchy(native=NATIVE[protocol])
    assert str(outcome(lambda: RUNS[run](team.crew))) == "managed"
    (ctx,) = asked
    assert type(ctx) is PreDelegationContext
    assert (ctx.payload, ctx.context, ctx.coworker) == ("look", "the sea", "Worker")
    assert ctx.delegate_to.role == "Worker"
    assert (ctx.agent, ctx.task) == (team.crew.manager_agent, team.crew.tasks[0])
    assert (ctx.crew, ctx.flow) == (team.crew, None)
    assert "worked" in team.answer
    assert told(instrumented, POINT) == [("proceeded", "continued")]
    (span,) = instrumented.named("run_hooks pre_delegation")
    assert span.attributes["crewai.delegation.coworker"] == "Worker"
    assert span.attributes["gen_ai.agent.name"] == "Crew Manager"


def change(ctx: Any) -> None:
    ctx.payload, ctx.context = "REWRITTEN", "the lake"


@pytest.mark.parametrize("protocol", NATIVE)
@pytest.mark.parametrize("hook", [give("REWRITTEN"), change])
def test_the_worker_does_what_the_hook_says(instrumented: Memory, hook: Any, protocol: str) -> None:
    Asked(POINT, hook)
    team = Hierarchy(native=NATIVE[protocol])
    crews.kickoff(team.crew)
    assert "REWRITTEN" in team.worked_on
    assert "look" not in team.worked_on
    assert ("the lake" in team.worked_on) is (hook is change)
    assert told(instrumented, POINT) == [("modified", "replaced")]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("protocol", NATIVE)
def test_an_abort_is_what_the_manager_is_answered(
    instrumented: Memory, protocol: str, run: str
) -> None:
    asked, team = Asked(POINT, deny("no delegation")), Hierarchy(native=NATIVE[protocol])
    assert str(outcome(lambda: RUNS[run](team.crew))) == "managed"
    assert len(asked) == 1
    assert team.worker_llm.calls == ()
    assert "Delegation to Worker was blocked by a hook: no delegation" in team.answer
    assert told(instrumented, POINT) == [("aborted", "blocked")]


def test_nobody_to_delegate_to_is_no_delegation(instrumented: Memory) -> None:
    asked, team = Asked(POINT), Hierarchy(native=True)
    team.worker.role = "Somebody else"
    crews.kickoff(team.crew)
    assert asked == []
    assert "worker" in json.dumps(team.answer).lower()

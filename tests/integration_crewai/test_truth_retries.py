"""A denial that crewAI retries is one denied run, and each attempt has its number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.registering import before_llm_call
from tests.integration_crewai.seen import dispatches, total, verdict
from tests.kit.memory import Memory


def test_false_that_is_retried_is_one_denied_run(instrumented: Memory) -> None:  # C16
    @before_llm_call()
    def guard(ctx: Any) -> bool:
        return False

    crew = crews.simple_crew(agent_settings={"max_retry_limit": 2})
    with pytest.raises(ValueError, match="blocked"):
        kickoff(crew)
    assert llm_of(crew).calls == ()  # the model was never asked

    nodes = dispatches(instrumented, "pre_model_call")
    assert [node.attributes.get("crewai.agent.attempt") for node in nodes] == [None, 2, 3]
    assert {verdict(node.attributes) for node in nodes} == {("aborted", None, "raised")}
    aborted = total(
        instrumented,
        "crewai.hook.dispatches",
        crewai__hook__point="pre_model_call",
        crewai__hook__outcome="aborted",
    )
    runs = total(instrumented, "crewai.executions")
    denied = total(
        instrumented,
        "crewai.executions",
        crewai__execution__denied=True,
        crewai__execution__outcome="aborted",
    )
    assert (aborted, denied, runs) == (3, 1, 1)
    (run,) = instrumented.trees()
    assert run.attributes["crewai.execution.abort.count"] == 3


def test_attempts_are_those_at_the_task_at_hand(instrumented: Memory) -> None:
    answers = iter([False])

    @before_llm_call()
    def guard(ctx: Any) -> bool | None:
        return next(answers, None)

    crew = crews.echo_crew(tasks=2)
    for _ in range(2):
        assert str(kickoff(crew)) == "about tides"
    nodes = dispatches(instrumented, "pre_model_call")
    assert [
        (node.attributes["crewai.task.name"], node.attributes.get("crewai.agent.attempt"))
        for node in nodes
    ] == [("task_0", None), ("task_0", 2), ("task_1", None), ("task_0", None), ("task_1", None)]

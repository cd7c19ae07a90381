"""Each way to change what goes through a native point, beside what the run then did."""

from __future__ import annotations

from typing import Any

import pytest
from crewai.flow.flow import Flow, listen, start

from tests.integration_crewai import crews, flows
from tests.integration_crewai.changes import (
    CASES,
    CHANGED,
    Case,
    Edit,
    assign,
    one_tool_crew,
    prompts,
    put,
    reply,
    say_more,
)
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.registering import on
from tests.integration_crewai.scripted import ScriptedLLM
from tests.integration_crewai.seen import chain, dispatches, verdict
from tests.kit.memory import Memory


def told(case: Case) -> tuple[Any, ...]:
    """Return outcome, change and effect of the dispatch that a case leads to."""
    if case.change is None:
        return ("proceeded", None, "continued")
    return ("modified", case.change, "replaced" if case.took else "ignored")


@pytest.mark.parametrize("name", CASES)
def test_change_is_told_as_the_run_took_it(instrumented: Memory, name: str) -> None:
    case = CASES[name]

    def edits(ctx: Any) -> Any:
        return case.edit(ctx)

    def reads(ctx: Any) -> None:
        pass

    for hook in (edits, reads):
        on(case.point)(hook)
    crew = one_tool_crew()
    result = str(kickoff(crew))
    assert (CHANGED in result + prompts(crew)) is case.took

    first = dispatches(instrumented, case.point)[0].attributes
    assert verdict(first) == told(case)
    result_of_it = "passed" if case.change is None else "modified"
    assert chain(first) == [("edits", result_of_it), ("reads", "passed")]


@pytest.mark.parametrize(
    ("edit", "took"),
    [(say_more, True), (assign("messages", [{"role": "user", "content": CHANGED}]), False)],
)
def test_messages_of_a_model_called_directly(instrumented: Memory, edit: Edit, took: bool) -> None:
    on("pre_model_call")(edit)
    llm = ScriptedLLM(["hello"])
    llm.call([{"role": "user", "content": "hi"}])
    assert (CHANGED in llm.calls[0].prompt) is took
    (attributes,) = [node.attributes for node in dispatches(instrumented, "pre_model_call")]
    assert verdict(attributes) == ("modified", "in_place", "replaced" if took else "ignored")


def test_change_of_the_end_of_a_failed_run_is_ignored(instrumented: Memory) -> None:
    on("execution_end")(reply(CHANGED))
    with pytest.raises(RuntimeError, match="model down"):
        kickoff(crews.failing_crew())
    (node,) = dispatches(instrumented, "execution_end")
    assert verdict(node.attributes) == ("modified", "replaced", "ignored")


class Passing(Flow[dict[str, Any]]):
    """Hands a list from its first method to its second."""

    @start()
    def begin(self) -> list[str]:
        """Run first."""
        return [str(self.state.get("topic"))]

    @listen(begin)
    def finish(self, before: list[str]) -> list[str]:
        """Run second."""
        return [*before, "finished"]


def put_first(ctx: Any) -> None:
    if "_0" in ctx.payload:
        ctx.payload["_0"] = [CHANGED]


def add(ctx: Any) -> None:
    ctx.payload.append(CHANGED)


FLOW_CASES = {
    "start": Case("execution_start", put("payload", "topic", CHANGED), "in_place"),
    "input": Case("input", put("payload", "topic", CHANGED), "in_place"),
    "arguments": Case("pre_step", put_first, "in_place"),
    "result of a method": Case("post_step", add, "in_place"),
    "result of a method, another": Case("post_step", reply([CHANGED]), "replaced"),
    "output": Case("output", add, "in_place"),
    "output, another": Case("output", reply(CHANGED), "replaced"),
    "end": Case("execution_end", add, "in_place"),
    "end, another": Case("execution_end", reply(CHANGED), "replaced"),
}


@pytest.mark.parametrize("name", FLOW_CASES)
def test_change_in_a_flow(instrumented: Memory, name: str) -> None:
    case = FLOW_CASES[name]
    on(case.point)(case.edit)
    result = flows.flow(Passing).kickoff(inputs={"topic": "tides"})
    assert CHANGED in str(result)
    last = dispatches(instrumented, case.point)[-1].attributes
    assert verdict(last) == told(case)
    if case.point == "pre_step":
        first = dispatches(instrumented, case.point)[0].attributes
        assert verdict(first) == ("proceeded", None, "continued")

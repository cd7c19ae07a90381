"""What a dispatch says became of its verdict is what became of it in the run."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from crewai import Agent, Crew
from crewai.flow.flow import Flow, listen, start
from crewai.tools import BaseTool

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.scripted import Answer, ModelCall, ScriptedLLM, final, tool_calls
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

MARK = "replaced by a hook"
DROPS_RETURNS = {"pre_model_call", "pre_tool_call"}
BOUNDARY = ["execution_start", "input", "output", "execution_end"]


@dataclass
class Observed:
    """What really happened in one run."""

    result: str = ""
    error: BaseException | None = None
    read: list[str] = field(default_factory=list[str])
    tool_used: bool = True

    def effect(self, outcome: str) -> str:
        """What became of a verdict, seen from outside."""
        if isinstance(self.error, DISPATCH.HookAborted):
            return "raised"
        if not self.tool_used:
            return "blocked"
        if MARK in "\n".join([self.result, *self.read]):
            return "replaced"
        return "continued" if outcome == "proceeded" else "ignored"


class Probe(BaseTool):
    """Tells that it was used."""

    name: str = "probe"
    description: str = "Tell."
    used: list[str] = []  # noqa: RUF012 - a field of pydantic, which copies it

    def _run(self, city: str) -> str:
        self.used.append(city)
        return "told"


def observe(run: Callable[[], Any]) -> Observed:
    try:
        return Observed(str(run()))
    except BaseException as error:  # noqa: BLE001 - whatever leaves the run is what is observed
        return Observed(error=error)


def of_crew(*, fails: bool = False) -> Observed:
    """Run a crew that uses a tool once."""

    def answer(call: ModelCall) -> Answer:
        if fails:
            return RuntimeError("model down")
        return final("done") if call.has_tool_result else tool_calls(("probe", {"city": "Brest"}))

    probe, llm = Probe(), ScriptedLLM(answer, native=True)
    worker: Agent = crews.agent(llm, tools=[probe], max_retry_limit=0)
    crew = Crew(name="research", agents=[worker], tasks=[crews.task("task_0", worker)])
    observed = observe(lambda: kickoff(crew))
    observed.read = [call.prompt for call in llm.calls]
    observed.tool_used = bool(probe.used) or observed.error is not None
    return observed


class Topical(Flow[dict[str, Any]]):
    """Hands its topic from method to method."""

    @start()
    def begin(self) -> str:
        """Run first."""
        return str(self.state.get("topic"))

    @listen(begin)
    def finish(self, before: str) -> str:
        """Run second."""
        return f"about {before}"


def of_flow() -> Observed:
    return observe(flows.flow(Topical).kickoff)


def of_agent() -> Observed:
    return observe(lambda: crews.ask(crews.solo_agent()))


def of_lite_agent() -> Observed:
    module: Any = importlib.import_module("crewai.lite_agent")
    llm = ScriptedLLM([final("light")])
    agent = module.LiteAgent(role="Lite", goal="g", backstory="b", llm=llm)
    return observe(lambda: agent.kickoff("think"))


def replaced_output(ctx: Any) -> Any:
    return ctx.payload.model_copy(update={"raw": MARK})


CREW_PAYLOADS: dict[str, Callable[[Any], Any]] = {
    "execution_start": lambda ctx: {"topic": MARK},
    "input": lambda ctx: {"topic": MARK},
    "pre_step": lambda ctx: MARK,
    "pre_model_call": lambda ctx: MARK,
    "post_model_call": lambda ctx: f"Final Answer: {MARK}",
    "pre_tool_call": lambda ctx: MARK,
    "post_tool_call": lambda ctx: MARK,
    "post_step": replaced_output,
    "output": replaced_output,
    "execution_end": replaced_output,
}
FLOW_PAYLOADS: dict[str, Callable[[Any], Any]] = {
    "execution_start": lambda ctx: {"topic": MARK},
    "input": lambda ctx: {"topic": MARK},
    "pre_step": lambda ctx: {"_0": MARK} if ctx.step_name == "finish" else None,
    "post_step": lambda ctx: MARK,
    "output": lambda ctx: MARK,
    "execution_end": lambda ctx: MARK,
}


def deny(ctx: Any) -> None:
    raise DISPATCH.HookAborted("not now")  # noqa: EM101, TRY003 - a reason is no message


def replace(ctx: Any) -> str:
    """Return something else."""
    return MARK


def passes(ctx: Any) -> None:
    """Change nothing."""


def register(point: str, hook: Callable[[Any], Any]) -> None:
    DISPATCH.register(DISPATCH.InterceptionPoint(point), hook)


def verdicts(memory: Memory, point: str) -> list[tuple[str, str]]:
    """Outcome and effect of each dispatch, those aside that left everything as it was."""
    spans = [node.attributes for node in memory.named(f"run_hooks {point}")]
    assert spans
    pairs = [(span["crewai.hook.outcome"], span["crewai.hook.effect"]) for span in spans]
    return [pair for pair in pairs if pair[0] != "proceeded"] or [pairs[0]]


def check(memory: Memory, point: str, outcome: str, observed: Observed) -> None:
    recorded = verdicts(memory, point)
    assert recorded == [(outcome, observed.effect(outcome))] * len(recorded)


@pytest.mark.parametrize("verdict", ["passes", "modifies", "aborts"])
@pytest.mark.parametrize("point", CREW_PAYLOADS)
def test_crew(instrumented: Memory, point: str, verdict: str) -> None:
    hooks = {"passes": passes, "modifies": CREW_PAYLOADS[point], "aborts": deny}
    register(point, hooks[verdict])
    modified = "proceeded" if point in DROPS_RETURNS else "modified"
    outcome = {"passes": "proceeded", "modifies": modified, "aborts": "aborted"}[verdict]
    check(instrumented, point, outcome, of_crew())


@pytest.mark.parametrize("verdict", ["passes", "modifies", "aborts"])
@pytest.mark.parametrize("point", FLOW_PAYLOADS)
def test_flow(instrumented: Memory, point: str, verdict: str) -> None:
    hooks = {"passes": passes, "modifies": FLOW_PAYLOADS[point], "aborts": deny}
    register(point, hooks[verdict])
    outcome = {"passes": "proceeded", "modifies": "modified", "aborts": "aborted"}[verdict]
    check(instrumented, point, outcome, of_flow())


def test_what_each_crew_verdict_comes_to_is_stated_once(instrumented: Memory) -> None:
    """Against a table that is right by itself: the observation must not be blind."""
    effects: dict[str, str] = {}
    for point, hook in CREW_PAYLOADS.items():
        register(point, hook)
        modified = "proceeded" if point in DROPS_RETURNS else "modified"
        effects[point] = of_crew().effect(modified)
        DISPATCH.clear_all()
    expected = dict.fromkeys(CREW_PAYLOADS, "replaced")
    assert effects == {**expected, **dict.fromkeys(DROPS_RETURNS, "continued")}


def test_arguments_that_are_no_dict_are_not_read_back_by_a_flow(instrumented: Memory) -> None:
    register("pre_step", replace)
    observed = of_flow()
    assert observed.result == "about None"
    check(instrumented, "pre_step", "modified", observed)


@pytest.mark.parametrize("point", ["output", "execution_end"])
def test_the_answer_of_an_agent_by_itself_is_not_read_back(
    instrumented: Memory, point: str
) -> None:
    register(point, replace)
    observed = of_agent()
    assert observed.result == "alone"
    check(instrumented, point, "modified", observed)


@pytest.mark.parametrize("point", BOUNDARY)
def test_an_abort_at_the_boundary_of_an_agent_by_itself(instrumented: Memory, point: str) -> None:
    register(point, deny)
    check(instrumented, point, "aborted", of_agent())


@pytest.mark.filterwarnings("ignore:LiteAgent is deprecated:FutureWarning")
@pytest.mark.parametrize(
    ("hook", "outcome"), [(passes, "proceeded"), (replace, "modified"), (deny, "aborted")]
)
def test_lite_agent(instrumented: Memory, hook: Callable[[Any], Any], outcome: str) -> None:
    register("post_model_call", lambda ctx: f"Final Answer: {MARK}" if hook(ctx) else None)
    check(instrumented, "post_model_call", outcome, of_lite_agent())


@pytest.mark.parametrize(("hook", "outcome"), [(replace, "modified"), (deny, "aborted")])
def test_nothing_changes_the_end_of_a_run_that_has_failed(
    instrumented: Memory, hook: Callable[[Any], Any], outcome: str
) -> None:
    register("execution_end", hook)
    observed = of_crew(fails=True)
    assert repr(observed.error) == "RuntimeError('model down')"
    assert verdicts(instrumented, "execution_end") == [(outcome, "ignored")]
    assert observed.effect(outcome) == "ignored"


@pytest.mark.parametrize("point", FLOW_PAYLOADS)
def test_a_context_of_somebody_elses(instrumented: Memory, point: str) -> None:
    class Bare:
        payload: Any = None

    register(point, replace)
    DISPATCH.dispatch(DISPATCH.InterceptionPoint(point), Bare())
    assert verdicts(instrumented, point) == [("modified", "replaced")]

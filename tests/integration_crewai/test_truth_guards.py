"""Guards that fail closed, in code and by configuration, whether or not anybody listens."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
from crewai.tools import tool
from opentelemetry.instrumentation.utils import suppress_instrumentation

import hookspan
from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.registering import on
from tests.integration_crewai.scripted import Answer, tool_calls
from tests.integration_crewai.seen import NATIVE, chain, dispatches, invocations, total
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

VALUES = [point.value for point in NATIVE]
GUARD = f"{__name__}.guard"
CRASH = ValueError("broken-secret")


def guard(ctx: Any) -> None:
    """Crash, as a guard does whose back end is away."""
    raise CRASH


WENT: list[str] = []


@tool("lookup")
def lookup(city: str) -> str:
    """Tell how high the tide is."""
    WENT.append(city)
    return f"{city}: high"


def run() -> Any:
    """Run a crew that meets all native points; return its result or what it raised."""
    WENT.clear()
    script: list[Answer] = [tool_calls(("lookup", {"city": "Brest"})), "done"]
    crew = crews.simple_crew(script=script, tools=[lookup], native=True)
    try:
        return str(kickoff(crew)), llm_of(crew)
    except Exception as error:  # noqa: BLE001 - what it is, is what tests look at
        return error, llm_of(crew)


Switch = Callable[..., Memory | None]


@pytest.fixture(params=["providers", "nobody", "suppressed", "other points"])
def switch_on(
    request: pytest.FixtureRequest, memory: Memory, switched_off: None
) -> Generator[Switch]:
    """Give what instruments, in every way in which telemetry may be away."""

    def instrument(**settings: Any) -> Memory | None:
        if request.param == "nobody":
            hookspan.instrument(**settings)
            return None
        if request.param == "other points":
            settings["points"] = ["memory_read"]
        hookspan.instrument(**memory.providers, **settings)
        return memory if request.param == "providers" else None

    if request.param == "suppressed":
        with suppress_instrumentation():
            yield instrument
    else:
        yield instrument


def register_in_code(point: str) -> dict[str, Any]:
    hookspan.on(point, on_error="abort")(guard)
    return {}


def register_by_pattern(point: str) -> dict[str, Any]:
    on(point)(guard)
    return {"fail_closed": ["*.test_truth_guards.gu?rd"]}


def told(memory: Memory, point: str) -> None:
    """Check what is told of the one guard that has failed closed."""
    (node,) = dispatches(memory, point)
    attributes = node.attributes
    blocked = point == "pre_tool_call"
    assert chain(attributes) == [("guard", "errored")]
    assert {name: attributes.get(f"crewai.hook.{name}") for name in ("outcome", "effect")} == {
        "outcome": "aborted",
        "effect": "blocked" if blocked else "raised",
    }
    assert attributes["crewai.hook.failed_closed"] is True
    assert attributes["crewai.hook.abort.source"] == GUARD
    assert attributes["crewai.hook.abort.reason"] == f"{GUARD} failed closed: ValueError"
    assert [name for name, _ in memory.events()] == [
        "crewai.hook.exception",
        "crewai.hook.aborted",
    ]
    severities = [record.log_record.severity_text for record in memory.records()]
    assert severities == ["ERROR", "WARN"]
    assert all(attributes["crewai.hook.failed_closed"] for _, attributes in memory.events())
    assert total(memory, "crewai.hook.exceptions", error__type="ValueError") == 1
    assert total(memory, "crewai.hook.aborts", crewai__hook__abort__source=GUARD) == 1
    assert total(memory, "crewai.executions", crewai__execution__denied=True) == 1


@pytest.mark.parametrize("switch_on", ["providers", "nobody"], indirect=True)
@pytest.mark.parametrize("point", VALUES)
@pytest.mark.parametrize("register", [register_in_code, register_by_pattern])
def test_crash_aborts(
    switch_on: Switch, register: Callable[[str], dict[str, Any]], point: str
) -> None:
    memory = switch_on(**register(point))
    result, llm = run()
    if point == "pre_tool_call":
        assert result == "done"
        assert "Tool execution blocked by hook. Tool: lookup" in llm.calls[-1].prompt
        assert WENT == []
    else:
        assert isinstance(result, DISPATCH.HookAborted)
        assert result.reason == f"{GUARD} failed closed: ValueError"
        assert result.source is guard
        assert result.__cause__ is CRASH
        late = ("post_model_call", "post_tool_call", "post_step", "output", "execution_end")
        assert (WENT == ["Brest"]) is (point in late)
    if memory is not None:
        told(memory, point)


@pytest.mark.parametrize("point", VALUES)
def test_without_it_the_same_crash_changes_nothing(instrumented: Memory, point: str) -> None:
    on(point)(guard)
    result, _ = run()
    assert (result, WENT) == ("done", ["Brest"])
    assert {key: value > 0 for key, value in invocations(instrumented).items()} == {
        ("guard", "errored"): True
    }


def test_every_kind_of_run_is_stopped(switch_on: Switch) -> None:
    switch_on(fail_closed=["tests.*.guard"])
    on("pre_model_call")(guard)
    for entry in (
        lambda: crews.ask(crews.solo_agent()),
        lambda: flows.flow(flows.OfCrew).kickoff(),
        lambda: crews.kickoff_each(crews.echo_crew()),
        lambda: kickoff(crews.tool_crew()),
    ):
        with pytest.raises(DISPATCH.HookAborted, match="failed closed: ValueError"):
            entry()


def test_failed_run_keeps_its_own_error(switch_on: Switch) -> None:
    switch_on(fail_closed=["*"])
    on("execution_end")(guard)
    with pytest.raises(RuntimeError, match="model down"):
        kickoff(crews.failing_crew())


def test_interrupt_is_not_a_crash(switch_on: Switch) -> None:
    switch_on(fail_closed=["*"])

    @on("input")
    def interrupts(ctx: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kickoff(crews.simple_crew())


def test_policy_ends_with_the_instrumentation(switched_off: None) -> None:
    hookspan.instrument(fail_closed=["*"])
    hookspan.uninstrument()
    on("input")(guard)
    assert str(kickoff(crews.simple_crew())) == "answer 0"

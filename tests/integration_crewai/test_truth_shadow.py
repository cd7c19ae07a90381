"""Hooks in shadow mode decide and have no effect; a budget stops nobody."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import crewai.hooks as crewai_hooks
import pytest

import hookspan
from tests.integration_crewai import crews
from tests.integration_crewai.changes import CASES, one_tool_crew, prompts
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.registering import HOOKS, on
from tests.integration_crewai.seen import (
    NATIVE,
    chain,
    dispatches,
    invocations,
    only,
    total,
    verdict,
)
from tests.kit.memory import Memory, key

VALUES = [point.value for point in NATIVE]

Hook = Callable[[Any], Any]


def run() -> tuple[str, str]:
    """Run a crew that meets all native points; return its result and all that was asked."""
    crew = one_tool_crew()
    return str(kickoff(crew)), prompts(crew)


@pytest.fixture(scope="module")
def plain() -> tuple[str, str]:
    """What the run gives without any hook."""
    return run()


def by_pattern(point: str, hook: Hook) -> dict[str, Any]:
    on(point)(hook)
    return {"shadow": ["*.test_truth_shadow.*.shadowed"]}


def in_code(point: str, hook: Hook) -> dict[str, Any]:
    hookspan.on(point, mode="shadow")(hook)
    return {}


Register = Callable[[str, Hook], dict[str, Any]]
both_ways = pytest.mark.parametrize("register", [by_pattern, in_code])


@pytest.mark.parametrize("name", CASES)
def test_change_is_only_told(
    memory: Memory, switched_off: None, plain: tuple[str, str], name: str
) -> None:
    case = CASES[name]
    calls: list[Any] = []

    def shadowed(ctx: Any) -> Any:
        calls.append(ctx)
        return case.edit(ctx)

    hookspan.instrument(**memory.providers, **by_pattern(case.point, shadowed))
    assert run() == plain
    assert calls
    nodes = dispatches(memory, case.point)
    assert len(nodes) == len(calls)
    expected = "passed" if case.change is None else "would_modify"
    assert chain(nodes[0].attributes) == [("shadowed", expected)]
    assert {verdict(node.attributes) for node in nodes} == {("proceeded", None, "continued")}
    assert {node.attributes["crewai.hook.mode"] for node in nodes} == {"shadow"}
    assert invocations(memory)["shadowed", expected] >= 1


@pytest.mark.parametrize("point", VALUES)
def test_change_with_nobody_listening(
    switched_off: None, plain: tuple[str, str], point: str
) -> None:
    settings: dict[str, Any] = {}
    for case in CASES.values():
        if case.point == point:

            def shadowed(ctx: Any, edit: Hook = case.edit) -> Any:
                return edit(ctx)

            settings = by_pattern(point, shadowed)
    hookspan.instrument(**settings)
    assert run() == plain


@both_ways
@pytest.mark.parametrize("point", VALUES)
def test_abort_is_only_told(
    memory: Memory, switched_off: None, plain: tuple[str, str], point: str, register: Register
) -> None:
    def shadowed(ctx: Any) -> None:
        reason = "not yet"
        raise crewai_hooks.HookAborted(reason, "policy")

    hookspan.instrument(**memory.providers, **register(point, shadowed))
    assert run() == plain
    nodes = dispatches(memory, point)
    for node in nodes:
        assert chain(node.attributes) == [("shadowed", "would_abort")]
        assert verdict(node.attributes) == ("proceeded", None, "continued")
    told = [
        (name, attributes["crewai.hook.abort.reason"], attributes["crewai.hook.abort.source"])
        for name, attributes in memory.events()
    ]
    assert told == [("crewai.hook.would_abort", "not yet", "policy")] * len(nodes)
    assert memory.points("crewai.hook.aborts") == {}
    assert total(memory, "crewai.executions", crewai__execution__denied=False) == 1


@pytest.mark.parametrize("decorate", ["before_llm_call", "before_tool_call"])
def test_false_of_a_legacy_hook_is_only_told(
    memory: Memory, switched_off: None, plain: tuple[str, str], decorate: str
) -> None:
    def shadowed(ctx: Any) -> bool:
        return False

    getattr(HOOKS, decorate)(shadowed)
    hookspan.instrument(**memory.providers, shadow=["*.shadowed"])
    assert run() == plain
    assert {result for _, result in invocations(memory)} == {"would_abort"}


@pytest.mark.parametrize("point", VALUES)
def test_crash_in_shadow_is_told_and_does_not_fail_closed(
    memory: Memory, switched_off: None, plain: tuple[str, str], point: str
) -> None:
    def shadowed(ctx: Any) -> None:
        raise LookupError

    by_pattern(point, shadowed)
    hookspan.instrument(**memory.providers, shadow=["*.shadowed"], fail_closed=["*.shadowed"])
    assert run() == plain
    assert {result for _, result in invocations(memory)} == {"errored"}
    assert {name for name, _ in memory.events()} == {"crewai.hook.exception"}


class Uncopyable(dict[str, str]):
    """A value that a shadow hook cannot be given a copy of."""

    def __deepcopy__(self, memo: Any) -> Any:
        message = "no copy of me"
        raise TypeError(message)


def test_hook_is_not_run_on_what_cannot_be_copied(memory: Memory, switched_off: None) -> None:
    calls: list[Any] = []

    def shadowed(ctx: Any) -> None:
        calls.append(ctx)

    settings = by_pattern("input", shadowed)
    hookspan.instrument(**memory.providers, **settings)
    assert str(kickoff(crews.simple_crew(), {"topic": "tides", "more": Uncopyable()}))
    assert calls == []
    assert chain(only(memory, "input")) == [("shadowed", "not_run")]
    assert memory.points("crewai.hook.invocation.duration") == {}


SLOW = 0.02


def slow(ctx: Any) -> None:
    """Take longer than any budget here."""
    time.sleep(SLOW)


def quick(ctx: Any) -> None:
    """Take no time."""


@pytest.mark.parametrize("way", ["in code", "by setting"])
def test_hook_over_its_budget_is_told_and_goes_on(
    memory: Memory, switched_off: None, plain: tuple[str, str], way: str
) -> None:
    settings: dict[str, Any] = {}
    if way == "in code":
        hookspan.on("pre_tool_call", budget=0.005)(slow)
        hookspan.on("pre_tool_call", budget=0.5)(quick)
    else:
        on("pre_tool_call")(slow)
        on("pre_tool_call")(quick)
        settings = {"hook_budget_ms": 5}
    hookspan.instrument(**memory.providers, **settings)
    assert run() == plain
    (node,) = dispatches(memory, "pre_tool_call")
    assert node.attributes["crewai.hook.over_budget"] is True
    assert [child.attributes.get("crewai.hook.over_budget") for child in node.children] == [
        True,
        None,
    ]
    assert memory.points("crewai.hook.budget.exceeded") == {
        key(crewai__hook__point="pre_tool_call", crewai__hook__name=f"{__name__}.slow"): 1
    }


def test_own_budget_stands_before_the_setting(memory: Memory, switched_off: None) -> None:
    hookspan.on("input", budget=10)(slow)
    hookspan.instrument(**memory.providers, hook_budget_ms=1)
    kickoff(crews.simple_crew())
    assert "crewai.hook.over_budget" not in only(memory, "input")
    assert memory.points("crewai.hook.budget.exceeded") == {}

"""Series: which are there before anything happens, and how many there can ever be."""

# What instruments are told is looked at where they are kept.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.metrics._internal import _ProxyMeterProvider

from hookspan import (
    HookAborted,
    InputContext,
    InterceptionPoint,
    dispatch,
    execution,
    on,
    register_hook,
    register_scoped,
    scoped_hooks,
    unregister_hook,
)
from hookspan.contract.outcomes import HookOutcome
from hookspan.telemetry.instruments import MAX_SERIES, OVERFLOW, Instruments, Series
from hookspan.telemetry.live import Live
from hookspan.telemetry.names import OTHER
from hookspan.telemetry.settings import Settings
from tests.engine.specimens import raising
from tests.kit.memory import Key, Memory, key
from tests.telemetry.conftest import Record
from tests.telemetry.hooks import HERE, denies, passes

INPUT, TOOL = InterceptionPoint.INPUT, InterceptionPoint.PRE_TOOL_CALL
OUTCOMES = ("proceeded", "modified", "aborted")
OVER: Key = frozenset({(OVERFLOW, True)})


def zeros(workflow: str, *points: str) -> dict[Key, int]:
    """Return the dispatches of a workflow that has announced points and dispatched nothing."""
    return {
        key(
            crewai__hook__point=point,
            crewai__hook__outcome=outcome,
            gen_ai__workflow__name=workflow,
        ): 0
        for point in points
        for outcome in OUTCOMES
    }


def test_outcomes_are_zero_before_there_is_one(memory: Memory, record: Record) -> None:
    record()
    register_hook(TOOL, denies)
    register_hook(InterceptionPoint.MEMORY_READ, passes)
    with execution({}, name="support"):
        during = memory.points("crewai.hook.dispatches")
    assert during == zeros("support", "pre_tool_call", "memory_read")


def test_they_are_announced_per_workflow_and_point(memory: Memory, record: Record) -> None:
    record()
    register_hook(TOOL, denies)
    for _ in range(3):
        with execution({}, name="support"):
            pass
    register_hook(InterceptionPoint.MEMORY_READ, passes)
    with execution({}, name="support"), execution({}, name="billing"):
        pass
    announced = memory.points("crewai.hook.dispatches")
    assert announced == {
        **zeros("support", "pre_tool_call", "memory_read"),
        **zeros("billing", "pre_tool_call", "memory_read"),
    }


def test_a_provider_that_comes_late_is_told_too(memory: Memory) -> None:
    """With tracing set up first, runs begin before there is anybody to count for."""
    proxy = _ProxyMeterProvider()
    made = Instruments(proxy.get_meter("hookspan"), Settings(), Live())
    made.announce("support", ["pre_tool_call"])
    proxy.on_set_meter_provider(memory.meter_provider)
    assert memory.points("crewai.hook.dispatches") == zeros("support", "pre_tool_call")


def instruments(memory: Memory, **settings: Any) -> Instruments:
    """Make instruments of their own on the meter of a memory."""
    meter = memory.meter_provider.get_meter("hookspan")
    return Instruments(meter, Settings.load(settings, {}), Live())


def test_a_series_beyond_the_bound_is_recorded_as_one() -> None:
    admit = Series(2)
    one, two, three = ({"a": name} for name in "xyz")
    assert [admit(dict(one)), admit(dict(two)), admit(dict(three))] == [one, two, {OVERFLOW: True}]
    assert [admit(dict(two)), admit(dict(one))] == [two, one]
    assert admit({"b": "x"}) == {OVERFLOW: True}
    assert Series(1)({"a": "x"}) != Series(0)({"a": "x"})


POINTS = [point.value for point in InterceptionPoint]
CAPS = {"max_workflow_names": 5000, "max_sources": 5000, "max_hook_names": 5000}


class Fact:
    """As much of `HookFacts` as metrics read."""

    def __init__(self, name: str, result: str) -> None:
        self.name = name
        self.outcome = type("Outcome", (), {"value": result})
        self.duration = 0.1
        self.over_budget = True


def flood(target: Instruments, number: int) -> None:
    """Record one more of everything, each with names that nobody has met."""
    context: Any = None
    point, name = POINTS[number % 20], f"name {number}"
    target.dispatch(point, "proceeded", name, 0.1, context)
    target.abort(point, name, context)
    target.exception(point, name, name, context)
    fact: Any = Fact(name, "passed")
    target.invocation(point, fact, context)
    for kind in ("crew", "agent"):
        target.execution(
            kind=kind,
            outcome="completed",
            denied=False,
            nested=False,
            name=name,
            error_type=name,
            duration=0.1,
            context=context,
        )


FLOODED = [
    *("crewai.hook.dispatches", "crewai.hook.aborts", "crewai.hook.exceptions"),
    *("crewai.hook.invocations", "crewai.hook.invocation.duration", "crewai.executions"),
    *("gen_ai.invoke_workflow.duration", "gen_ai.invoke_agent.duration"),
    "crewai.hook.budget.exceeded",
]


def test_whatever_is_met_series_stay_below_the_bound_and_nothing_is_lost(memory: Memory) -> None:
    target = instruments(memory, **CAPS)
    met = MAX_SERIES + 300
    for number in range(met):
        flood(target, number)
    for metric in FLOODED:
        points = memory.points(metric)
        recorded = 2 * met if metric == "crewai.executions" else met  # agents have no name there
        assert (metric, len(points)) == (metric, MAX_SERIES + 1)
        assert (metric, sum(points.values())) == (metric, recorded)
        assert points[OVER] >= 300


def test_a_series_that_is_known_keeps_its_own(memory: Memory) -> None:
    target = instruments(memory, **CAPS)
    for _ in range(2):
        for number in range(MAX_SERIES + 1):
            target.abort("input", f"source {number}", None)  # type: ignore[arg-type]  # none needed
    points = memory.points("crewai.hook.aborts")
    assert points.pop(OVER) == 2
    assert set(points.values()) == {2}
    assert len(points) == MAX_SERIES


def test_results_multiply_the_hooks_and_the_bound_holds(memory: Memory) -> None:
    target = instruments(memory, **CAPS)
    results = [outcome.value for outcome in HookOutcome if outcome.value != "not_reached"]
    for number in range(300):
        for result in results:
            fact: Any = Fact(f"hook {number}", result)
            target.invocation("input", fact, None)  # type: ignore[arg-type]  # none needed
    assert len(memory.points("crewai.hook.invocations")) == MAX_SERIES + 1
    assert sum(memory.points("crewai.hook.invocations").values()) == 300 * len(results)
    assert len(memory.points("crewai.hook.invocation.duration")) == 300


def test_names_beyond_their_cap_are_other_and_known_ones_stay(
    memory: Memory, record: Record
) -> None:
    record(max_hook_names=2, max_sources=2, max_workflow_names=2)
    for number in (1, 2, 3, 4, 1):
        hook = raising(HookAborted("no", f"source {number}"))
        on(INPUT, name=f"hook {number}")(hook)
        with pytest.raises(HookAborted), execution({}, name=f"workflow {number}"):
            pass
        unregister_hook(INPUT, hook)
    labels: list[Callable[[Key], Any]] = [
        lambda point: dict(point)["crewai.hook.name"],
        lambda point: dict(point)["crewai.hook.abort.source"],
        lambda point: dict(point)["gen_ai.workflow.name"],
    ]
    invoked, aborts, runs = (
        {label(point): count for point, count in memory.points(metric).items()}
        for label, metric in zip(
            labels,
            ("crewai.hook.invocations", "crewai.hook.aborts", "crewai.executions"),
            strict=True,
        )
    )
    assert invoked == {"hook 1": 2, "hook 2": 1, OTHER: 2}
    assert aborts == {"source 1": 2, "source 2": 1, OTHER: 2}
    assert runs == {"workflow 1": 2, "workflow 2": 1, OTHER: 2}


def registered(point: str, scope: str, name: str = f"{HERE}.passes") -> Key:
    return key(crewai__hook__point=point, crewai__hook__scope=scope, crewai__hook__name=name)


def test_registrations_are_counted_while_they_last(memory: Memory, record: Record) -> None:
    record()
    metric = "crewai.hook.registration.count"
    assert memory.points(metric) == {}
    register_hook(INPUT, passes)
    on(INPUT, name="named")(passes)
    register_hook(INPUT, passes)
    with scoped_hooks({TOOL: [passes]}):
        register_scoped(INPUT, passes)
        with scoped_hooks():
            register_scoped(INPUT, passes)
            inside = memory.points(metric)
    outside = memory.points(metric)
    for _ in range(3):
        assert unregister_hook(INPUT, passes)
    assert inside == {
        registered("input", "global"): 2,
        registered("input", "global", "named"): 1,
        registered("input", "scoped"): 2,
        registered("pre_tool_call", "scoped"): 1,
    }
    assert outside == {
        **inside,
        registered("input", "scoped"): 0,
        registered("pre_tool_call", "scoped"): 0,
    }
    assert memory.points(metric) == dict.fromkeys(inside, 0)


def test_registrations_stay_below_the_bound(memory: Memory, record: Record) -> None:
    record(max_hook_names=5000)
    for number in range(MAX_SERIES + 50):
        on(INPUT, name=f"hook {number}")(passes)
    points = memory.points("crewai.hook.registration.count")
    assert len(points) == MAX_SERIES + 1
    assert points[OVER] == 50


def test_a_hook_that_was_never_dispatched_shows_with_its_zero(
    memory: Memory, record: Record
) -> None:
    record()
    register_hook(TOOL, passes)
    register_hook(INPUT, passes)
    with execution({}, name="support"):
        pass
    assert {
        dict(point)["crewai.hook.point"] for point, count in totals(memory).items() if count
    } == {"input"}
    assert memory.points("crewai.hook.registration.count") == {
        registered("input", "global"): 1,
        registered("pre_tool_call", "global"): 1,
    }


def totals(memory: Memory) -> dict[Key, int]:
    return memory.points("crewai.hook.dispatches")


def test_five_thousand_aborts_of_three_hundred_sources(memory: Memory, record: Record) -> None:
    record(hook_spans="never", spans="off")
    hooks = [raising(HookAborted(f"denied user {n}", f"source {n % 300}")) for n in range(5000)]
    for hook in hooks:
        register_hook(INPUT, hook)
        with pytest.raises(HookAborted):
            dispatch(INPUT, InputContext({}))
        unregister_hook(INPUT, hook)
    points = memory.points("crewai.hook.aborts")
    assert sum(points.values()) == 5000
    assert len(points) == 65
    assert "denied" not in repr(points)
    assert len(memory.records()) == 5000

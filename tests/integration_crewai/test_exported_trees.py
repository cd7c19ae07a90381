"""Whole trees of real runs, with every attribute, as they arrive over OTLP."""

from __future__ import annotations

from itertools import chain

import pytest

from tests.integration_crewai.expected import (
    MODULE,
    Attributes,
    crew,
    dispatch,
    flow,
    hook,
    node,
    run,
    step,
    task,
    unordered,
)
from tests.integration_crewai.exported import PROTOCOLS, exported
from tests.integration_crewai.exported_runs import RUNS
from tests.kit.tree import assert_tree

MODEL = {"gen_ai.request.model": "scripted"}
LOOKUP = {"gen_ai.tool.name": "lookup"}


def model_call(about: Attributes) -> list[str]:
    return [dispatch(f"{when}_model_call", about, task(), MODEL) for when in ("pre", "post")]


def tool_call(about: Attributes) -> list[str]:
    return [dispatch(f"{when}_tool_call", about, task(), LOOKUP) for when in ("pre", "post")]


def end(about: Attributes, status: str = "completed") -> str:
    return dispatch("execution_end", about, crewai__execution__status=status)


def of_crew() -> str:
    about = crew("tools")
    return run(
        about,
        dispatch("execution_start", about),
        dispatch("input", about),
        dispatch("pre_step", about, task(), step("task_0")),
        *model_call(about),
        *tool_call(about),
        *model_call(about),
        *tool_call(about),
        *model_call(about),
        dispatch("post_step", about, task(), step("task_0")),
        dispatch("output", about),
        end(about),
        crewai__execution__status="completed",
    )


def of_flow() -> str:
    about = flow("TwoSteps")
    return run(
        about,
        dispatch("execution_start", about),
        dispatch("input", about),
        *(
            dispatch(point, about, step(method, "flow_method"))
            for method in ("begin", "finish")
            for point in ("pre_step", "post_step")
        ),
        dispatch("output", about),
        end(about),
        crewai__execution__status="completed",
    )


def of_crew_in_flow() -> str:
    outer, inner = flow("OfCrew"), crew("research")
    both = {**outer, **inner}
    return run(
        outer,
        dispatch("execution_start", outer),
        run(
            inner,
            dispatch("execution_start", both),
            end(both),
            crewai__execution__nested=True,
            crewai__execution__status="completed",
        ),
        end(outer),
        crewai__execution__status="completed",
    )


def of_failing() -> str:
    about = crew("broken")
    crashed = dispatch(
        "pre_step",
        about,
        task(),
        step("task_0"),
        results=("crash=errored", "watch=passed"),
        crewai__hook__exception__count=1,
    )
    event = f"* exception crewai.hook.name='{MODULE}.crash' exception.type='EOFError'"
    return run(
        about,
        dispatch("execution_start", about),
        node(
            crashed,
            event,
            hook("pre_step", "crash=errored", "EOFError"),
            hook("pre_step", "watch=passed"),
        ),
        end(about, "failed"),
        crewai__execution__exception__count=1,
        crewai__execution__outcome="failed",
        crewai__execution__status="failed",
        error__type="RuntimeError",
    )


def of_denied() -> str:
    about = crew("closed")
    denied = dispatch(
        "execution_start",
        about,
        results=("deny=aborted", "watch=not_reached"),
        crewai__hook__abort__reason="unauthorized",
        crewai__hook__abort__source="access-control",
        crewai__hook__effect="raised",
        crewai__hook__outcome="aborted",
    )
    return run(
        about,
        node(denied, hook("execution_start", "deny=aborted")),
        crewai__execution__abort__count=1,
        crewai__execution__denied=True,
        crewai__execution__outcome="aborted",
        error__type="crewai.hooks.dispatch.HookAborted",
    )


def inside(about: Attributes, name: str = "task_0", agent: str = "Researcher") -> list[str]:
    at = task(name, agent)
    return [
        dispatch("pre_step", about, at, step(name)),
        dispatch("pre_model_call", about, at, MODEL),
    ]


def with_hooks_inside(name: str) -> str:
    about = crew(name)
    return run(about, unordered(*inside(about)))


def of_async_tasks() -> str:
    about = crew("research")
    tasks = [inside(about, f"task_{number}", f"Worker {number}") for number in range(3)]
    return run(about, unordered(*chain.from_iterable(tasks)))


TREES = {
    "crew": of_crew(),
    "flow": of_flow(),
    "crew in a flow": of_crew_in_flow(),
    "failing": of_failing(),
    "denied": of_denied(),
    "two akickoffs": unordered(with_hooks_inside("first"), with_hooks_inside("second")),
    "async tasks": of_async_tasks(),
    "for each": unordered(*[with_hooks_inside("each")] * 3),
}
CONCURRENT = {"two akickoffs", "async tasks", "for each"}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tree(protocol: str, name: str) -> None:
    expected = node(f"{name} [UNSET]", TREES[name])
    assert_tree(exported(protocol).of_run(name), expected, concurrent=name in CONCURRENT)

"""Real runs in a process of their own, told to a real receiver by the `OTEL_*` variables.

Each run is in a span of the application's, named after it. The hooks are crewAI's own API alone:
what a program has that knows nothing of hookspan.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from typing import Any

from opentelemetry import trace

import hookspan
from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.scenarios import outcome

# By importlib: `crewai.hooks.dispatch` as an attribute is the function of that name.
DISPATCH: Any = importlib.import_module("crewai.hooks.dispatch")
EVENTS: Any = importlib.import_module("crewai.events.event_bus")

ALL = tuple(point.value for point in DISPATCH.InterceptionPoint)
INSIDE = ("pre_step", "pre_model_call")


def watch(ctx: Any) -> None:
    """Change nothing."""


def crash(ctx: Any) -> None:
    """Fail as a guard does that has a bug."""
    message = "a secret"
    raise EOFError(message)


def deny(ctx: Any) -> None:
    """Stop the run."""
    reason = "unauthorized"
    raise DISPATCH.HookAborted(reason, "access-control")


Hook = Callable[[Any], None]
Hooks = list[tuple[str, Hook]]


def at(points: tuple[str, ...], hook: Hook = watch) -> Hooks:
    """Pair points with a hook."""
    return [(point, hook) for point in points]


RUNS: dict[str, tuple[Callable[[], Any], Hooks, str]] = {
    "crew": (lambda: kickoff(crews.tool_crew(name="tools")), at(ALL), "both"),
    "flow": (
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        at(ALL),
        "begun, finished",
    ),
    "crew in a flow": (
        lambda: flows.flow(flows.OfCrew).kickoff(),
        at(("execution_start", "execution_end")),
        "about tides",
    ),
    "failing": (
        lambda: kickoff(crews.failing_crew(name="broken")),
        [*at(("execution_start", "execution_end")), ("pre_step", crash), ("pre_step", watch)],
        "RuntimeError('model down')",
    ),
    "denied": (
        lambda: kickoff(crews.simple_crew(name="closed")),
        [("execution_start", deny), *at(("execution_start", "execution_end"))],
        "HookAborted('unauthorized')",
    ),
    "two akickoffs": (
        lambda: ", ".join(asyncio.run(crews.two_akickoffs())),
        at(INSIDE),
        "about tides, about winds",
    ),
    "async tasks": (lambda: kickoff(crews.async_tasks_crew()), at(INSIDE), "about tides"),
    "for each": (
        lambda: ", ".join(map(str, crews.kickoff_each(crews.echo_crew(name="each")))),
        at(INSIDE),
        "about tides, about winds, about stars",
    ),
}
"""Each run by name, its hooks in order, and what it gives."""


def main() -> int:
    """Run everything, then hand it over; the exit code is 0 when all was as it should be."""
    hookspan.configure()
    faults = [name for name in RUNS if not run(name)]
    if trace.get_current_span().get_span_context().is_valid:
        faults.append("a span is left current")
    if not hookspan.flush():
        faults.append("not everything was delivered")
    sys.stdout.write(f"{faults}\n")
    return 1 if faults else 0


def run(name: str) -> bool:
    """Do one run; tell whether it gave what it should and left the application's span current."""
    body, hooks, expected = RUNS[name]
    for point, hook in hooks:
        DISPATCH.register(DISPATCH.InterceptionPoint(point), hook)
    with trace.get_tracer("app").start_as_current_span(name) as span:
        given = outcome(body)
        kept = trace.get_current_span() is span
    EVENTS.crewai_event_bus.flush()
    DISPATCH.clear_all()
    return kept and given == expected

"""PRE_CODE_EXECUTION: the script that runs is the one that the hooks leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai.flow.flow import Flow

from hookspan import InterceptionPoint, PreCodeExecutionContext
from tests.integration_crewai.points.asked import Asked, deny, give, is_denied, outcome, told
from tests.kit.memory import Memory

POINT = InterceptionPoint.PRE_CODE_EXECUTION

UNTYPED: Any = Flow


@pytest.fixture(autouse=True)
def scripts_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_ALLOW_FLOW_SCRIPT_EXECUTION", "1")


def scripted(first: str, second: str = "return outputs['first'] * 10") -> Any:
    """Return a declared flow of two scripts."""
    methods = {
        "first": {"start": True, "do": {"call": "script", "code": first}},
        "second": {"listen": "first", "do": {"call": "script", "code": second}},
    }
    declared = {"schema": "crewai.flow/v1", "name": "Scripted", "methods": methods}
    return UNTYPED.from_declaration(contents=declared)


RUNS: dict[str, Callable[[Any], Any]] = {
    "sync": lambda flow: flow.kickoff(),
    "async": lambda flow: asyncio.run(flow.kickoff_async()),
}


@pytest.mark.parametrize("run", RUNS)
def test_each_script_is_asked_about_once(instrumented: Memory, run: str) -> None:
    asked, flow = Asked(POINT), scripted("return 1 + 1")
    assert RUNS[run](flow) == 20
    assert asked.payloads == ["return 1 + 1", "return outputs['first'] * 10"]
    assert [ctx.step_name for ctx in asked] == ["first", "second"]
    assert all(type(ctx) is PreCodeExecutionContext for ctx in asked)
    assert all((ctx.flow, ctx.crew, ctx.language) == (flow, None, "python") for ctx in asked)
    assert told(instrumented, POINT) == [("proceeded", "continued")] * 2


@pytest.mark.parametrize("run", RUNS)
def test_the_hooks_code_runs_this_time_only(instrumented: Memory, run: str) -> None:
    hook = give("return 5")
    asked = Asked(POINT, lambda ctx: hook(ctx) if ctx.step_name == "first" else None)
    flow = scripted("return 1 + 1")
    assert RUNS[run](flow) == 50
    assert RUNS[run](flow) == 50
    assert asked.payloads[0] == asked.payloads[2] == "return 1 + 1"
    assert told(instrumented, POINT)[0] == ("modified", "replaced")


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_leaves_the_file_where_it_is(
    instrumented: Memory, tmp_path: Path, run: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data", encoding="utf-8")
    Asked(POINT, deny())
    flow = scripted(f"import os; os.remove({str(precious)!r})")
    assert is_denied(outcome(lambda: RUNS[run](flow)))
    assert precious.exists()
    assert told(instrumented, POINT) == [("aborted", "raised")]


def test_code_that_is_none_fails_the_run(instrumented: Memory) -> None:
    Asked(POINT, give("return ("))
    assert isinstance(outcome(scripted("return 1").kickoff), SyntaxError)

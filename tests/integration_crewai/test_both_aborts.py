"""A class of a user's that is an abort of crewAI's first and of ours second.

Python then refuses to make ours one of crewAI's; aborts of ours have to be converted.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import hookspan
from hookspan import InterceptionPoint
from hookspan.contract.errors import HookspanError
from tests.integration_crewai import crews
from tests.integration_crewai.crews import kickoff, llm_of
from tests.integration_crewai.snapshot import DISPATCH, differences, snapshot
from tests.kit.memory import Memory

REASON = "no tides"


@pytest.fixture
def both(switched_off: None) -> Generator[Any]:
    """Give the class; afterwards it is none of ours, so that it is in no other test's way."""
    made: Any = type("Both", (DISPATCH.HookAborted, hookspan.HookAborted), {"__module__": "app"})
    yield made
    hookspan.uninstrument()
    made.__bases__ = (DISPATCH.HookAborted,)


def abort_at(point: InterceptionPoint, aborted: Exception) -> None:
    def guard(ctx: Any) -> None:
        raise aborted

    hookspan.register_hook(point, guard)


def run_and_catch() -> Any:
    with pytest.raises(DISPATCH.HookAborted) as raised:
        kickoff(crews.simple_crew())
    return raised.value


@pytest.mark.usefixtures("both")
def test_ours_becomes_crewais_at_every_seam_that_raises(memory: Memory) -> None:
    hookspan.instrument(**memory.providers)
    for point in ("execution_start", "input", "pre_step", "pre_model_call", "output"):
        aborted = hookspan.HookAborted(REASON, "policy")
        abort_at(InterceptionPoint(point), aborted)
        error = run_and_catch()
        assert type(error) is DISPATCH.HookAborted
        assert (error.reason, error.source) == (REASON, "policy")
        assert error.__cause__ is aborted
        hookspan.clear_all_hooks()
    spans = [node for root in memory.trees() for node in root.children]
    assert [node.attributes["crewai.hook.outcome"] for node in spans] == ["aborted"] * 5


def test_its_instances_are_let_out_as_they_are(memory: Memory, both: Any) -> None:
    hookspan.instrument(**memory.providers)
    aborted = both(REASON)
    abort_at(InterceptionPoint.INPUT, aborted)
    assert run_and_catch() is aborted
    (hook,) = hookspan.get_hooks(InterceptionPoint.INPUT)
    assert aborted.source is hook


@pytest.mark.usefixtures("both")
def test_ours_blocks_a_tool(memory: Memory) -> None:
    hookspan.instrument(**memory.providers)
    abort_at(InterceptionPoint.PRE_TOOL_CALL, hookspan.HookAborted(REASON))
    crew = crews.native_tool_crew()
    assert str(kickoff(crew)) == "both"
    assert "blocked by hook" in llm_of(crew).calls[-1].prompt
    assert "high" not in llm_of(crew).calls[-1].prompt


@pytest.mark.usefixtures("both")
def test_instrumenting_names_the_class(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    hookspan.instrument(**memory.providers)
    (message,) = caplog.messages
    assert message == (
        "app.Both inherits from crewAI's HookAborted before hookspan's: an abort of hookspan's"
        " leaves crewAI as crewAI's HookAborted"
    )


@pytest.mark.usefixtures("both")
def test_everything_is_as_before(memory: Memory) -> None:
    before = snapshot()
    hookspan.instrument(**memory.providers)
    hookspan.uninstrument()
    assert differences(before, snapshot()) == []
    assert hookspan.HookAborted.__bases__ == (HookspanError,)

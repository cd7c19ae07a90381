"""Whichever way a hook is registered at an added point, it is asked; without one, nothing is."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.hook_events import HookDispatchedEvent
from crewai.flow.flow import Flow, router, start

import hookspan
from hookspan import InterceptionPoint, ToolSelectionContext
from hookspan.integrations.crewai.points import mcp, tool_selection, wiring
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring
from hookspan.telemetry.recorder import LIVE
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import Asked, deny, give, is_denied, outcome, told
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

SELECT, DECIDE = InterceptionPoint.TOOL_SELECTION, InterceptionPoint.ROUTER_DECISION
ADDED = [one.point for one in wiring.WIRINGS]


class Decided(Flow[dict[str, Any]]):
    """Has one router."""

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @router(begin)
    def choose(self) -> str:
        """Choose."""
        return "left"


def run_flow() -> None:
    untyped: Any = Decided
    untyped(suppress_flow_events=True).kickoff()


def run_crew() -> Any:
    return crews.kickoff(crews.simple_crew(tools=[crews.lookup]))


def test_crewais_own_on_works_with_our_points(instrumented: Memory) -> None:
    seen: list[str] = []

    def guard(ctx: Any) -> None:
        seen.append(type(ctx).__name__)

    DISPATCH.on(SELECT, agents=["Researcher"])(guard)
    DISPATCH.on(SELECT, agents=["Somebody else"])(deny("the wrong agent"))
    run_crew()
    assert seen == ["ToolSelectionContext"]
    assert told(instrumented, SELECT) == [("proceeded", "continued")]
    DISPATCH.clear_all()
    run_crew()
    assert len(seen) == 1


def test_hooks_of_both_apis_are_one_queue(instrumented: Memory) -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[Any], None]:
        return lambda _ctx: order.append(name)

    hookspan.register_hook(SELECT, note("ours"))
    DISPATCH.register(SELECT, note("theirs"))
    hookspan.register_hook(SELECT, note("ours again"))
    with hookspan.scoped_hooks({SELECT: [note("scoped")]}):
        run_crew()
    assert order == ["ours", "theirs", "ours again", "scoped"]


def test_a_hook_of_a_scope_alone_is_asked(instrumented: Memory) -> None:
    with hookspan.scoped_hooks({DECIDE: [deny()]}):
        assert is_denied(outcome(run_flow))
    assert outcome(run_flow) is None


def test_crewais_event_is_emitted(instrumented: Memory) -> None:
    events: list[tuple[str, str, int]] = []
    Asked(DECIDE)
    with crewai_event_bus.scoped_handlers():

        @crewai_event_bus.on(HookDispatchedEvent)
        def note(_source: Any, event: Any) -> None:
            events.append((event.interception_point, event.outcome, event.hook_count))

        run_flow()
        crewai_event_bus.flush()
    assert note is not None
    assert events == [("router_decision", "proceeded", 1)]


def test_filters_shadow_and_failing_closed_work_there(instrumented: Memory) -> None:
    wrong = Asked(InterceptionPoint.INPUT)
    hookspan.on(SELECT, agents=["Nobody"])(deny("filtered"))
    hookspan.on(SELECT, mode="shadow")(give([]))
    crew = crews.simple_crew(tools=[crews.lookup], native=True)
    assert str(crews.kickoff(crew)) != ""
    assert crews.llm_of(crew).calls[0].tools == ("lookup",)

    def crash(_ctx: Any) -> None:
        raise LookupError

    hookspan.on(SELECT, on_error="abort")(crash)
    assert isinstance(outcome(run_crew), hookspan.HookAborted)
    assert len(wrong) == 2


def test_without_a_hook_no_context_is_made(
    instrumented: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_fields: Any) -> None:
        message = "nobody asked for it"
        raise AssertionError(message)

    hookspan.register_hook(InterceptionPoint.INPUT, lambda _ctx: None)
    modules = [
        importlib.import_module(f"hookspan.integrations.crewai.points.{name}")
        for name in ("tool_selection", "delegation", "retry", "memory", "knowledge", "flow", "mcp")
    ]
    for module in modules:
        for name in [name for name in vars(module) if name.endswith("Context")]:
            monkeypatch.setattr(module, name, refuse)
    run_crew()
    run_flow()
    assert str(crews.kickoff(crews.hierarchical_crew())) == "managed"


def test_a_context_that_cannot_be_made_is_our_failure_and_not_the_runs(
    instrumented: Memory, contained: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_fields: Any) -> None:
        raise AttributeError

    asked = Asked(SELECT)
    monkeypatch.setattr(tool_selection, "ToolSelectionContext", refuse)
    assert str(run_crew()) == "answer 0"
    assert asked == []
    (count,) = instrumented.points("hookspan.errors").items()
    assert dict(count[0])["hookspan.operation"] == "points.tool_selection"


def test_a_seam_that_somebody_kept_passes_through_afterwards(instrumented: Memory) -> None:
    untyped: Any = Decided
    kept = untyped._execute_method
    asked = Asked(DECIDE)
    hookspan.uninstrument()
    DISPATCH._global_hooks[DECIDE] = [deny()]  # as if somebody had it there
    try:
        flow = untyped(suppress_flow_events=True)
        object.__setattr__(flow, "_execute_method", kept.__get__(flow))
        assert flow.kickoff() is not None
    finally:
        del DISPATCH._global_hooks[DECIDE]
    assert asked == []


def test_hooks_that_crewai_cannot_keep_are_told_of(
    instrumented: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    DISPATCH.register(SELECT, deny())
    hookspan.uninstrument()
    assert (
        "1 hooks registered through crewAI at TOOL_SELECTION no longer run: crewAI itself does not"
        " have that point"
    ) in caplog.messages


LATE = "late_module_of_a_test"


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have MCP's seam in a module that is not imported yet."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, LATE, raising=False)
    connect = next(seam.wrap for seam in mcp.WIRING.seams if seam.name == "MCPClient.connect")
    seam = Seam(LATE, "Client.connect", ("server",), connect, is_async=True, late=True)
    faked = Wiring(InterceptionPoint.MCP_CONNECT, (seam,))
    wirings = tuple(faked if one is mcp.WIRING else one for one in wiring.WIRINGS)
    monkeypatch.setattr(wiring, "WIRINGS", wirings)
    return tmp_path / f"{LATE}.py"


def original(name: str = "server", kind: str = "async def") -> str:
    return f"class Client:\n    connected = True\n    {kind} connect(self, {name}): pass\n"


@pytest.mark.usefixtures("switched_off")
def test_a_late_seam_is_put_in_when_its_module_is_there(late: Path, memory: Memory) -> None:
    late.write_text(original(), encoding="utf-8")
    hookspan.instrument(**memory.providers)
    assert LIVE.points["mcp_connect"]
    assert LATE not in sys.modules
    module = importlib.import_module(LATE)
    assert hasattr(module.Client.connect, "__wrapped__")
    hookspan.uninstrument()
    assert not hasattr(module.Client.connect, "__wrapped__")


@pytest.mark.usefixtures("switched_off")
def test_a_late_seam_stays_out_once_hookspan_is_switched_off(late: Path, memory: Memory) -> None:
    late.write_text(original(), encoding="utf-8")
    hookspan.instrument(**memory.providers)
    hookspan.uninstrument()
    module = importlib.import_module(LATE)
    assert not hasattr(module.Client.connect, "__wrapped__")


@pytest.mark.usefixtures("switched_off")
@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (original("host"), f"no {LATE}.Client.connect(server)"),
        (original(kind="def"), f"{LATE}.Client.connect is not a coroutine function"),
        ("", f"no {LATE}.Client.connect"),
    ],
)
def test_a_late_seam_that_is_missing_is_told_once(
    late: Path, memory: Memory, caplog: pytest.LogCaptureFixture, text: str, lacks: str
) -> None:
    late.write_text(text, encoding="utf-8")
    hookspan.register_hook(InterceptionPoint.MCP_CONNECT, deny())
    hookspan.instrument(**memory.providers)
    assert caplog.messages == []
    importlib.import_module(LATE)
    version = LIVE.crewai_version
    assert caplog.messages[0] == (
        f"instrumented 19 of 20 points: crewAI {version} lacks mcp_connect ({lacks})"
    )
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.ERROR]
    wired = memory.points("hookspan.point.instrumented")
    assert sum(wired.values()) == 19


@pytest.mark.usefixtures("switched_off")
def test_a_late_seam_without_a_module_is_told_at_once(
    late: Path, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    hookspan.instrument(**memory.providers)
    lacks = f"crewAI {LIVE.crewai_version} lacks mcp_connect (no {LATE}.Client.connect)"
    assert caplog.messages == [f"instrumented 19 of 20 points: {lacks}"]


def test_a_gate_looks_at_both_places(instrumented: Memory) -> None:
    gate = Gate(DISPATCH, SELECT)
    assert not gate.wanted()
    with hookspan.scoped_hooks({SELECT: [deny()]}):
        assert gate.wanted()
    hookspan.register_hook(SELECT, deny())
    assert gate.wanted()
    gate.close()
    assert not gate.wanted()
    assert gate.closed


def test_what_a_later_crewai_dispatches_itself_is_left_to_it() -> None:
    probed = wiring.probe(frozenset({"memory_write", "mcp_connect"}))
    assert len(probed.wirings) == 8
    assert InterceptionPoint.MEMORY_WRITE not in {one.point for one in probed.wirings}
    assert probed.missing == ()


def test_all_twenty_points_are_cleared(instrumented: Memory) -> None:
    for point in InterceptionPoint:
        hookspan.register_hook(point, deny())
    DISPATCH.clear_all()
    assert [hookspan.get_hooks(point) for point in InterceptionPoint] == [[]] * 20
    assert len(ADDED) == 10
    assert ToolSelectionContext([]).tools == []

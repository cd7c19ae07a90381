"""Run a crew under hookspan and each other instrumentation of crewAI, in every order.

Usage: python3 dev.py peers [--write]

Each case is a child by fork of this process, which has imported crewAI and run nothing. What must
hold: one trace, one run of ours, each dispatch of ours in it, the crew's answer as without any,
nothing recorded once both are off, and hookspan's patches gone. With `--write` the outcome goes to
docs/peers.md.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "peers.md"
SECONDS = 60
ORDERS = [(first, last) for first in ("peer", "hookspan") for last in ("peer", "hookspan")]
Peer = tuple[str, str, str, dict[str, Any]]
PEERS: tuple[Peer, ...] = (
    (
        "OpenInference, wrappers",
        "openinference-instrumentation-crewai",
        "openinference.instrumentation.crewai",
        {},
    ),
    (
        "OpenInference, event listener",
        "openinference-instrumentation-crewai",
        "openinference.instrumentation.crewai",
        {"use_event_listener": True},
    ),
    (
        "OpenLLMetry",
        "opentelemetry-instrumentation-crewai",
        "opentelemetry.instrumentation.crewai",
        {},
    ),
    ("OpenLIT", "openlit", "openlit.instrumentation.crewai", {"disable_metrics": True}),
)
POINTS = ("execution_start", "pre_tool_call", "execution_end")
OF_PEER = "(its own) "
"""Marks what is wrong with the spans of the peer alone: told, and no fault of ours."""
DISPATCHES = ["execution_start", "pre_tool_call", "pre_tool_call", "execution_end"]


def main(arguments: list[str]) -> int:
    """Run every case; return 0 when all hold."""
    rows: list[tuple[str, str, str, list[str]]] = []
    tree = ""
    trees: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        prepare(home)
        for peer in PEERS:
            for first, last in ORDERS:
                faults, tree = in_child(lambda: case(peer, first, last))  # noqa: B023 - called at once
                rows.append((f"{peer[0]} {version(peer[1])}", first, last, faults))
                said = "; ".join(faults) or "ok"
                sys.stdout.write(f"{peer[0]}, {first} on first, {last} off first: {said}\n")
            trees.append(f"## {peer[0]}\n\n```\n{tree}\n```\n")
    if "--write" in arguments:
        DOCUMENT.write_text(document(rows, trees), encoding="utf-8")
    faults = [one for row in rows for one in row[3] if not one.startswith(OF_PEER)]
    return 1 if faults else 0


def prepare(home: str) -> None:
    """Import crewAI with nothing of a user's, nor of the network's."""
    os.environ.update(
        HOME=home,
        CREWAI_STORAGE_DIR=home,
        CREWAI_DISABLE_TELEMETRY="true",
        CREWAI_DISABLE_VERSION_CHECK="true",
        CREWAI_TRACING_ENABLED="false",
        CREWAI_TESTING="true",
    )
    warnings.simplefilter("ignore")
    importlib.import_module("crewai.flow.flow")


def in_child(run: Callable[[], tuple[list[str], str]]) -> tuple[list[str], str]:
    """Run a case in a child of this process; return its faults and its tree."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        faults, tree = ["the process died"], ""
        try:
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                faults, tree = run()
        except BaseException as error:  # noqa: BLE001 - told to the parent
            faults = [repr(error)]
        with os.fdopen(writer, "w", encoding="utf-8") as stream:
            json.dump([faults, tree], stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    told: tuple[list[str], str] = tuple(json.loads(text)) if text else (["it died"], "")
    return told


def case(peer: Peer, first: str, last: str) -> tuple[list[str], str]:
    """Run a crew under both; return what is wrong, and the spans as a tree."""
    from opentelemetry import trace  # noqa: PLC0415 - in the child

    from tests.integration_crewai import crews  # noqa: PLC0415 - the same
    from tests.integration_crewai.snapshot import DISPATCH, differences, snapshot  # noqa: PLC0415
    from tests.kit.memory import Memory  # noqa: PLC0415 - the same

    memory = Memory()
    trace.set_tracer_provider(memory.tracer_provider)
    switches = {"hookspan": hookspan_switches(memory), "peer": peer_switches(peer, memory)}
    before = snapshot()
    for name in (first, *(set(switches) - {first})):
        switches[name][0]()
    for point in POINTS:
        DISPATCH.register(DISPATCH.InterceptionPoint(point), watch)
    answer = str(crews.kickoff(crews.native_tool_crew()))
    bus: Any = importlib.import_module("crewai.events.event_bus")
    bus.crewai_event_bus.flush()
    faults, tree = wrong(memory), "\n".join(lines(memory.trees()))
    if answer != "both":
        faults.append(f"the crew answered {answer!r}")
    for name in (last, *(set(switches) - {last})):
        switches[name][1]()
    DISPATCH.clear_all()
    recorded = len(memory.spans())
    crews.kickoff(crews.simple_crew())
    bus.crewai_event_bus.flush()
    late = memory.spans()[recorded:]
    if late:
        faults.append(f"{_whose(late)}{len(late)} spans after both were off")
    left = [name for name in differences(before, snapshot()) if "run_hooks" in name]
    return [*faults, *left], tree


def watch(_ctx: Any) -> None:
    """Change nothing."""


def hookspan_switches(memory: Any) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return what switches hookspan on and off."""
    import hookspan  # noqa: PLC0415 - in the child

    return (lambda: hookspan.instrument(**memory.providers)), hookspan.uninstrument


def peer_switches(peer: Peer, memory: Any) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return what switches a peer on and off."""
    if peer[1] == "openlit":
        importlib.import_module("openlit._config").OpenlitConfig()  # else it has no defaults
    instrumentor = importlib.import_module(peer[2]).CrewAIInstrumentor()
    providers = {"tracer_provider": memory.tracer_provider, "skip_dep_check": True}
    return (lambda: instrumentor.instrument(**providers, **peer[3])), instrumentor.uninstrument


def wrong(memory: Any) -> list[str]:
    """Return what is wrong with what was recorded."""
    from hookspan.telemetry.semconv import SCOPE  # noqa: PLC0415 - in the child

    spans = memory.spans()
    mine = [span for span in spans if span.instrumentation_scope.name == SCOPE]
    runs = [span for span in mine if "crewai.execution.outcome" in span.attributes]
    points = [span.attributes.get("crewai.hook.point") for span in mine if span not in runs]
    faults: list[str] = []
    if len(spans) == len(mine):
        faults.append("the peer recorded nothing")
    elsewhere = [span for span in spans if span.context.trace_id != mine[0].context.trace_id]
    if elsewhere:
        faults.append(f"{_whose(elsewhere)}{len(elsewhere)} spans in another trace")
    if len(runs) != 1:
        faults.append(f"{len(runs)} runs of ours")
    if points != DISPATCHES:
        faults.append(f"dispatches {points}")
    parents = {span.context.span_id: span.parent and span.parent.span_id for span in spans}
    tops = {run.context.span_id for run in runs}
    outside = [span.name for span in mine if not _is_below(span, tops, parents)]
    return [*faults, *(f"{name} is outside the run" for name in outside)]


def _is_below(span: Any, tops: set[int], parents: dict[int, int | None]) -> bool:
    at: int | None = span.context.span_id
    while at is not None and at not in tops:
        at = parents.get(at)
    return at is not None


def _whose(spans: list[Any]) -> str:
    """Return a mark for what only concerns the peer."""
    return "" if any(span.instrumentation_scope.name == "hookspan" for span in spans) else OF_PEER


def lines(nodes: list[Any], indent: str = "") -> list[str]:
    """Return spans as lines, with the scope of those that are not ours."""
    found: list[str] = []
    for node in nodes:
        scope = node.span.instrumentation_scope.name
        found.append(f"{indent}{node.name}" + ("" if scope == "hookspan" else f"  ({scope})"))
        found += lines(node.children, f"{indent}  ")
    return found


def document(rows: list[tuple[str, str, str, list[str]]], trees: list[str]) -> str:
    """Return the page."""
    table = [f"| {a} | {b} | {c} | {'; '.join(d) or 'ok'} |" for a, b, c, d in rows]
    head = (
        f"# Beside other instrumentations\n\nWritten by `python3 dev.py peers --write` on crewAI"
        f" {version('crewai')}: a crew with two tool calls, hooks at EXECUTION_START, PRE_TOOL_CALL"
        " and EXECUTION_END. What must hold: one trace; one run of ours; each dispatch once and in"
        " it; the crew's answer unchanged; nothing recorded once both are off. What"
        " is marked as its own concerns the spans of the other one alone.\n\n"
        "| Other instrumentation | On first | Off first | Found |\n|---|---|---|---|\n"
    )
    return "\n".join([head + "\n".join(table) + "\n", *trees])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

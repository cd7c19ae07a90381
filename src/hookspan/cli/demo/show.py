"""Runs the demonstration and shows what was recorded."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console

from hookspan.cli.console import make_console, write_picture
from hookspan.cli.delivery import Delivery, deliver, find_targets, silence_exporters
from hookspan.cli.demo.progress import Progress
from hookspan.cli.document import document
from hookspan.cli.quiet import crewai_kept_quiet
from hookspan.cli.report import print_report
from hookspan.cli.service import name_service
from hookspan.cli.tree import Node, build
from hookspan.contract.errors import HookAborted
from hookspan.integrations.crewai.instrumentor import instrument
from hookspan.pipeline.collector import SpanCollector
from hookspan.pipeline.environment import is_disabled
from hookspan.pipeline.providers import provide

_NEEDS_CREWAI = "hookspan demo: crewAI is not installed: pip install 'hookspan[crewai]'"
_LEGEND = (
    "Each tree is a trace, each line in it a run, or a point at which hooks ran: what it came to,"
    " how long it took, and each hook=result in order."
)
_PAUSE = 0.3
"""How long the scripted model takes for an answer where somebody watches, in seconds."""


def demo(*, as_json: bool, color: bool, svg: Path | None) -> int:
    """Run the demonstration.

    Args:
        as_json: Print a JSON document, and nothing else, on standard output.
        color: Whether colour may be used.
        svg: Where to write a picture to; None for nowhere.

    Returns:
        The exit code.
    """
    if importlib.util.find_spec("crewai") is None:
        sys.stderr.write(f"{_NEEDS_CREWAI}\n")
        return 1
    if svg is not None and not svg.parent.is_dir():
        sys.stderr.write(f"hookspan demo: cannot write {svg}: no such folder\n")
        return 2
    name_service("hookspan-demo")
    silence_exporters()
    progress = Progress(make_console(sys.stderr, color=color))
    collector = SpanCollector(progress.saw)
    provide(collector)
    targets = find_targets()
    if not is_disabled():
        with crewai_kept_quiet(sys.stderr):
            _run_all(progress)
        progress.end()
    roots = build(collector.spans, collector.foreign)
    delivery = deliver(targets)
    if as_json:
        sys.stdout.write(document(roots, delivery) + "\n")
    else:
        _show(make_console(sys.stdout, color=color), roots, delivery)
    if svg is not None:
        write_picture(svg, "hookspan demo", lambda console: _show(console, roots, delivery))
    return 0


def _show(console: Console, roots: Sequence[Node], delivery: Delivery) -> None:
    if roots:
        console.print(f"{_LEGEND}\n")
    print_report(console, roots, delivery)


def _run_all(progress: Progress) -> None:
    with progress.step("Importing crewAI, which takes seconds"):
        instrument()
        crew = importlib.import_module("hookspan.cli.demo.crew")
    with progress.step("Registering ten hooks"):
        importlib.import_module("hookspan.cli.demo.hooks")
    for who in ("ada", "mallory"):
        with progress.step(f"{who} asks the support desk") as results:
            results.append(_run(crew, who, _PAUSE if progress.watched else 0.0))


def _run(crew: ModuleType, who: str, pause: float) -> str:
    try:
        answer: str = crew.answer(who, pause)
    except HookAborted as aborted:
        return f"denied, {aborted.reason}"
    return answer

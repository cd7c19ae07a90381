"""Runs the demonstration and shows what was recorded."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

from hookspan.cli.console import make_console, write_picture
from hookspan.cli.delivery import deliver, silence_exporters
from hookspan.cli.demo.progress import Progress
from hookspan.cli.document import document
from hookspan.cli.report import print_report
from hookspan.cli.service import name_service
from hookspan.cli.tree import build
from hookspan.contract.errors import HookAborted
from hookspan.integrations.crewai.instrumentor import instrument
from hookspan.pipeline.collector import SpanCollector
from hookspan.pipeline.providers import provide

_NEEDS_CREWAI = "hookspan demo: crewAI is not installed: pip install 'hookspan[crewai]'"
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
    name_service("hookspan-demo")
    silence_exporters()
    progress = Progress(make_console(sys.stderr, color=color))
    collector = SpanCollector(progress.saw)
    provide(collector)
    with _crewai_kept_quiet():
        _run_all(progress)
    roots = build(collector.spans, collector.foreign)
    delivery = deliver()
    if as_json:
        sys.stdout.write(document(roots, delivery) + "\n")
    else:
        print_report(make_console(sys.stdout, color=color), roots, delivery)
    if svg is not None:
        write_picture(svg, "hookspan demo", lambda console: print_report(console, roots, delivery))
    return 0


def _run_all(progress: Progress) -> None:
    with progress.step("Importing crewAI, which takes 4 to 8 seconds") as results:
        instrument()
        importlib.import_module("hookspan.cli.demo.hooks")
        crew = importlib.import_module("hookspan.cli.demo.crew")
        results.append("its hooks are traced from now on")
    for who in ("ada", "mallory"):
        with progress.step(f"Running the flow support_desk for {who}") as results:
            results.append(_run(crew, who))


def _run(crew: ModuleType, who: str) -> str:
    try:
        answer: str = crew.answer(who, _PAUSE if sys.stderr.isatty() else 0.0)
    except HookAborted as aborted:
        return f"denied, {aborted.reason}"
    return answer


@contextlib.contextmanager
def _crewai_kept_quiet() -> Generator[None]:
    """Keep crewAI off the network, off the user's files and off standard output."""
    with tempfile.TemporaryDirectory(prefix="hookspan-demo-", ignore_cleanup_errors=True) as home:
        os.environ.update(
            HOME=home,
            CREWAI_STORAGE_DIR=home,
            CREWAI_DISABLE_TELEMETRY="true",
            CREWAI_DISABLE_VERSION_CHECK="true",
            CREWAI_TRACING_ENABLED="false",
            CREWAI_TESTING="true",
        )
        with contextlib.redirect_stdout(sys.stderr):
            yield

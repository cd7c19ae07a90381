"""Draw the pictures of docs/runs.md from real runs, those that `test_runs_ways_out` checks.

Usage: python -m tests.integration_crewai.pictures
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider

import hookspan
from hookspan.cli.console import write_picture
from hookspan.cli.render import TreePrinter
from hookspan.cli.tree import build
from hookspan.pipeline.collector import SpanCollector
from tests.integration_crewai.conftest import forget_hooks
from tests.integration_crewai.runs import Situation, watch
from tests.integration_crewai.runs_aborts import ABORTS
from tests.integration_crewai.runs_ends import ENDS
from tests.integration_crewai.runs_interrupts import INTERRUPTS
from tests.integration_crewai.runs_parts import PARTS
from tests.integration_crewai.snapshot import DISPATCH

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images" / "runs"
DRAWN = {
    "completed": "crew completes",
    "failed": "task fails",
    "failed-after-end": "after_kickoff fails",
    "aborted": "abort at pre_step",
    "denied": "abort at pre_tool_call",
    "interrupted": "model raises KeyboardInterrupt",
    "cancelled": "flow is cancelled",
    "paused": "flow pauses and goes on",
    "nested": "crew in a flow in a crew",
    "replayed": "replay",
}
SITUATIONS = {one.name: one for one in (*ENDS, *ABORTS, *INTERRUPTS, *PARTS)}
_MADE_UP = re.compile(r"terminal-\d+")


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, situation in DRAWN.items():
        draw(FOLDER / f"{name}.svg", SITUATIONS[situation])
        sys.stdout.write(f"{name}: {situation}\n")


def draw(path: Path, situation: Situation) -> None:
    """Run a situation and draw what was recorded."""
    collector = SpanCollector()
    traces = TracerProvider(shutdown_on_exit=False)
    traces.add_span_processor(collector)
    hookspan.instrument(tracer_provider=traces)
    for point in situation.watched:
        DISPATCH.register(DISPATCH.InterceptionPoint(point), watch)
    for point, hook in situation.hooks.items():
        DISPATCH.register(DISPATCH.InterceptionPoint(point), hook)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
        situation.run()
    forget_hooks()
    hookspan.uninstrument()
    roots = build(collector.spans, collector.foreign)
    write_picture(path, situation.name, lambda console: TreePrinter(console, roots).print())
    # The same names for every drawing: else each one would be another file.
    text = _MADE_UP.sub(f"run-{path.stem}", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

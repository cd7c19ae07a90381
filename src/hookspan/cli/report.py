"""The summary on a terminal: a table, and what one has to know by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hookspan.cli.delivery import Delivery
from hookspan.cli.glyphs import Glyphs, duration_text, glyphs_for, shortened
from hookspan.cli.render import FAIL_OPEN, STYLES, TreePrinter, abort_text, hanging
from hookspan.cli.summary import PointSummary, Summary, summarize
from hookspan.cli.tree import Node
from hookspan.telemetry import semconv

NOTHING = "no run of a crew, flow or agent was seen, and no hook ran: is one registered?"
NO_CREWAI = (
    "no run was seen, and no hook ran: the program did not import crewAI"
    " (a runtime on hookspan's own engine calls hookspan.instrument() to be seen)"
)


def print_report(
    console: Console, roots: Sequence[Node], delivery: Delivery, not_kept: int = 0
) -> None:
    """Print the trees, their summary and what became of the telemetry.

    Args:
        console: Where to.
        roots: The trees.
        delivery: What became of the telemetry.
        not_kept: How many spans are missing from the trees.
    """
    glyphs = glyphs_for(console.encoding)
    if roots:
        TreePrinter(console, roots).print()
        _print_summary(console, glyphs, summarize(roots))
        console.print()
    for line in _last_lines(roots, delivery, not_kept):
        console.print(line, soft_wrap=not console.is_terminal)


def _last_lines(roots: Sequence[Node], delivery: Delivery, not_kept: int) -> Iterator[Text]:
    """Yield what concerns hookspan itself, a line each; one where nothing was seen or sent."""
    if not_kept:
        yield Text(f"hookspan: {not_kept} more spans were not kept", style="bold yellow")
    if not roots and not delivery.disabled:
        nothing = NOTHING if "crewai" in sys.modules else NO_CREWAI
        yield Text(f"hookspan: {nothing}", style="bold yellow")
    if roots or delivery.disabled or not delivery.delivered:
        fine = delivery.delivered and not delivery.disabled
        yield Text(f"hookspan: {delivery.line}", style="dim" if fine else "bold yellow")


def _print_summary(console: Console, glyphs: Glyphs, summary: Summary) -> None:
    if summary.points:
        console.print()
        console.print(_table(summary))
    sections = {
        "Denied": _abort_lines(glyphs, summary),
        "Crashed": _crash_lines(glyphs, summary),
        "Runs": _run_lines(glyphs, summary),
    }
    for title, lines in sections.items():
        for index, line in enumerate(lines):
            if index == 0:
                console.print(Text(f"\n{title}", style="bold"))
            for wrapped in hanging(line, console, "  ", "    "):
                console.print(wrapped, soft_wrap=True)


def _table(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Point")
    for name in ("dispatches", "proceeded", "modified", "aborted", "crashed", "slowest"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in summary.points:
        table.add_row(*_row(point))
    if len(summary.points) > 1:
        table.add_row(*_row(summary.total), style="bold")
    return table


def _row(point: PointSummary) -> list[Text]:
    counts = {
        "proceeded": point.proceeded,
        "modified": point.modified,
        "aborted": point.aborted,
        "errored": point.crashed,
    }
    return [
        Text(point.point, style="cyan" if point.point != "total" else ""),
        Text(str(point.dispatches)),
        *(Text(str(n), style=STYLES[name] if n else "dim") for name, n in counts.items()),
        Text(duration_text(point.slowest)),
    ]


def _abort_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    for abort, count in summary.aborts.items():
        line = Text(abort.point, style="cyan")
        about = f" {glyphs.clean(abort.about)}" if abort.about else ""
        run = f" in {glyphs.clean(abort.run)}" if abort.run else ""
        yield line.append(f"{about}{run}{_times(count)}", style="default")
        said = abort_text(glyphs, abort.reason, abort.source, abort.effect)
        yield Text.assemble("  ", said)


def _crash_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    names = shortened({crash.hook for crash in summary.crashes})
    for crash, count in summary.crashes.items():
        line = Text(crash.point, style="cyan")
        line.append(f" {glyphs.clean(names[crash.hook])}{_times(count)}: ", style="default")
        line.append(f"{glyphs.crash} {glyphs.clean(crash.exception)}", style=STYLES["errored"])
        yield line.append(f"; {FAIL_OPEN}", style="magenta")


def _run_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    for run, count in summary.runs.items():
        line = Text(f"{glyphs.kind(run.kind)} {glyphs.clean(run.name)}")
        line.append(f" {run.kind}{_times(count)}: ")
        line.append(run.outcome, style=STYLES.get(run.outcome, ""))
        denied = run.denied and run.outcome != semconv.CREWAI_EXECUTION_OUTCOME_ABORTED
        yield line.append(", something in it was denied", style="red") if denied else line


def _times(count: int) -> str:
    return f" x{count}" if count > 1 else ""

"""The summary on a terminal: a table, and what one has to know by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hookspan.cli.delivery import Delivery
from hookspan.cli.glyphs import Glyphs, duration_text, glyphs_for, shortened
from hookspan.cli.render import STYLES, TreePrinter, abort_text
from hookspan.cli.summary import PointSummary, Summary, summarize
from hookspan.cli.tree import Node

NOTHING = (
    "no run of a crew, flow or agent and no hook dispatch was seen."
    " Does the program run one, and is a hook registered?"
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
        for part in _parts(glyphs, summarize(roots)):
            console.print()
            console.print(part)
        console.print()
    elif not delivery.disabled:
        console.print(f"hookspan: {NOTHING}", highlight=False)
    if not_kept:
        console.print(f"hookspan: {not_kept} more spans were not kept", highlight=False)
    console.print(Text(f"hookspan: {delivery.line}", style=_delivery_style(delivery)))


def _delivery_style(delivery: Delivery) -> str:
    return "dim" if delivery.delivered and not delivery.disabled else "bold yellow"


def _parts(glyphs: Glyphs, summary: Summary) -> Iterator[RenderableType]:
    if summary.points:
        yield _table(summary)
    if summary.aborts:
        yield _section("Denied", _abort_lines(glyphs, summary))
    if summary.crashes:
        yield _section("Crashed", _crash_lines(glyphs, summary))
    if summary.runs:
        yield _section("Runs", _run_lines(glyphs, summary))


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


def _section(title: str, lines: Iterator[Text]) -> Text:
    return Text("\n").join([Text(title, style="bold"), *lines])


def _abort_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    for abort, count in summary.aborts.items():
        line = Text(f"  {abort.point}", style="cyan")
        about = f" {glyphs.clean(abort.about)}" if abort.about else ""
        line.append(f"{about} in {glyphs.clean(abort.run)}{_times(count)}\n    ", style="default")
        yield line.append_text(abort_text(glyphs, abort.reason, abort.source, abort.effect))


def _crash_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    names = shortened({crash.hook for crash in summary.crashes})
    for crash, count in summary.crashes.items():
        line = Text(f"  {crash.point} ", style="cyan")
        line.append(f"{glyphs.clean(names[crash.hook])}{_times(count)}: ", style="default")
        yield line.append(f"{glyphs.clean(crash.exception)}", style=STYLES["errored"])


def _run_lines(glyphs: Glyphs, summary: Summary) -> Iterator[Text]:
    for run, count in summary.runs.items():
        line = Text(
            f"  {glyphs.kind(run.kind)} {glyphs.clean(run.name)} {run.kind}{_times(count)} "
        )
        line.append(run.outcome, style=STYLES.get(run.outcome, ""))
        denied = run.denied and run.outcome != "aborted"
        yield line.append(", something in it was denied", style="red") if denied else line


def _times(count: int) -> str:
    return f" x{count}" if count > 1 else ""

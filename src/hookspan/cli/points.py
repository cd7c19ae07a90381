"""``hookspan points``: the twenty points on the crewAI that is installed, told or proven."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hookspan.cli.console import make_console
from hookspan.cli.glyphs import Glyphs, glyphs_for
from hookspan.cli.quiet import crewai_kept_quiet
from hookspan.integrations.crewai import versions
from hookspan.integrations.crewai.instrumentor import instrument, uninstrument
from hookspan.integrations.crewai.points.catalogue import FACTS, PointFacts

if TYPE_CHECKING:
    from hookspan.cli.catalogue.check import Cell
    from hookspan.cli.catalogue.evidence import Scene

STYLES = {
    "yes": "green",
    "ok": "green",
    "raised": "bold red",
    "raised*": "bold red",
    "blocked": "bold yellow",
    "refused": "cyan",
    "no": "dim",
    "FAILED": "bold white on red",
}
"""How each word of a cell looks; what is not here is a part of what may be changed."""

_PART = "yellow"


def points(*, check: bool, color: bool) -> int:
    """Show the points.

    Args:
        check: Prove what is said of them, on real crews and flows.
        color: Whether colour may be used.

    Returns:
        The exit code: 1 where crewAI is not there, or a cell of the proof does not hold.
    """
    console = make_console(sys.stdout, color=color)
    with crewai_kept_quiet(sys.stderr):
        installed = versions.find()
        for problem in installed.problems:
            sys.stderr.write(f"hookspan points: {problem}\n")
        if not installed.usable:
            return 1
        if check:
            return _check(console, installed)
    tell(console, installed)
    return 0


def tell(console: Console, installed: versions.Installed) -> None:
    """Print what is known of the points.

    Args:
        console: Where to.
        installed: The crewAI that was found.
    """
    table = _table("point", "wired", "in place", "return", "abort", "asked at")
    for facts in FACTS:
        wired = "yes" if facts.point.value in installed.points else "NO"
        words = (wired, facts.in_place, facts.replaced, facts.aborted)
        table.add_row(facts.point.value, *map(_word, words), facts.seam)
    console.print(table)
    wired_count = sum(facts.point.value in installed.points for facts in FACTS)
    console.print(f"\n{wired_count} of {len(FACTS)} points on crewAI {installed.version}.")
    for missing in installed.added.missing:
        console.print(Text(f"not instrumented: {missing}", style="bold red"))
    console.print("\nWays around, and what else to know:")
    for facts in FACTS:
        _print_notes(console, facts)


def _print_notes(console: Console, facts: PointFacts) -> None:
    console.print(Text(facts.point.value, style="bold"))
    for note in facts.around:
        mark, text = ("*", note[2:]) if note.startswith("* ") else ("-", note)
        row = Table.grid(padding=(0, 1))
        row.add_row(f"  {mark}", text)
        console.print(row)


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold underline")
    for heading in headings:
        last = heading == headings[-1]
        table.add_column(heading, no_wrap=not last, overflow="fold")
    return table


def _word(word: str) -> Text:
    return Text(word, style=STYLES.get(word, "bold red" if word == "NO" else _PART))


def _check(console: Console, installed: versions.Installed) -> int:
    """Play every scene, and print what came of each."""
    started = time.monotonic()
    table = _table("point", "observe", "mutate", "replace", "abort", "read from")
    notes: list[Text] = []
    cells: list[Cell] = []
    glyphs = glyphs_for(console.encoding)
    for scene, row in _played():
        cells += row.values()
        words = [_word(cell.verdict) for cell in row.values()]
        table.add_row(scene.point.value, *words, scene.proof)
        notes += _notes(glyphs, scene, row)
    console.print(table)
    console.print()
    for note in notes:
        console.print(note)
    failed = sum(not cell.holds for cell in cells)
    refused = sum(cell.verdict == "refused" for cell in cells)
    console.print(
        f"\n{len(cells)} cells on crewAI {installed.version}: {len(cells) - refused - failed} took"
        f" effect, {refused} refused by crewAI's seam, {failed} failed"
        f" ({time.monotonic() - started:.1f} s)."
    )
    return 1 if failed or not cells else 0


def _played() -> Iterator[tuple[Scene, dict[str, Cell]]]:
    """Yield each scene with its cells; what crews and hookspan say meanwhile is of no interest."""
    logging.disable(logging.CRITICAL)
    instrument()
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        catalogue = importlib.import_module("hookspan.cli.catalogue.scenes")
        check = importlib.import_module("hookspan.cli.catalogue.check")
        played = list(check.play_all(catalogue.SCENES))
    uninstrument()
    logging.disable(logging.NOTSET)
    yield from played


def _notes(glyphs: Glyphs, scene: Scene, row: dict[str, Cell]) -> Iterator[Text]:
    """Yield what is to be said of cells that were refused, and of those that failed."""
    facts = next(facts for facts in FACTS if facts.point == scene.point)
    for action, cell in row.items():
        name = f"{scene.point.value}, {action}"
        if not cell.holds:
            yield Text(f"{name}: {glyphs.clean(cell.why)}", style="bold red")
        elif cell.verdict == "refused":
            yield Text(f"{name}: a returned value is ignored ({facts.seam})", style="cyan")
        elif action in scene.more:
            yield Text(f"{name}: {scene.more[action][0]} ({facts.seam})", style="cyan")

"""Measure the performance budgets and say which are kept.

Usage: python benchmarks/run.py [--rounds N] [--slow MICROSECONDS] [--write]

Each group of budgets runs in a process of its own, so that providers and instrumentation of one do
not reach the next. The exit status is 1 when a budget is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
GROUPS = ("dispatching", "instrumented", "crews", "recording", "importing")
DISTRIBUTIONS = ("crewai", "opentelemetry-api", "opentelemetry-sdk")
COLUMNS = ("Budget", "What", "Bound", "Measured", "Verdict", "Times")


def measure(group: str, rounds: int, slow: float) -> list[dict[str, Any]]:
    """Run one group in a new interpreter, as an application that has set nothing up.

    Args:
        group: Name of its module.
        rounds: Rounds of each variant.
        slow: Microseconds to burn in our dispatch path.

    Returns:
        The fields of `benchmarks.timing.Row` of each row.
    """
    environ = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}
    command = [sys.executable, "-m", f"benchmarks.{group}", str(rounds), str(slow)]
    with tempfile.TemporaryDirectory() as home:
        environ["HOME"] = home
        output = subprocess.run(  # noqa: S603 - a module of this repository
            command, cwd=ROOT, env=environ, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    rows: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
    return rows


def kept(row: dict[str, Any]) -> bool:
    """Tell whether a row is within its bound, or has none."""
    return row["bound"] is None or bool(row["measured"] <= row["bound"])


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row as text, in the order of the columns."""
    unit = row["unit"]
    bound = "" if row["bound"] is None else f"<= {row['bound']:g} {unit}"
    verdict = "" if row["bound"] is None else "kept" if kept(row) else "BROKEN"
    return [
        row["budget"],
        row["what"],
        bound,
        f"{row['measured']:.2f} {unit}",
        verdict,
        row["detail"],
    ]


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows as a table."""
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*cells(row), style=None if kept(row) else "red")
    Console().print(table)


def markdown(rows: Sequence[dict[str, Any]], command: str) -> str:
    """Return the rows, and what they were measured with, as a page."""
    made = [f"Python {platform.python_version()}"]
    made += [f"{name} {version(name)}" for name in DISTRIBUTIONS]
    lines = [
        "# Benchmark results",
        "",
        "CPU time of one thread; the variants of a row take turns in one process, and the median",
        "over all rounds is given. Ratios count, times depend on the machine.",
        "",
        f"- Command: `{command}`",
        f"- Date: {datetime.now(timezone.utc):%Y-%m-%d}",
        f"- Versions: {', '.join(made)}",
        f"- Machine: {processor()}, {os.cpu_count()} cores, {platform.system()}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def processor() -> str:
    """Return the model of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def main() -> int:
    """Measure, print, and write when asked; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=300, help="rounds of each variant (300)")
    parser.add_argument(
        "--slow", type=float, default=0.0, help="microseconds to burn in our dispatch path (0)"
    )
    parser.add_argument("--write", action="store_true", help=f"write benchmarks/{RESULTS.name}")
    arguments = parser.parse_args()
    rows = [row for group in GROUPS for row in measure(group, arguments.rounds, arguments.slow)]
    show(rows)
    if arguments.write:
        command = " ".join(["python3 dev.py bench", *sys.argv[1:]])
        RESULTS.write_text(markdown(rows, command), encoding="utf-8")
    return 0 if all(kept(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

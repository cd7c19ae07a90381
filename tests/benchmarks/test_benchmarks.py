"""The benchmarks can tell fast from slow. How fast the code is, they say themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNMOVED = {"P7", "P7b", "P9", "P12"}  # both sides are delayed alike, or nothing is dispatched

pytestmark = pytest.mark.timeout(300)  # crewAI is imported four times
ROW = re.compile(r"^\| (P\d+b?) \| (.+?) \| (.*?) \| (.+?) \| (.*?) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def slowed() -> tuple[int, list[tuple[str, str]]]:
    """Run everything with a delay in our path; return the status, and budget and verdict by row."""
    environ = {**os.environ, "COLUMNS": "400", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "benchmarks/run.py", "--rounds", "2", "--slow", "200"]
    finished = subprocess.run(
        command,
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.stdout, finished.stderr
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in finished.stdout.splitlines()
        if line.startswith("│")
    ]
    return finished.returncode, [(row[0], row[4]) for row in cells]


def test_a_delay_in_our_path_fails_the_run(slowed: tuple[int, list[tuple[str, str]]]) -> None:
    assert slowed[0] == 1


def test_a_delay_in_our_path_breaks_every_budget_of_that_path(
    slowed: tuple[int, list[tuple[str, str]]],
) -> None:
    broken = {budget for budget, verdict in slowed[1] if verdict == "BROKEN"}

    assert broken - UNMOVED == {
        "P1",
        "P2",
        "P3",
        "P3b",
        "P4",
        "P5",
        "P6",
        "P13",
    }


def test_the_committed_results_have_every_row(
    slowed: tuple[int, list[tuple[str, str]]],
) -> None:
    committed = ROW.findall((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"))

    assert [row[0] for row in committed] == [budget for budget, _ in slowed[1]]


def test_the_committed_results_say_what_they_were_measured_with() -> None:
    text = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")

    named = re.findall(r"^- (\w+): \S|(crewai|opentelemetry-\w+|Python) \d", text, re.MULTILINE)
    assert [first or second for first, second in named] == [
        "Command",
        "Date",
        "Versions",
        "crewai",
        "opentelemetry-api",
        "opentelemetry-sdk",
        "Machine",
    ]

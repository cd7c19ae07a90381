"""Programs of this folder in processes of their own, several at a time: each takes seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Program:
    """A program and how it is started.

    Attributes:
        name: Its file, without the ending.
        arguments: What it is given.
        environment: Variables beside those of this process; OpenTelemetry's are not handed on.
        before: What starts it: a command before Python's.
    """

    name: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """What became of a program. `at` is when it was gone, as `time.time()` gives it."""

    code: int
    out: str
    err: str
    at: float

    @property
    def lines_of_hookspan(self) -> list[str]:
        """What was written on stderr, without crewAI's and the exporters' own lines."""
        foreign = ("Using an approximate", "Transient error", "Shutdown in progress", "Failed to")
        return [line for line in self.err.splitlines() if line and not line.startswith(foreign)]


def run_all(*programs: Program) -> list[Ended]:
    """Run programs at the same time; return what became of each, in their order."""
    with ThreadPoolExecutor(len(programs)) as pool:
        return list(pool.map(_run, programs))


def _run(program: Program) -> Ended:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    paths = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT)))}
    command: Sequence[str] = (
        *program.before,
        sys.executable,
        str(PROGRAMS / f"{program.name}.py"),
        *program.arguments,
    )
    done = subprocess.run(
        command,
        env={**inherited, **paths, **program.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, time.time())

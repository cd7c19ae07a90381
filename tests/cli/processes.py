"""The command line in a process of its own, as somebody would start it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
NOTHING_SEEN = (
    "hookspan: no run was seen, and no hook ran: the program did not import crewAI"
    " (a runtime on hookspan's own engine calls hookspan.instrument() to be seen)\n"
)


@dataclass(frozen=True)
class Ended:
    """What a process has left.

    Attributes:
        code: Its exit code; negative for the signal that ended it.
        stdout: What it printed on standard output.
        stderr: What it printed on standard error.
        seconds: How long it took.
    """

    code: int
    stdout: str
    stderr: str
    seconds: float


def python(*arguments: str, cwd: Path, environ: Mapping[str, str] | None = None) -> Ended:
    """Run python, without telemetry settings of the caller's, and with crewAI kept quiet.

    Args:
        *arguments: Of python.
        cwd: The folder to run it in, its home too.
        environ: Further variables.
    """
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OTEL_")},
        "PYTHONPATH": str(SOURCE),
        "PYTHONIOENCODING": "utf-8",
        "HOME": str(cwd),
        "CREWAI_STORAGE_DIR": str(cwd / "crewai"),
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CREWAI_DISABLE_VERSION_CHECK": "true",
        "CREWAI_TESTING": "true",
        "CREWAI_TRACING_ENABLED": "false",
        **(environ or {}),
    }
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        environment.pop(name, None)
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        check=False,
        timeout=100,
    )
    seconds = time.monotonic() - begin
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode(), seconds)


def hookspan(*arguments: str, cwd: Path, environ: Mapping[str, str] | None = None) -> Ended:
    """Run the command line; see `python`."""
    return python("-m", "hookspan", *arguments, cwd=cwd, environ=environ)

"""P12: what ``import hookspan`` costs, in fresh interpreters that find its bytecode compiled."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile

from benchmarks.timing import Row, report

HEAVY = ("crewai", "opentelemetry", "pydantic")
_ATTEMPTS = 10
_NAMES = f"import sys, hookspan; print(*(name for name in {HEAVY} if name in sys.modules))"


def run(code: str, cache: str) -> tuple[float, str]:
    """Run a program; return its CPU time, user and system, in milliseconds, and its output.

    Args:
        code: The program.
        cache: Directory for bytecode.
    """
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]
    output = subprocess.run(  # noqa: S603 - the commands of this file
        command, env=environ, check=True, capture_output=True, text=True
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds * 1000, output.strip()


def rows(rounds: int, _slow: float) -> list[Row]:
    """Measure all of it."""
    attempts = min(rounds, _ATTEMPTS)
    with tempfile.TemporaryDirectory() as cache:
        loaded = run(_NAMES, cache)[1].split()
        bare = min(run("pass", cache)[0] for _ in range(attempts))
        full = min(run("import hookspan", cache)[0] for _ in range(attempts))
    return [
        Row(
            "P12",
            "import hookspan, over the start of the interpreter",
            full - bare,
            60.0,
            "ms",
            f"with {full:.0f} ms, without {bare:.0f} ms",
        ),
        Row(
            "P12",
            f"of {', '.join(HEAVY)}, loaded by it",
            len(loaded),
            0.0,
            "packages",
            ", ".join(loaded) or "none",
        ),
    ]


if __name__ == "__main__":
    report(rows)

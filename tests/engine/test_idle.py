"""A guard that nothing could have called does not look like one that agrees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
REGISTERS = """\
import hookspan
@hookspan.on("input", name="policies.guard")
def guard(ctx):
    pass
"""
USES = "hookspan.dispatch('input', hookspan.InputContext({}))\n"
CLEARS = "hookspan.clear_all_hooks()\n"
ERROR = (
    "hookspan.instrument() was never called, so no crew or flow has called what is registered"
    " through hookspan: policies.guard\n"
)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import crewai\n" + REGISTERS, ERROR),
        (REGISTERS + "import crewai\n", ERROR),
        (REGISTERS, ""),
        ("import crewai\n" + REGISTERS + USES, ""),
        ("import crewai\n" + REGISTERS + CLEARS, ""),
    ],
)
def test_hooks_without_instrumentation_are_told_of_at_exit(
    tmp_path: Path, program: str, said: str
) -> None:
    (tmp_path / "crewai.py").write_text("", encoding="utf-8")  # stands for the real one
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{tmp_path}"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert ended.stderr == said

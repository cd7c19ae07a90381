"""`hookspan points` in a process of its own, as somebody would start it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hookspan.contract.points import InterceptionPoint
from tests.cli.processes import hookspan, python

pytestmark = pytest.mark.xdist_group("cli")


def test_the_check_shows_eighty_cells_that_hold(tmp_path: Path) -> None:
    ended = hookspan("points", "--check", cwd=tmp_path, environ={"COLUMNS": "80"})

    assert (ended.code, ended.stderr) == (0, "")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    row = r"^(\w+) +(\w+) +(\w+) +(\w+) +(raised|blocked) "
    rows = re.findall(row, ended.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == [point.value for point in InterceptionPoint]
    words = [word for row in rows for word in row[1:]]
    assert (len(words), words.count("refused")) == (80, 2)
    assert set(words) == {"ok", "refused", "raised", "blocked"}
    assert "78 took effect, 2 refused by crewAI's seam, 0 failed" in " ".join(ended.stdout.split())
    refusals = re.findall(r"^(\w+), (\w+): ", ended.stdout, re.MULTILINE)
    assert refusals == [
        ("execution_end", "abort"),
        ("pre_model_call", "replace"),
        ("post_model_call", "replace"),
        ("pre_tool_call", "replace"),
        ("post_tool_call", "replace"),
    ]
    assert list(tmp_path.iterdir()) == []


WITHOUT = """\
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "crewai" else find(name, *more)
from hookspan.cli import main
raise SystemExit(main(["points"]))
"""


def test_without_crewai_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WITHOUT, encoding="utf-8")
    ended = python("script.py", cwd=tmp_path)

    assert (ended.code, ended.stdout) == (1, "")
    assert ended.stderr == "hookspan points: crewAI is not installed\n"

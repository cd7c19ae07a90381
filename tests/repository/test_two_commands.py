"""The README's two commands, on a machine that has git, sh and Python and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(python3 dev\.py \w+)", README, re.MULTILINE)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the committed tree, and beside it a folder with the only three programs."""
    folder = tmp_path_factory.mktemp("fresh")
    programs = folder / "bin"
    programs.mkdir()
    for name in ("git", "sh"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    (programs / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    tree = folder / "hookspan"
    subprocess.run([str(programs / "git"), "clone", "-q", str(ROOT), str(tree)], check=True)
    return tree


def run(clone: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the clone, with an environment that holds one variable."""
    return subprocess.run(
        [str(clone.parent / "bin" / "sh"), "-c", command],
        cwd=clone,
        env={"PATH": str(clone.parent / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_readme_names_two_commands() -> None:
    assert COMMANDS == ["python3 dev.py demo", "python3 dev.py test"]


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("fresh_clone")
def test_the_first_command_shows_every_kind_of_decision(clone: Path) -> None:
    shown = run(clone, COMMANDS[0])
    assert shown.returncode == 0, shown.stderr[-2000:]
    for expected in (
        r"pre_tool_call.*aborted",
        r"file deletion is not allowed",
        r"policy",
        r"input.*modified",
        r"EOFError|KeyError",
        r"unauthorized execution",
        r"completed",
    ):
        assert re.search(expected, shown.stdout), (expected, shown.stdout)
    document: dict[str, Any] = json.loads(run(clone, f"{COMMANDS[0]} --json").stdout)
    outcomes = [run["attributes"]["crewai.execution.outcome"] for run in document["runs"]]
    assert sorted(outcomes) == ["aborted", "completed"]


@pytest.mark.timeout(900)
@pytest.mark.xdist_group("fresh_clone")
def test_the_second_command_sets_up_and_runs_the_tests(clone: Path) -> None:
    # All of them run by this very command wherever this test does; a part of them will do here.
    tested = run(clone, f"{COMMANDS[1]} tests/contract -q")
    assert tested.returncode == 0, tested.stdout[-2000:] + tested.stderr[-2000:]
    assert re.search(r"\d+ passed", tested.stdout)

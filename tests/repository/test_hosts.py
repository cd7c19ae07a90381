"""What is committed names no registry host and no folder of somebody's machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# In pieces, so that this file passes its own test.
FORBIDDEN = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "/ro" + "ot/",
    "/wo" + "rk/",
    "/t" + "mp/w/",
]


def tracked() -> list[Path]:
    """Return every file that git tracks and that is there."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_no_tracked_file_names_it(text: str) -> None:
    naming = [path for path in tracked() if text.encode() in path.read_bytes()]

    assert naming == []


def test_the_tracked_files_were_seen() -> None:
    assert Path(__file__).parents[2] / "pyproject.toml" in tracked()


def test_every_package_folder_has_its_init() -> None:
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}

    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []

"""Break the code on purpose, one patch at a time, and check that a test turns red.

Usage: python tests/mutations/run.py [PATCH ...]

Each ``*.patch`` beside this file (or each that is named) is a git diff against the tree. Its first
line, ``# tests: PATH ...``, names the tests that must catch it. They must pass without any patch
and fail, rather than not run, with it. The exit code is 0 when every break was caught.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "semconv", "docs", "pyproject.toml")
HEADER = "# tests: "
GREEN, RED = 0, 1  # pytest's exit codes for "all passed" and "some failed"


def main(arguments: Sequence[str]) -> int:
    """Try every patch; return 0 when each was caught."""
    patches = [Path(name).resolve() for name in arguments]
    patches = patches or sorted(Path(__file__).parent.glob("*.patch"))
    every_test = sorted({test for patch in patches for test in tests_of(patch)})
    verdicts = {"no patch": "" if run(None, every_test) == GREEN else "tests are not green"}
    report("no patch", verdicts["no patch"])
    for patch in patches:
        code = run(patch, tests_of(patch))
        verdicts[patch.name] = "" if code == RED else f"not caught: pytest ended with {code}"
        report(patch.name, verdicts[patch.name])
    return 1 if any(verdicts.values()) or not patches else 0


def tests_of(patch: Path) -> list[str]:
    """Return the tests that a patch names in its first line.

    Raises:
        ValueError: It names none.
    """
    first = patch.read_text(encoding="utf-8").partition("\n")[0]
    tests = first.removeprefix(HEADER).split()
    if not first.startswith(HEADER) or not tests:
        message = f"{patch.name}: the first line must be '{HEADER}PATH ...', got {first!r}"
        raise ValueError(message)
    return tests


def run(patch: Path | None, tests: Iterable[str]) -> int:
    """Run tests in a copy of the tree, patched; return pytest's exit code."""
    with tempfile.TemporaryDirectory(prefix="hookspan-mutation-") as folder:
        tree = Path(folder)
        copy_to(tree)
        if patch is not None:
            apply(patch, tree)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
        return done.returncode


def copy_to(tree: Path) -> None:
    """Copy what tests need."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tree)


def apply(patch: Path, tree: Path) -> None:
    """Apply a patch to a copy.

    Raises:
        RuntimeError: It does not fit the tree any more.
    """
    git = shutil.which("git") or "git"
    # Without the ceiling git would look for a repository above and skip every file of the copy.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    command = [git, "apply", "-v", str(patch)]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode or "Skipped" in done.stderr:
        message = f"{patch.name} does not apply: {done.stderr.strip()}"
        raise RuntimeError(message)


def report(name: str, fault: str) -> None:
    """Say on one line how it went."""
    sys.stdout.write(f"{name}: {fault or 'ok'}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

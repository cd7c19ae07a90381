"""Break the code on purpose, one patch at a time, and check that a test turns red.

Usage: python tests/mutations/run.py [PATCH | WORD ...]

Each ``*.patch`` beside this file (or each that is named, or whose name begins with a word that is
given) is a git diff against the tree. Its first line, ``# tests: PATH ...``, names the tests that
must catch it. They must pass without any patch and fail, rather than not run, with it. The exit
code is 0 when every break was caught.

crewAI takes seconds to import. This process does it once, and has a child by fork for each break,
which imports hookspan and the tests from a patched copy of the tree. (crewAI starts no thread until
it runs something.) Where there is no fork, each break has a process of its own.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
COPIED = ("src", "tests", "semconv", "docs", "pyproject.toml")
HEADER = "# tests: "
GREEN, RED = 0, 1  # pytest's exit codes for "all passed" and "some failed"
OPTIONS = (
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of plugins imported below
)
SLOW_IMPORTS = (
    "pytest",
    "hypothesis",
    "inline_snapshot",
    "opentelemetry.instrumentation.instrumentor",
    "opentelemetry.sdk._logs.export",
    "opentelemetry.sdk.metrics.export",
    "opentelemetry.sdk.trace.export",
    "crewai",
    "crewai.flow.flow",
    "crewai.hooks.dispatch",
    "crewai.lite_agent",
    "crewai.llms.hooks",
)
OURS = {"hookspan", "semconv", "tests"}


def main(arguments: Sequence[str]) -> int:
    """Try every patch; return 0 when each was caught."""
    patches = chosen(arguments)
    every_test = sorted({test for patch in patches for test in tests_of(patch)})
    with tempfile.TemporaryDirectory(prefix="hookspan-mutation-") as folder:
        home = Path(folder)
        prepare(home)
        verdicts = {"no patch": "" if run(None, every_test, home) == GREEN else "not green"}
        report("no patch", verdicts["no patch"])
        for patch in patches:
            code = run(patch, tests_of(patch), home)
            verdicts[patch.name] = "" if code == RED else f"not caught: pytest ended with {code}"
            report(patch.name, verdicts[patch.name])
    return 1 if any(verdicts.values()) or not patches else 0


def chosen(arguments: Sequence[str]) -> list[Path]:
    """Return the patches that arguments name; all of them without any."""
    every = sorted(HERE.glob("*.patch"))
    if not arguments:
        return every
    named = [Path(one).resolve() for one in arguments if one.endswith(".patch")]
    words = tuple(one for one in arguments if not one.endswith(".patch"))
    return named + [patch for patch in every if words and patch.name.startswith(words)]


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


def prepare(home: Path) -> None:
    """Import what every child needs and no patch touches, as the tests' own set-up would."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        del os.environ[name]
    os.environ.update(
        HOME=str(home),
        CREWAI_STORAGE_DIR=str(home / "crewai"),
        CREWAI_DISABLE_TELEMETRY="true",
        CREWAI_DISABLE_VERSION_CHECK="true",
        CREWAI_TRACING_ENABLED="false",
        CREWAI_TESTING="true",
    )
    if hasattr(os, "fork"):
        for name in SLOW_IMPORTS:
            importlib.import_module(name)


def run(patch: Path | None, tests: Iterable[str], home: Path) -> int:
    """Run tests in a copy of the tree, patched; return pytest's exit code."""
    # Always the same folder: what was compiled of files that no patch touches serves the next.
    tree = home / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    copy_to(tree)
    if patch is not None:
        apply(patch, tree)
    if not hasattr(os, "fork"):
        return in_process(tree, tests)
    child = os.fork()
    if child == 0:
        in_child(tree, tests)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_process(tree: Path, tests: Iterable[str]) -> int:
    """Run pytest on a copy of the tree in a process of its own; return its exit code."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths(tree))}
    command = [sys.executable, "-m", "pytest", *OPTIONS, *tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    return done.returncode


def in_child(tree: Path, tests: Iterable[str]) -> None:
    """Run pytest on a copy of the tree, say nothing, and end this process with its exit code."""
    code = 3  # pytest's own for an internal error
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.chdir(tree)
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(tree.parent / "compiled")
        sys.path[:0] = paths(tree)
        os.environ["PYTHONPATH"] = os.pathsep.join(paths(tree))
        if not OURS & {name.partition(".")[0] for name in sys.modules}:  # else not the patched ones
            code = int(importlib.import_module("pytest").main([*OPTIONS, *tests]))
    finally:
        os._exit(code)  # crewAI's threads are not waited for


def paths(tree: Path) -> list[str]:
    """Return where a copy of the tree is imported from."""
    return [str(tree / "src"), str(tree)]


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

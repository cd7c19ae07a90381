"""Each import contract can fail: add one forbidden import and see that it names its contract."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
CONTRACT = re.compile(r"^(?P<name>\S.*) (?P<verdict>KEPT|BROKEN)$", re.MULTILINE)

DOWN = "Imports go down only"
PURE_ENGINE = "The engine knows neither OpenTelemetry nor crewAI"
PURE_TELEMETRY = "Telemetry serves every runtime"
ONE_PLACE = "Only the integration and the command line import crewAI"

# Module to add -> its text -> the contracts that must break.
FORBIDDEN = {
    "contract/up.py": ("import hookspan.engine", {DOWN}),
    "engine/up.py": ("import hookspan.telemetry.semconv", {DOWN}),
    "telemetry/up.py": ("import hookspan.pipeline", {DOWN}),
    "pipeline/sideways.py": ("import hookspan.integrations", {DOWN}),
    "integrations/up.py": ("import hookspan.cli", {DOWN}),
    "unknown.py": ("", {DOWN}),
    "contract/foreign.py": ("from opentelemetry import trace", {PURE_ENGINE}),
    "engine/foreign.py": ("from opentelemetry import trace", {PURE_ENGINE}),
    "engine/runtime.py": ("import crewai.hooks", {PURE_ENGINE, ONE_PLACE}),
    "telemetry/runtime.py": ("from crewai import Crew", {PURE_TELEMETRY, ONE_PLACE}),
    "pipeline/runtime.py": ("import crewai", {ONE_PLACE}),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the source tree with its configuration."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


def run(tree: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tool in the copy, which takes the place of the installed package."""
    return subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=tree,
        env={"PYTHONPATH": str(tree / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def verdicts(tree: Path) -> tuple[int, dict[str, str]]:
    """Return lint-imports' exit code and its verdict on each contract."""
    result = run(tree, "lint-imports", "--no-logo", "--no-cache")
    return result.returncode, dict(CONTRACT.findall(result.stdout))


def test_the_tree_keeps_every_contract(tree: Path) -> None:
    expected = dict.fromkeys([DOWN, PURE_ENGINE, PURE_TELEMETRY, ONE_PLACE], "KEPT")
    assert verdicts(tree) == (0, expected)


@pytest.mark.parametrize("module", FORBIDDEN)
def test_a_forbidden_import_breaks_its_contract(tree: Path, module: str) -> None:
    text, broken = FORBIDDEN[module]
    tree.joinpath("src", "hookspan", module).write_text(text + "\n", encoding="utf-8")

    code, verdict = verdicts(tree)

    assert (code, {name for name in verdict if verdict[name] == "BROKEN"}) == (1, broken)


@pytest.mark.parametrize(
    ("module", "codes"),
    [
        ("telemetry/sdk.py", ["TID251"]),
        ("integrations/sdk.py", ["TID251"]),
        ("pipeline/sdk.py", []),
    ],
)
@pytest.mark.parametrize("package", ["opentelemetry.sdk.trace", "opentelemetry.exporter.otlp"])
def test_only_the_pipeline_imports_the_sdk(
    tree: Path, module: str, codes: list[str], package: str
) -> None:
    path = tree.joinpath("src", "hookspan", module)
    path.write_text(f"import {package}\n", encoding="utf-8")

    result = run(tree, "ruff", "check", "--no-cache", "--select=TID251", "--output-format=json")

    assert [finding["code"] for finding in json.loads(result.stdout)] == codes

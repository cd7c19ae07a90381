"""The proof that `hookspan points --check` gives is one: every cell, and none of it by itself."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai.memory.unified_memory import Memory as CrewMemory
from rich.console import Console

from hookspan import InterceptionPoint
from hookspan.cli import points as command
from hookspan.cli.catalogue.check import Cell, play
from hookspan.cli.catalogue.evidence import ACTIONS, Evidence, Scene
from hookspan.cli.catalogue.scenes import SCENES
from hookspan.integrations.crewai import versions
from hookspan.integrations.crewai.points.catalogue import FACTS
from tests.kit.memory import Memory

REFUSED = {("pre_model_call", "replace"), ("pre_tool_call", "replace")}
BLOCKED = {"pre_tool_call", "pre_delegation"}
CELLS = [(scene, action) for scene in SCENES for action in ACTIONS]
DOCS = Path(__file__).parents[3] / "docs" / "points.md"


def name_of(value: object) -> str:
    return value.point.value if isinstance(value, Scene) else str(value)


def expected(scene: Scene, action: str) -> str:
    point = scene.point.value
    if action == "abort":
        return "blocked" if point in BLOCKED else "raised"
    return "refused" if (point, action) in REFUSED else "ok"


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_ALLOW_FLOW_SCRIPT_EXECUTION", "1")


@pytest.mark.usefixtures("allowed", "instrumented")
@pytest.mark.parametrize(("scene", "action"), CELLS, ids=name_of)
def test_every_cell_holds(scene: Scene, action: str) -> None:
    assert play(scene, action) == Cell(expected(scene, action))


def test_there_is_a_scene_and_a_line_of_facts_for_every_point() -> None:
    assert [scene.point for scene in SCENES] == list(InterceptionPoint)
    assert [facts.point for facts in FACTS] == list(InterceptionPoint)


@pytest.mark.usefixtures("allowed", "switched_off")
@pytest.mark.parametrize("scene", SCENES[10:], ids=name_of)
def test_without_a_seam_no_cell_of_an_added_point_holds(scene: Scene) -> None:
    """As on a crewAI of which nothing is instrumented."""
    assert [play(scene, action).verdict for action in ACTIONS] == ["FAILED"] * 4


def silent(_evidence: Evidence) -> str:
    return ""


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("action", ACTIONS)
def test_a_run_that_comes_to_no_point_fails_the_cell(action: str) -> None:
    scene = SCENES[0]
    said = play(dataclasses.replace(scene, run=silent), action)
    assert said.verdict == "FAILED"
    assert said.why.startswith("asked 0 times; effect [] is not ")


@pytest.mark.usefixtures("instrumented", "allowed")
@pytest.mark.parametrize("scene", SCENES, ids=name_of)
def test_what_hookspan_says_of_itself_is_no_evidence(scene: Scene) -> None:
    """The hook is asked and the effect recorded, and the run shows nothing of it."""

    def shows_nothing(_evidence: Evidence) -> str:
        scene.run(Evidence())
        return ""

    said = play(dataclasses.replace(scene, run=shows_nothing), "replace")
    assert said.verdict == "FAILED"
    assert said.why.startswith(scene.proof)


def useless(_ctx: Any) -> None:
    """Do nothing."""


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("scene", SCENES[:10], ids=name_of)
def test_a_hook_that_does_nothing_changes_nothing(scene: Scene) -> None:
    idle = dataclasses.replace(scene, mutate=useless)
    assert play(idle, "mutate").verdict == "FAILED"


def printed(show: Callable[[Console], Any], encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(Console(file=stream, width=80, no_color=True, highlight=False, markup=False))
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_table_fits_a_terminal_without_colour(instrumented: Memory, encoding: str) -> None:
    installed = versions.find()
    text = printed(lambda console: command.tell(console, installed), encoding)
    assert max(map(len, text.splitlines())) <= 80
    rows = re.findall(r"^(\w+) +(yes|NO) ", text, re.MULTILINE)
    assert rows == [(point.value, "yes") for point in InterceptionPoint]
    assert f"20 of 20 points on crewAI {installed.version}." in text


def test_a_point_that_is_not_wired_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(CrewMemory, "recall")
    text = printed(lambda console: command.tell(console, versions.find()))
    assert re.findall(r"^(\w+) +NO ", text, re.MULTILINE) == ["memory_read"]
    assert "19 of 20 points" in text
    missing = "not instrumented: memory_read (no crewai.memory.unified_memory.Memory.recall)"
    assert missing in " ".join(text.split())


def test_the_docs_say_what_the_catalogue_says() -> None:
    text = DOCS.read_text(encoding="utf-8")
    row = r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| `(.+?)` \|$"
    rows = re.findall(row, text.replace("\\*", "*"), re.MULTILINE)
    assert rows == [(facts.point.name, *facts[2:5], facts.seam) for facts in FACTS]
    section = re.compile(r"^### (\w+)\n(.*?)(?=^###|\Z)", re.MULTILINE | re.DOTALL)
    sections = {name: " ".join(said.split()) for name, said in section.findall(text)}
    for facts in FACTS:
        notes = "- " + " - ".join(facts.around)
        assert sections[facts.point.name].replace("(\\*)", "*") == notes

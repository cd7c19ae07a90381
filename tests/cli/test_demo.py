"""The demonstration, from the outside."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import Ended, hookspan

pytestmark = pytest.mark.xdist_group("cli")

TREES = """\
◇ support_desk flow completed 1 denied 2 crashed
├─ execution_start proceeded authorize=passed
├─ input modified default_language=modified
├─ ◆ support_crew crew completed 1 denied 2 crashed
│ ├─ execution_start proceeded authorize=passed
│ ├─ input proceeded default_language=passed
│ ├─ pre_model_call modified strip_secrets=modified
│ ├─ pre_tool_call look_up_order proceeded
│ │ check_quota=errored require_order_number=passed guard_deletes=filtered
│ │ log_tool_call=passed
│ │ ! check_quota crashed: KeyError; the run went on (fail-open)
│ ├─ pre_model_call proceeded strip_secrets=passed
│ ├─ pre_tool_call delete_file aborted
│ │ check_quota=errored require_order_number=filtered guard_deletes=aborted
│ │ log_tool_call=not_reached
│ │ ✗ file deletion is not allowed (source: policy) → blocked, run went on
│ │ ! check_quota crashed: KeyError; the run went on (fail-open)
│ ├─ pre_model_call proceeded strip_secrets=passed
│ ├─ post_step answer_ticket proceeded log_step=passed
│ ├─ output modified redact_email=modified
│ └─ execution_end proceeded report=passed
├─ post_step handle_ticket proceeded log_step=passed
├─ output proceeded redact_email=passed
└─ execution_end proceeded report=passed

◇ support_desk flow aborted 1 denied
│ ✗ raised hookspan.contract.errors.HookAborted
└─ execution_start aborted authorize=aborted
✗ unauthorized execution (source: access-control) → raised to the caller
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("demo")
    ended = hookspan("demo", "--svg", "picture.svg", cwd=folder, environ={"NO_COLOR": "1"})
    assert "KeyError" in (folder / "picture.svg").read_text(encoding="utf-8")
    return ended


def without_durations(line: str) -> str:
    """Return a line's words without the duration among them."""
    words = line.split()
    units = [index for index, word in enumerate(words) if word in {"ms", "s"}]
    for index in reversed(units):
        del words[index - 1 : index + 1]
    return " ".join(words)


def test_the_trees(text: Ended) -> None:
    trees = text.stdout.partition("\n\n")[2].partition("\n\nPoint")[0]

    assert "\n".join(map(without_durations, trees.splitlines())) + "\n" == TREES
    assert text.code == 0


def test_the_summary(text: Ended) -> None:
    summary = text.stdout.partition("\n\nPoint")[2].splitlines()[1:]

    assert [line.split()[:6] for line in summary[:8]] == [
        ["execution_start", "3", "2", "0", "1", "0"],
        ["input", "2", "1", "1", "0", "0"],
        ["output", "2", "1", "1", "0", "0"],
        ["execution_end", "2", "2", "0", "0", "0"],
        ["pre_model_call", "3", "2", "1", "0", "0"],
        ["pre_tool_call", "2", "1", "0", "1", "2"],
        ["post_step", "2", "2", "0", "0", "0"],
        ["total", "16", "11", "3", "2", "2"],
    ]
    assert summary[8:] == [
        "",
        "Denied",
        "  pre_tool_call delete_file in support_crew",
        "    ✗ file deletion is not allowed (source: policy) → blocked, run went on",
        "  execution_start in support_desk",
        "    ✗ unauthorized execution (source: access-control) → raised to the caller",
        "",
        "Crashed",
        "  pre_tool_call check_quota x2: ! KeyError; the run went on (fail-open)",
        "",
        "Runs",
        "  ◇ support_desk flow: completed, something in it was denied",
        "  ◆ support_crew crew: completed, something in it was denied",
        "  ◇ support_desk flow: aborted",
        "",
        (
            "hookspan: no OTLP endpoint is set: nothing left this process;"
            " set OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 to send it"
        ),
    ]


def test_it_is_readable_in_80_columns(text: Ended) -> None:
    assert [line for line in text.stdout.splitlines()[:-1] if len(line) > 80] == []
    assert "\x1b" not in text.stdout + text.stderr


def test_the_steps_are_on_standard_error(text: Ended) -> None:
    assert re.sub(r" \([\d.]+ m?s\)", "", text.stderr) == (
        "Importing crewAI, which takes seconds\n"
        "Registering ten hooks\n"
        "ada asks the support desk: Order A-1042 has shipped. Write to [e-mail] to change\n"
        "it.\n"
        "mallory asks the support desk: denied, unauthorized execution\n"
        "\n"
    )


def nodes(trees: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for tree in trees:
        yield tree
        yield from nodes(tree["children"])


def test_the_document_counts_what_is_in_its_trees(tmp_path: Path) -> None:
    ended = hookspan("demo", "--json", cwd=tmp_path)

    document = json.loads(ended.stdout)
    everything = list(nodes(document["runs"]))
    dispatches = [node["attributes"] for node in everything if node["type"] == "dispatch"]
    counted = Counter(
        (attributes["crewai.hook.point"], attributes["crewai.hook.outcome"])
        for attributes in dispatches
    )
    summary = document["summary"]
    assert ended.code == 0
    assert counted == {
        (point["point"], outcome): point[outcome]
        for point in summary["points"]
        for outcome in ("proceeded", "modified", "aborted")
        if point[outcome]
    }
    assert summary["total"]["dispatches"] == len(dispatches) == 16
    assert summary["total"]["crashed"] == sum(len(node["crashes"]) for node in everything) == 2
    assert sum(run["count"] for run in summary["runs"]) == len(everything) - len(dispatches)
    assert {attributes["crewai.execution_uuid"] for attributes in dispatches} == {
        tree["attributes"]["crewai.execution_uuid"] for tree in document["runs"]
    }


def test_the_disabled_sdk_is_one_line(tmp_path: Path) -> None:
    ended = hookspan("demo", cwd=tmp_path, environ={"OTEL_SDK_DISABLED": "true"})

    assert (ended.code, ended.stdout) == (
        0,
        "hookspan: OTEL_SDK_DISABLED=true: nothing was recorded\n",
    )

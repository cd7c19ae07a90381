"""What is generated from the registry: committed as generated, and equal to what is declared."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hookspan.telemetry import semconv as constants_module
from semconv import constants, generate, registry, tables

ROOT = Path(__file__).parents[2]
SIGNALS = registry.load()


def test_committed_files_are_the_generated_ones() -> None:
    committed = {path: (ROOT / path).read_text("utf-8") for path in generate.outputs()}
    assert committed == generate.outputs()


def test_check_names_each_stale_file_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "src/hookspan/telemetry/semconv.py is out of date: run python -m semconv.generate",
        "docs/signals.md is out of date: run python -m semconv.generate",
    ]
    assert list(tmp_path.iterdir()) == []


def test_writing_makes_the_check_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main([]) == 0
    assert (tmp_path / "docs/signals.md").read_text("utf-8") == tables.render(SIGNALS)
    capsys.readouterr()
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_every_name_is_a_constant_and_no_constant_is_anything_else() -> None:
    expected: dict[str, object] = {"SCOPE": "hookspan"}
    for key, attribute in SIGNALS.by_key.items():
        expected[constants.constant(key)] = key
        if isinstance(attribute.type, registry.Enumeration):
            for member in attribute.type.members:
                expected[constants.constant(f"{key}.{member.id}")] = member.value
    for metric in SIGNALS.metrics:
        expected[f"METRIC_{constants.constant(metric.name)}"] = constants_module.Metric(
            metric.name, metric.unit, metric.brief, metric.annotations.hookspan.boundaries
        )
    for event in SIGNALS.events:
        expected[f"EVENT_{constants.constant(event.name)}"] = event.name
    actual = {name: value for name, value in vars(constants_module).items() if name.isupper()}
    assert actual == expected


def test_two_names_for_one_constant_are_refused() -> None:
    attribute = SIGNALS.by_key["crewai.crew.id"]
    twin = attribute.model_copy(update={"key": "crewai.crew_id"})
    with pytest.raises(ValueError, match="one constant for two names: CREWAI_CREW_ID"):
        constants.render(SIGNALS.model_copy(update={"attributes": (attribute, twin)}))


@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not installed")
def test_constants_are_formatted_as_ruff_does() -> None:
    text = constants.render(SIGNALS)
    command = ["ruff", "format", "--isolated", "--line-length=100", "--stdin-filename=x.py", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == text


def test_names_in_prometheus() -> None:
    assert [tables.prometheus_name(metric) for metric in SIGNALS.metrics] == [
        "crewai_hook_dispatches_total",
        "crewai_hook_dispatch_duration_seconds",
        "crewai_hook_aborts_total",
        "crewai_hook_exceptions_total",
        "crewai_hook_invocations_total",
        "crewai_hook_invocation_duration_seconds",
        "crewai_hook_budget_exceeded_total",
        "crewai_hook_registration_count",
        "crewai_operations_total",
        "crewai_hook_dispatch_active",
        "crewai_hook_dispatch_oldest_seconds",
        "crewai_executions_total",
        "crewai_execution_active",
        "gen_ai_invoke_workflow_duration_seconds",
        "gen_ai_invoke_agent_duration_seconds",
        "hookspan_point_instrumented",
        "hookspan_errors_total",
    ]


def test_page_names_every_signal_attribute_and_value() -> None:
    page = tables.render(SIGNALS)
    names = [f"`{name}`" for span in SIGNALS.spans for name in span.annotations.hookspan.names]
    names += [f"`{metric.name}`" for metric in SIGNALS.metrics]
    names += [f"`{event.name}`" for event in SIGNALS.events]
    names += [f"| `{key}` | " for key in SIGNALS.by_key]
    for attribute in SIGNALS.attributes:
        if isinstance(attribute.type, registry.Enumeration):
            names += [f"| `{member.value}` | {member.brief} |" for member in attribute.type.members]
    assert [name for name in names if name not in page] == []


def test_rows_of_a_table_have_as_many_cells_as_its_head() -> None:
    blocks = tables.render(SIGNALS).split("\n\n")
    found = [block for block in blocks if block.startswith("| ")]
    ragged = [t for t in found if len({line.count("|") for line in t.splitlines()}) != 1]
    assert len(found) > len(SIGNALS.spans)
    assert ragged == []

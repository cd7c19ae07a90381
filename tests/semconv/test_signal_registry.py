"""The registry: what the loader refuses, and what it holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from hookspan.contract.outcomes import HookOutcome, Outcome
from hookspan.contract.points import InterceptionPoint
from semconv import live_check, registry

if TYPE_CHECKING:
    from pathlib import Path

SIGNALS = registry.load()

SAMPLE = """
file_format: definition/2
attributes:
  - {key: demo.name, type: string, brief: Name., stability: development, examples: [a]}
  - {key: demo.size, type: int, brief: Size., stability: development}
attribute_groups:
  - {id: identity.demo, visibility: internal, attributes: [{ref: demo.name}]}
metrics:
  - name: demo.things
    instrument: counter
    unit: "{thing}"
    brief: Things.
    stability: development
    annotations: {code_generation: {metric_value_type: int}}
    attributes: [{ref: demo.size, requirement_level: required}, {ref_group: identity.demo}]
"""


def load(directory: Path, text: str) -> registry.Registry:
    """Load a registry that is one file of the given text."""
    (directory / "demo.yaml").write_text(text, "utf-8")
    return registry.load(directory)


def test_groups_are_resolved_in_place(tmp_path: Path) -> None:
    (metric,) = load(tmp_path, SAMPLE).metrics
    assert {key: use.requirement_level for key, use in metric.references.items()} == {
        "demo.size": "required",
        "demo.name": "recommended",
    }


def test_files_add_up_and_the_manifest_is_left_alone(tmp_path: Path) -> None:
    head, metrics = SAMPLE.split("metrics:\n")
    (tmp_path / "first.yaml").write_text(head, "utf-8")
    (tmp_path / "manifest.yaml").write_text("schema_url: https://example.com/1.0.0", "utf-8")
    whole = load(tmp_path, f"file_format: definition/2\nmetrics:\n{metrics}")
    assert list(whole.by_key) == ["demo.name", "demo.size"]
    assert [metric.name for metric in whole.metrics] == ["demo.things"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("file_format: definition/2", "file_format: definition/1"),
        ("file_format: definition/2", "file_format: definition/2\nentities: []"),
        ("examples: [a]", "examples: [a], deprecated: true"),
        ("type: int,", "type: integer,"),
        ("type: int,", "type: {members: [{id: a, value: a, brief: A, stability: stable, x: 1}]},"),
        ("stability: development\n    ann", "stability: experimental\n    ann"),
        ("visibility: internal", "visibility: public"),
        ("instrument: counter", "instrument: summary"),
        ('unit: "{thing}"', "unit: 1"),
        ("brief: Things.", "brief: Things.\n    kind: internal"),
        ("requirement_level: required", "requirement_level: mandatory"),
        ("requirement_level: required", "requirement_level: {required: Always.}"),
        ("metric_value_type: int", "metric_value_type: int, extra: 1"),
        ("annotations: {", "annotations: {other: {}, "),
        ("annotations: {", "annotations: {hookspan: {bounds: [1]}, "),
        ("annotations: {", 'annotations: {hookspan: {boundaries: ["1"]}, '),
        ("{ref_group: identity.demo}", "{ref_group: identity.demo, requirement_level: required}"),
    ],
)
def test_unknown_keys_and_wrong_types_are_refused(tmp_path: Path, old: str, new: str) -> None:
    assert SAMPLE.count(old) == 1
    with pytest.raises(ValidationError):
        load(tmp_path, SAMPLE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("key: demo.size", "key: demo.name", "defined twice: demo.name"),
        ("{ref: demo.size,", "{ref: demo.name,", "defined twice: demo.name"),
        ("{ref_group: identity.demo}", "{ref_group: identity.other}", "no group identity.other"),
        ("[{ref: demo.name}]", "[{ref: demo.title}]", "not used: demo.name, demo.title"),
        (", {ref_group: identity.demo}", "", "not used: demo.name"),
    ],
)
def test_dangling_and_double_definitions_are_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert SAMPLE.count(old) == 1
    with pytest.raises(ValueError, match=re.escape(message)):
        load(tmp_path, SAMPLE.replace(old, new))


@pytest.mark.parametrize("kind", ["metric", "event", "span"])
def test_a_signal_cannot_be_defined_twice(tmp_path: Path, kind: str) -> None:
    common = "brief: A., stability: development, attributes: []"
    part = {
        "metric": f"{{name: demo, instrument: gauge, unit: s, {common}}}",
        "event": f"{{name: demo, {common}}}",
        "span": f"{{type: demo, kind: internal, name: {{note: A}}, {common}}}",
    }[kind]
    with pytest.raises(ValueError, match="defined twice: demo"):
        load(tmp_path, f"file_format: definition/2\n{kind}s: [{part}, {part}]")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("crewai.hook.point", [point.value for point in InterceptionPoint]),
        ("crewai.hook.outcome", [outcome.value for outcome in Outcome]),
        # A hook that was not reached has no span and no point: only the chain tells of it.
        (
            "crewai.hook.result",
            [result.value for result in HookOutcome if result is not HookOutcome.NOT_REACHED],
        ),
    ],
)
def test_enumerations_are_those_of_the_contract(key: str, values: list[str]) -> None:
    declared = SIGNALS.by_key[key].type
    assert isinstance(declared, registry.Enumeration)
    assert [member.value for member in declared.members] == values


def test_examples_have_the_type_of_their_attribute() -> None:
    assert [
        (key, example)
        for key, attribute in SIGNALS.by_key.items()
        for example in attribute.examples
        if not live_check.typed(attribute, example)
    ] == []


def test_texts_and_arrays_have_examples() -> None:
    without = [
        key
        for key, attribute in SIGNALS.by_key.items()
        if attribute.type in {"string", "string[]", "int", "double"} and not attribute.examples
    ]
    assert without == []

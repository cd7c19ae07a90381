"""Rules and dashboards name only what is emitted, and follow a user's settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hookspan.cli import main
from hookspan.mixin import MixinSettings, dashboards, questions, records, rules, series
from semconv import registry
from semconv.tables import prometheus_name

SETTINGS = MixinSettings()
DASHBOARDS = dashboards.all_dashboards(SETTINGS)
METRICS = registry.load().metrics


def emitted() -> dict[str, set[str]]:
    """Return the labels of each series that a scrape has."""
    found: dict[str, set[str]] = {}
    for metric in METRICS:
        labels = {series.label(key) for key in metric.references}
        name = prometheus_name(metric)
        parts = ("_bucket", "_count", "_sum") if metric.instrument == "histogram" else ("",)
        for part in parts:
            found[name + part] = labels | ({"le"} if part == "_bucket" else set())
    return found


def panels() -> list[tuple[str, dict[str, Any]]]:
    """Return every panel with the uid of its dashboard."""
    return [(made["uid"], panel) for made in DASHBOARDS for panel in made["panels"]]


def expressions() -> list[str]:
    """Return every expression of rules and panels that goes to Prometheus."""
    asked = [rule["expr"] for group in rules.groups(SETTINGS) for rule in group["rules"]]
    for _, panel in panels():
        if panel["datasource"]["type"] == "prometheus":
            asked += [target["expr"] for target in panel["targets"]]
    return asked


def test_counters_are_recorded_with_labels_that_they_have() -> None:
    labels = emitted()

    for counted in records.COUNTED:
        assert set(counted.labels) <= labels[counted.name], counted.name


def test_every_metric_that_is_named_is_emitted_or_recorded() -> None:
    recorded = {
        rule["record"] for g in rules.groups(SETTINGS) for rule in g["rules"] if "record" in rule
    }
    named: set[str] = set()
    for expression in expressions():
        bare = re.sub(r'"[^"]*"', "", expression)
        named |= set(re.findall(r"(?<![\w:])(?:crewai|gen_ai|hookspan)_\w+(?=[{ )\[]|$)", bare))
        for name in re.findall(r"[a-z_]+:[a-z_]+:\w+", bare):
            assert name in recorded
    attributes = {label for labels in emitted().values() for label in labels}

    assert named - attributes
    assert named - attributes <= set(emitted())


def test_nothing_names_an_instance_or_makes_up_a_value() -> None:
    for expression in expressions():
        assert not re.search(r"\binstance\b|otel_scope|\bvector\(", expression), expression


def test_panels_have_ids_places_and_a_source_that_can_be_chosen() -> None:
    for made in DASHBOARDS:
        ids = [panel["id"] for panel in made["panels"]]
        cells = {
            (x, y)
            for panel in made["panels"]
            for place in [panel["gridPos"]]
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert len(set(ids)) == len(ids)
        size = sum(panel["gridPos"]["w"] * panel["gridPos"]["h"] for panel in made["panels"])
        assert len(cells) == size
        assert "${DS_" not in json.dumps(made)


def test_every_question_leads_somewhere_that_exists() -> None:
    there = {(uid, panel["title"]) for uid, panel in panels()}
    alerts = {alert.name for alert in rules.all_alerts(SETTINGS)}

    assert len(questions.QUESTIONS) == 24
    for question in questions.QUESTIONS:
        assert question.panels or question.otherwise, question.text
        assert set(question.panels) <= there, question.text
        assert set(re.findall(r"Hookspan\w+", question.otherwise)) <= alerts


def test_every_alert_says_what_to_do_and_where_to_look() -> None:
    uids = {made["uid"] for made in DASHBOARDS}

    for alert in rules.all_alerts(SETTINGS):
        assert alert.dashboard in uids
        assert all((alert.summary, alert.description, alert.meaning, alert.look, alert.act))


def test_settings_reach_the_rules_and_check_sees_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text('{"abort_share": 0.5, "selector": "env=\\"prod\\""}', encoding="utf-8")
    out = ["--out", str(tmp_path / "out"), "--settings", str(mine)]

    assert main(["mixin", "build", *out]) == 0
    made = (tmp_path / "out" / "prometheus" / "hookspan.rules.yaml").read_text("utf-8")
    assert "> 0.5" in made
    assert 'crewai_hook_dispatches_total{env=\\"prod\\"}' in made or (
        'crewai_hook_dispatches_total{env="prod"}' in made
    )
    assert main(["mixin", "check", *out]) == 0
    mine.write_text('{"abort_share": 0.6}', encoding="utf-8")
    assert main(["mixin", "check", *out]) == 1
    assert "is out of date" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('{"window": "5 minutes"}', "not a duration"),
        ('{"long_window": "7m"}', "multiple of window"),
        ('{"tick": "7s"}', "multiple of tick"),
        ('{"abort_budget": 0.1}', "can never alert"),
        ('{"abort_shar": 0.1}', "Extra inputs"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, settings: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(settings, encoding="utf-8")

    assert main(["mixin", "check", "--settings", str(file)]) == 2
    assert said in capsys.readouterr().err
    with pytest.raises(ValidationError):
        MixinSettings.model_validate_json(settings)

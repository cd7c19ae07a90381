"""The naming rules of OpenTelemetry, applied to every name of the registry."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from semconv import registry, tables

SIGNALS = registry.load()
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)+")
UNIT_WORDS = {"bytes", "milliseconds", "ms", "percent", "ratio", "s", "seconds", "total"}
PERSONAL = re.compile(r"(\.id|\.key|_uuid|\.reason|\.message)$")


def metric_faults(name: str, instrument: str, unit: str) -> list[str]:
    """Return which rules a metric breaks."""
    last = name.rpartition(".")[2]
    thing = unit.strip("{}")
    plural = f"{thing}es" if thing.endswith(("ch", "s", "x")) else f"{thing}s"
    rules = {
        "lower case with dots": NAME.fullmatch(name) is not None,
        "no unit in the name": UNIT_WORDS.isdisjoint(re.split(r"[._]", name)),
        "a counter is the plural of its unit": instrument != "counter" or last == plural,
        "only counters are plural": instrument == "counter" or last != plural,
        "a count has a unit in braces": unit == "s"
        or re.fullmatch(r"\{[a-z]+\}", unit) is not None,
        "a duration is a histogram in s": (last == "duration") == (instrument == "histogram")
        and (last != "duration" or unit == "s"),
    }
    return [rule for rule, kept in rules.items() if not kept]


def test_metrics_follow_the_rules() -> None:
    faults = {m.name: metric_faults(m.name, m.instrument, m.unit) for m in SIGNALS.metrics}
    assert {name: broken for name, broken in faults.items() if broken} == {
        # It counts invocations, and is named for what happened to them.
        "crewai.hook.budget.exceeded": ["a counter is the plural of its unit"]
    }


@pytest.mark.parametrize(
    ("name", "instrument", "unit", "fault"),
    [
        ("crewai.Hook.aborts", "counter", "{abort}", "lower case with dots"),
        ("aborts", "counter", "{abort}", "lower case with dots"),
        ("crewai.hook.wait_seconds", "gauge", "s", "no unit in the name"),
        ("crewai.hook.aborts_total", "counter", "{abort}", "no unit in the name"),
        ("crewai.hook.abort", "counter", "{abort}", "a counter is the plural of its unit"),
        ("crewai.hook.aborts", "counter", "{dispatch}", "a counter is the plural of its unit"),
        ("crewai.hook.dispatches", "updowncounter", "{dispatch}", "only counters are plural"),
        ("crewai.hook.active", "updowncounter", "1", "a count has a unit in braces"),
        ("crewai.hook.duration", "histogram", "{dispatch}", "a duration is a histogram in s"),
        ("crewai.hook.duration", "gauge", "s", "a duration is a histogram in s"),
        ("crewai.hook.latency", "histogram", "s", "a duration is a histogram in s"),
    ],
)
def test_each_rule_can_be_broken(name: str, instrument: str, unit: str, fault: str) -> None:
    assert fault in metric_faults(name, instrument, unit)


def test_attributes_and_events_are_lower_case_with_dots() -> None:
    names = [*SIGNALS.by_key, *(event.name for event in SIGNALS.events)]
    assert [name for name in names if not NAME.fullmatch(name)] == ["exception"]


def test_no_attribute_is_the_namespace_of_another() -> None:
    keys = set(SIGNALS.by_key)
    spaces = {key[: found.start()] for key in keys for found in re.finditer(r"\.", key)}
    assert keys & spaces == set()


def test_counts_are_whole_and_times_are_not() -> None:
    types = {
        metric.name: code.metric_value_type
        for metric in SIGNALS.metrics
        if (code := metric.annotations.code_generation)
    }
    assert types == {m.name: "double" if m.unit == "s" else "int" for m in SIGNALS.metrics}


def test_exactly_histograms_have_bounds_and_the_bounds_rise() -> None:
    bounds = {m.name: m.annotations.hookspan.boundaries for m in SIGNALS.metrics}
    histograms = {m.name for m in SIGNALS.metrics if m.instrument == "histogram"}
    assert {name for name, found in bounds.items() if found} == histograms
    for found in filter(None, bounds.values()):
        assert list(found) == sorted(set(found))


def test_metrics_carry_no_identifier_and_no_free_text() -> None:
    keys = {key for metric in SIGNALS.metrics for key in metric.references}
    assert {key for key in keys if PERSONAL.search(key)} == set()


def test_names_stay_apart_in_prometheus() -> None:
    metrics = Counter(tables.prometheus_name(metric) for metric in SIGNALS.metrics)
    labels = Counter(key.replace(".", "_") for key in SIGNALS.by_key)
    assert [name for name, times in (metrics + labels).items() if times > 1] == []


def test_message_of_an_exception_is_opt_in_everywhere() -> None:
    signals = (*SIGNALS.spans, *SIGNALS.metrics, *SIGNALS.events)
    uses = [signal.references.get("exception.message") for signal in signals]
    levels = [use.requirement_level for use in uses if use]
    assert levels == ["opt_in"] * 3

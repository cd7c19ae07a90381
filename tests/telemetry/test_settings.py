"""Settings by argument and by environment."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import pytest

from hookspan.contract.errors import InstrumentationError
from hookspan.contract.points import InterceptionPoint
from hookspan.telemetry.settings import PREFIX, Settings


def test_every_setting_can_be_given_both_ways() -> None:
    values = {
        "spans": "off",
        "hook_spans": "never",
        "fail_closed": "policies.*, guard",
        "shadow": "beta.*",
        "hook_budget_ms": "50",
        "capture_content": "span_only",
        "content_points": "input",
        "execution_span": "false",
        "abort_status": "error",
        "capture_abort_reason": "off",
        "capture_exception_message": "1",
        "points": "input, OUTPUT",
        "require_points": "input",
        "max_workflow_names": "3",
        "max_sources": "4",
        "max_hook_names": "5",
    }
    assert {*values, "redactor"} == {field.name for field in fields(Settings)}
    environ = {PREFIX + name.upper(): value for name, value in values.items()}
    environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    assert Settings.load({}, environ) == Settings.load(values, {}) != Settings()
    assert Settings.load({}, environ).points == {"input", "output"}
    assert Settings.load({}, environ).fail_closed == ("policies.*", "guard")


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("execution_span", False, False),
        ("capture_exception_message", True, True),
        ("points", [InterceptionPoint.INPUT, "output"], {"input", "output"}),
        ("require_points", {"memory_read"}, {"memory_read"}),
        ("max_sources", 7, 7),
        ("fail_closed", ["policies.*"], ("policies.*",)),
        ("redactor", str.upper, str.upper),
    ],
)
def test_an_argument_may_have_its_own_type(name: str, value: Any, read: Any) -> None:
    assert getattr(Settings.load({name: value}, {}), name) == read


def test_an_argument_wins_and_none_is_not_one() -> None:
    environ = {PREFIX + "SPANS": "off"}
    assert Settings.load({"spans": "all"}, environ).spans == "all"
    assert Settings.load({"spans": None}, environ).spans == "off"


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_variable_is_unset(value: str, caplog: pytest.LogCaptureFixture) -> None:
    assert Settings.load({}, {PREFIX + "MAX_SOURCES": value}) == Settings()
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPANS", "some"),
        ("EXECUTION_SPAN", "maybe"),
        ("MAX_SOURCES", "0"),
        ("MAX_SOURCES", "-1"),
        ("POINTS", "input,nowhere"),
        ("FAIL_CLOSED", "true"),
        ("SHADOW", "on"),
        ("HOOK_BUDGET_MS", "0.5"),
    ],
)
def test_an_invalid_variable_is_one_warning(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert Settings.load({}, {PREFIX + name: value}) == Settings()
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert PREFIX + name in line.getMessage()
    assert value in line.getMessage()


@pytest.mark.parametrize(
    "arguments",
    [
        {"spans": "some"},
        {"points": ["nowhere"]},
        {"max_sources": 0},
        {"nope": 1},
        {"redactor": "mask"},
        {"hook_budget_ms": 0.5},
        {"fail_closed": True},
    ],
)
def test_an_invalid_argument_raises_and_says_which(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(InstrumentationError, match=name):
        Settings.load(arguments, {})

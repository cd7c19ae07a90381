"""The catalogue of points, value by value."""

from __future__ import annotations

import itertools
from enum import Enum

import pytest

from hookspan.contract import points
from hookspan.contract.points import InterceptionPoint

CATALOGUE = {
    "BOUNDARY_POINTS": ["execution_start", "input", "output", "execution_end"],
    "MODEL_POINTS": ["pre_model_call", "post_model_call"],
    "TOOL_POINTS": ["pre_tool_call", "post_tool_call"],
    "STEP_POINTS": ["pre_step", "post_step", "tool_selection", "pre_delegation", "retry_attempt"],
    "SUBSYSTEM_POINTS": [
        "memory_write",
        "memory_read",
        "knowledge_retrieval",
        "pre_code_execution",
        "mcp_connect",
    ],
    "FLOW_POINTS": ["flow_transition", "router_decision"],
}


class Foreign(str, Enum):
    """The points as another runtime would define them."""

    PRE_TOOL_CALL = "pre_tool_call"


def test_there_are_these_twenty_points_in_this_order() -> None:
    """'The full catalog of framework-native interception points'."""
    assert [point.value for point in InterceptionPoint] == list(
        itertools.chain(*CATALOGUE.values())
    )
    assert len(InterceptionPoint) == 20


def test_a_point_is_named_as_its_value_in_capitals() -> None:
    assert [point.name for point in InterceptionPoint] == [
        point.value.upper() for point in InterceptionPoint
    ]


@pytest.mark.parametrize("group", CATALOGUE)
def test_each_group_holds_the_points_under_its_heading(group: str) -> None:
    """'Execution boundaries', 'Model & tool boundaries', 'Step & agent points', ..."""
    assert getattr(points, group) == frozenset(map(InterceptionPoint, CATALOGUE[group]))


def test_a_foreign_member_and_the_bare_value_are_the_same_point() -> None:
    ours: object = InterceptionPoint.PRE_TOOL_CALL
    theirs: object = Foreign.PRE_TOOL_CALL
    assert ours == theirs == "pre_tool_call"
    assert len({ours, theirs, "pre_tool_call"}) == 1
    assert InterceptionPoint(theirs) is ours

"""The added points: all of their tests in one process, so that crewAI is imported once."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
DEPRECATED = "ignore:datetime.datetime.utcnow:DeprecationWarning"
"""crewAI's memory takes the time in a way that Python 3.12 advises against."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of this folder together."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("points"))
            item.add_marker(pytest.mark.filterwarnings(DEPRECATED))

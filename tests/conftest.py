"""What holds for every test: our own failures are loud, and no hook outlives its test."""

# What the guard has logged, and to whom it tells, is nobody else's business.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Generator

import pytest

from hookspan.engine.api import REGISTRY
from hookspan.engine.guard import GUARD


@pytest.fixture(autouse=True)
def own_failures_are_loud() -> Generator[None]:
    """Let a failure of hookspan itself fail the test, instead of only being counted."""
    listeners, logged = GUARD._listeners, GUARD._logged.copy()
    GUARD.reraise = True
    yield
    GUARD.reraise = False
    GUARD._listeners, GUARD._logged = listeners, logged


@pytest.fixture
def contained(own_failures_are_loud: None) -> None:
    """Take failures of hookspan itself as in production, none of them logged before."""
    GUARD.reraise = False
    GUARD._logged = set()


@pytest.fixture(autouse=True)
def no_hooks() -> Generator[None]:
    """Begin and end with an empty registry."""
    REGISTRY.clear_all()
    yield
    REGISTRY.clear_all()

"""Fixtures of the kit. In a conftest: `from tests.kit.fixtures import receiver as receiver`."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.kit.receiver import Receiver


@pytest.fixture
def receiver() -> Generator[Receiver]:
    """Give a receiver that answers every call well, until its faults are planned."""
    with Receiver() as running:
        yield running

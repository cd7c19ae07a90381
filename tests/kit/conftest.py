"""The kit's own tests use its fixtures as any other test does."""

from __future__ import annotations

from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - says to linters: for others

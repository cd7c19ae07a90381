"""Hooks that say when they were called, and points as another runtime spells them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from hookspan.contract.points import InterceptionPoint

Hook = Callable[[Any], Any]


class Foreign(str, Enum):
    """A point as another runtime would define it."""

    INPUT = "input"


INPUT = InterceptionPoint.INPUT
SPELLINGS: list[Any] = [InterceptionPoint.INPUT, Foreign.INPUT, "input"]
"""The same point as ours, as another runtime's and as a bare value."""


def noting(log: list[str], name: str, result: Any = None) -> Hook:
    """Make a hook that notes its name in a log and returns a value."""

    def hook(_ctx: Any) -> Any:
        log.append(name)
        return result

    hook.__name__ = hook.__qualname__ = name
    return hook


def returning(result: Any) -> Hook:
    """Make a hook that returns this very object."""

    def hook(_ctx: Any) -> Any:
        return result

    return hook


def raising(error: BaseException) -> Hook:
    """Make a hook that raises this very object."""

    def hook(_ctx: Any) -> Any:
        raise error

    return hook

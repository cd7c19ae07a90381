"""Hooks of every temper, and what tests of telemetry share."""

from __future__ import annotations

import time
from typing import Any

from hookspan import HookAborted

HERE = __name__


def passes(_ctx: Any) -> None:
    """Let everything through."""


def edits(ctx: Any) -> None:
    ctx.payload["edited"] = True


def replaces(_ctx: Any) -> dict[str, int]:
    return {"replaced": 1}


def denies(_ctx: Any) -> None:
    reason = "not allowed"
    raise HookAborted(reason, "policy")


def crashes(_ctx: Any) -> None:
    message = "secret"
    raise EOFError(message)


def sleeps(_ctx: Any) -> None:
    time.sleep(0.02)


def without(attributes: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take out attributes that are there and that no test can know."""
    rest = dict(attributes)
    for name in names:
        rest.pop(name)
    return rest

"""A hook that crashes: swallowed, logged, and the chain goes on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from hookspan.contract.contexts import InputContext
from hookspan.engine.api import dispatch, register_hook
from tests.engine.specimens import INPUT, Hook, noting, raising


def register(*hooks: Hook) -> None:
    for hook in hooks:
        register_hook(INPUT, hook)


@pytest.mark.parametrize("error", [RuntimeError("boom"), StopIteration(), AssertionError()])
def test_any_other_exception_is_swallowed(
    error: Exception, log: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """'Any *other* exception raised by a hook is swallowed (fail-open)'."""

    def crash(ctx: Any) -> Any:
        ctx.payload["edited"] = True
        raise error

    register(noting(log, "before"), crash, noting(log, "after"))
    with caplog.at_level(logging.DEBUG, "hookspan"):
        ctx = dispatch(INPUT, InputContext({}))

    assert (log, ctx.payload) == (["before", "after"], {"edited": True})
    name = f"{__name__}.{crash.__qualname__}"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", f"{name} at input raised {type(error).__name__}, ignored"),
        ("DEBUG", f"{name} at input raised"),
    ]


def test_a_quiet_dispatch_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    register(raising(RuntimeError("boom")))
    with caplog.at_level(logging.DEBUG, "hookspan"):
        dispatch(INPUT, InputContext({}), verbose=False)
    assert caplog.records == []


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()],
    ids=lambda error: type(error).__name__,
)
def test_a_base_exception_is_nobodys_to_swallow(error: BaseException, log: list[str]) -> None:
    register(noting(log, "before"), raising(error), noting(log, "after"))
    with pytest.raises(type(error)) as caught:
        dispatch(INPUT, InputContext({}))
    assert caught.value is error
    assert log == ["before"]

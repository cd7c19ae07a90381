"""The error tree, and errors that survive a trip between processes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from hookspan.contract import errors
from hookspan.contract.errors import HookAborted, HookspanError, NotAHookError

TREE: dict[str, list[type[Exception]]] = {
    "HookspanError": [Exception],
    "HookAborted": [HookspanError],
    "RegistrationError": [HookspanError],
    "NotAHookError": [errors.RegistrationError, TypeError],
    "UnknownPointError": [errors.RegistrationError, ValueError],
    "EmptyFilterError": [errors.RegistrationError, ValueError],
    "HookOptionError": [errors.RegistrationError, ValueError],
    "NoScopeError": [HookspanError, RuntimeError],
    "ExecutionStateError": [HookspanError, RuntimeError],
    "InstrumentationError": [HookspanError],
}


def pickled(error: Exception) -> Any:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


def test_the_tree_is_the_one_that_is_drawn() -> None:
    found = {
        name: list(kind.__bases__)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert found == TREE
    assert [name for name in found if name not in (errors.__doc__ or "")] == []


def test_an_abort_carries_a_reason_and_an_optional_source() -> None:
    """'`HookAborted` carries a `reason` and an optional `source`'."""
    bare, full = HookAborted("why"), HookAborted(reason="why", source="who")
    assert (bare.reason, bare.source, str(bare)) == ("why", None, "why")
    assert (full.reason, full.source, str(full)) == ("why", "who", "why")


def test_an_abort_survives_pickling() -> None:
    loaded = pickled(HookAborted("why", "who"))
    assert (type(loaded), loaded.reason, loaded.source) == (HookAborted, "why", "who")


@pytest.mark.parametrize("duplicate", [copy.copy, pickled])
def test_a_registration_error_survives_copying_and_pickling(
    duplicate: Callable[[Exception], Any],
) -> None:
    made = duplicate(NotAHookError("not callable", 3))
    assert (type(made), str(made), made.culprit) == (NotAHookError, "not callable", 3)

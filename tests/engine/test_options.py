"""Options of a registration: what means nothing is refused, and what a hook is called."""

# What a lambda is given does not matter here.
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

from hookspan.contract.errors import HookOptionError
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER, get_hooks, register_hook, unregister_hook
from hookspan.engine.decorators import on
from hookspan.engine.hooks import ConfiguredHook, hook_name, policy_of
from hookspan.engine.policy import PLAIN, POLICIES, Policy
from hookspan.telemetry.hook_facts import names_of
from tests.engine.specimens import INPUT

HERE = __name__


def hook(_ctx: Any) -> None:
    """Do nothing."""


class Callable:
    """An object that is called."""

    def __call__(self, _ctx: Any) -> None:
        """Do nothing."""

    def method(self, _ctx: Any) -> None:
        """Do nothing."""


WRONG: list[dict[str, Any]] = [
    *({"on_error": value} for value in ("Abort", "raise", "", None, True, ["abort"])),
    *({"mode": value} for value in ("dry_run", "SHADOW", "", None, False, {"shadow": 1})),
    *({"budget": value} for value in (0, -1, -0.5, math.nan, True, False, "0.05", [1], object())),
    *({"name": value} for value in ("", "  ", 7, b"name", ["name"])),
    *({"version": value} for value in ("", "\n", 1.2, b"1")),
]


@pytest.mark.parametrize("options", WRONG)
def test_a_wrong_value_is_refused_and_nothing_is_registered(options: dict[str, Any]) -> None:
    ((option, value),) = options.items()
    with pytest.raises(HookOptionError, match=f"^{option}=") as caught:
        on(INPUT, **options)(hook)
    assert caught.value.culprit is value
    assert isinstance(caught.value, ValueError)
    assert all(get_hooks(point) == [] for point in InterceptionPoint)


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ({"on_error": "continue", "mode": "enforce", "budget": None}, PLAIN),
        ({"on_error": "abort"}, Policy(fail_closed=True)),
        ({"mode": "shadow"}, Policy(shadow=True)),
        ({"budget": 2}, Policy(budget=2.0)),
        ({"mode": "shadow", "on_error": "abort", "budget": 0.05}, Policy(True, True, 0.05)),
    ],
)
def test_what_a_hook_is_registered_with_is_how_it_is_treated(
    options: dict[str, Any], policy: Policy
) -> None:
    assert on(INPUT, **options)(hook) is hook
    (held,) = DISPATCHER.registry.store.table[INPUT]
    assert policy_of(held) == policy
    assert (type(held) is ConfiguredHook) is (policy is not PLAIN)
    assert get_hooks(INPUT) == [hook]
    assert unregister_hook(INPUT, hook)


def test_configuration_only_adds() -> None:
    undo = POLICIES.configure(fail_closed=["*"], budget=1.0)
    on(INPUT, budget=0.5, mode="shadow")(hook)
    register_hook(INPUT, hook)
    own, plain = map(policy_of, DISPATCHER.registry.store.table[INPUT])
    undo()
    assert own == Policy(fail_closed=True, shadow=True, budget=0.5)
    assert plain == Policy(fail_closed=True, budget=1.0)


def test_a_configured_name_is_what_patterns_see() -> None:
    undo = POLICIES.configure(shadow=["billing.*"])
    on(INPUT, name="billing.limits")(hook)
    (held,) = DISPATCHER.registry.store.table[INPUT]
    shadowed = policy_of(held).shadow
    undo()
    assert shadowed


def nested() -> Any:
    def inner(_ctx: Any) -> None:
        """Do nothing."""

    return inner


UNNAMED: Any = lambda _ctx: None  # noqa: E731 - what it is called is the point
LINE = UNNAMED.__code__.co_firstlineno
INSTANCE = Callable()

NAMES: list[tuple[Any, str]] = [
    (hook, f"{HERE}.hook"),
    (nested(), f"{HERE}.nested.<locals>.inner"),
    (UNNAMED, f"{HERE}.<lambda>:{LINE}"),
    (functools.partial(hook), f"{HERE}.hook"),
    (functools.partial(functools.partial(hook)), f"{HERE}.hook"),
    (INSTANCE, f"{HERE}.Callable"),
    (INSTANCE.method, f"{HERE}.Callable.method"),
    (functools.partial(INSTANCE.method), f"{HERE}.Callable.method"),
    (functools.partial(INSTANCE), f"{HERE}.Callable"),
    (ConfiguredHook(hook, name="named"), "named"),
    (ConfiguredHook(functools.partial(hook)), f"{HERE}.hook"),
    (ConfiguredHook(UNNAMED), f"{HERE}.<lambda>:{LINE}"),
    (ConfiguredHook(INSTANCE.method), f"{HERE}.Callable.method"),
    (len, "builtins.len"),
    ([].append, "list.append"),
]


@pytest.mark.parametrize("index", range(len(NAMES)))
def test_a_hook_is_called_by_what_it_was_told_or_where_it_is_defined(index: int) -> None:
    assert hook_name(NAMES[index][0]) == NAMES[index][1]


def test_a_hook_that_will_not_say_is_called_by_its_class() -> None:
    class Shy:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __call__(self, _ctx: Any) -> None:
            """Do nothing."""

    name = "test_a_hook_that_will_not_say_is_called_by_its_class.<locals>.Shy"
    assert hook_name(Shy()) == f"{HERE}.{name}"


def test_duplicates_are_told_apart_by_number_in_order() -> None:
    names, duplicates = names_of(
        (hook, UNNAMED, functools.partial(hook), hook, ConfiguredHook(hook, name="named"), UNNAMED)
    )
    assert names == [
        f"{HERE}.hook",
        f"{HERE}.<lambda>:{LINE}",
        f"{HERE}.hook#2",
        f"{HERE}.hook#3",
        "named",
        f"{HERE}.<lambda>:{LINE}#2",
    ]
    assert duplicates == 3
    assert names_of((hook,)) == ([f"{HERE}.hook"], 0)

"""What cannot be a hook is refused with a message that says what, where and how to fix it."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from hookspan.contract.errors import (
    EmptyFilterError,
    NoScopeError,
    NotAHookError,
    RegistrationError,
    UnknownPointError,
)
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import (
    clear_hooks,
    dispatch,
    get_hooks,
    register_hook,
    register_scoped,
    scoped_hooks,
    unregister_hook,
)
from hookspan.engine.decorators import before_llm_call, before_tool_call, on
from tests.engine.specimens import INPUT

HERE = __name__


async def coroutine_hook(_ctx: Any) -> None: ...


async def async_generator_hook(_ctx: Any) -> AsyncGenerator[None]:
    yield


def generator_hook(_ctx: Any) -> Generator[None]:
    yield


class AsyncPolicy:
    async def __call__(self, _ctx: Any) -> None: ...

    async def check(self, _ctx: Any) -> None: ...

    def plain(self, _ctx: Any) -> None: ...


class GeneratorPolicy:
    def __call__(self, _ctx: Any) -> Generator[None]:
        yield


def no_argument() -> None: ...


def two_arguments(_ctx: Any, _more: Any) -> None: ...


def needs_keyword(_ctx: Any, *, _more: Any) -> None: ...


def hook(_ctx: Any) -> None: ...


# What is refused -> the name by which the message calls it.
ASYNCHRONOUS: list[tuple[Any, str]] = [
    (coroutine_hook, "coroutine_hook"),
    (async_generator_hook, "async_generator_hook"),
    (generator_hook, "generator_hook"),
    (AsyncPolicy(), "AsyncPolicy"),
    (AsyncPolicy().check, "AsyncPolicy.check"),
    (GeneratorPolicy(), "GeneratorPolicy"),
    (functools.partial(coroutine_hook), "coroutine_hook"),
    (functools.partial(functools.partial(coroutine_hook)), "coroutine_hook"),
    (functools.partial(AsyncPolicy()), "AsyncPolicy"),
    (staticmethod(coroutine_hook), "coroutine_hook"),
]
UNCALLABLE: list[tuple[Any, str, str]] = [
    (no_argument, "no_argument()", "too many positional arguments"),
    (two_arguments, "two_arguments(_ctx: 'Any', _more: 'Any')", "missing a required argument"),
    (needs_keyword, "needs_keyword(_ctx: 'Any', *, _more: 'Any')", "missing a required"),
    (AsyncPolicy.plain, "AsyncPolicy.plain(self, _ctx: 'Any')", "missing a required argument"),
]
NO_CALLABLES: list[tuple[Any, str]] = [(None, "NoneType"), (3, "int"), ("hook", "str")]


def decorate(point: InterceptionPoint, hook: Any) -> None:
    on(point)(hook)


def refuse(culprit: Any, *, by: type[RegistrationError] = NotAHookError) -> str:
    """Check that every way of registering refuses the culprit alike; return the message."""
    messages: list[str] = []
    with scoped_hooks():
        for register in (register_hook, register_scoped, decorate):
            with pytest.raises(by) as caught:
                register(INPUT, culprit)
            assert type(caught.value) is by
            assert caught.value.culprit is culprit
            messages.append(str(caught.value))
        with pytest.raises(by), scoped_hooks({INPUT: [culprit]}):
            pytest.fail("the scope must not open")
        ctx = object()
        assert dispatch(INPUT, ctx) is ctx
    assert get_hooks(INPUT) == []
    assert len(set(messages)) == 1
    return messages[0]


@pytest.mark.parametrize(("culprit", "name"), ASYNCHRONOUS)
def test_an_asynchronous_callable_is_refused(culprit: Any, name: str) -> None:
    """'Every hook is a synchronous callable'."""
    assert refuse(culprit) == (
        f"{HERE}.{name} is asynchronous, and nothing would await it: a hook is a plain `def`. "
        "Move the awaiting part out of the hook."
    )


@pytest.mark.parametrize(("culprit", "signature", "why"), UNCALLABLE)
def test_a_callable_without_room_for_the_context_is_refused(
    culprit: Any, signature: str, why: str
) -> None:
    """'that receives a single typed context'."""
    message = refuse(culprit)
    assert message.startswith(f"{HERE}.{signature.partition('(')[0]}(")
    assert f"cannot be called with one context ({why}" in message
    assert message.endswith("registered bound: register_hook(point, instance.method).")


@pytest.mark.parametrize(("culprit", "kind"), NO_CALLABLES)
def test_what_is_not_callable_is_refused(culprit: Any, kind: str) -> None:
    assert refuse(culprit) == f"a hook is a callable that takes one context, got {kind}"


class MappingOf(dict[Any, Any]):
    """A mapping of one point, which need not be hashable."""

    def __init__(self, point: Any) -> None:
        super().__init__(point="a mapping that is not empty")
        self._point = point

    def items(self) -> Any:
        return [(self._point, [hook])]


USES: list[Callable[[Any], Any]] = [
    lambda point: register_hook(point, hook),
    lambda point: unregister_hook(point, hook),
    on,
    get_hooks,
    clear_hooks,
    lambda point: dispatch(point, object()),
    lambda point: scoped_hooks(MappingOf(point)).__enter__(),
]


@pytest.mark.parametrize("point", ["inputs", "INPUT", None, 3, [], hook])
@pytest.mark.parametrize("use", USES)
def test_an_unknown_point_is_refused_everywhere(use: Any, point: Any) -> None:
    with pytest.raises(UnknownPointError) as caught:
        use(point)

    assert caught.value.culprit is point
    assert str(caught.value) == (
        f"{point!r} is not an interception point; use one of InterceptionPoint: "
        + ", ".join(member.name for member in InterceptionPoint)
    )
    assert [get_hooks(member) for member in InterceptionPoint] == [[]] * 20


@pytest.mark.parametrize("kind", ["agents", "tools"])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "{0}=[] could never match: give names, or leave {0}= out for all of them"),
        ([""], "{0}=[''] could never match: give names, or leave {0}= out for all of them"),
        (["a", 3], "{0}=['a', 3] could never match: give names, or leave {0}= out for all of them"),
        ("delete", "{0}= takes a list of names; write {0}=['delete']"),
        (3, "{0}= takes a list of names, got int"),
    ],
)
def test_a_filter_that_cannot_match_is_refused(kind: str, names: Any, message: str) -> None:
    decorators: list[Callable[..., Any]] = [
        functools.partial(on, InterceptionPoint.PRE_TOOL_CALL),
        before_tool_call,
    ]
    for decorator in decorators:
        with pytest.raises(EmptyFilterError) as caught:
            decorator(**{kind: names})
        assert str(caught.value) == message.format(kind)
        assert caught.value.culprit is names
    assert get_hooks(InterceptionPoint.PRE_TOOL_CALL) == []


def test_a_legacy_decorator_refuses_alike() -> None:
    with pytest.raises(NotAHookError, match="coroutine_hook is asynchronous") as caught:
        before_llm_call(coroutine_hook)
    assert caught.value.culprit is coroutine_hook
    assert get_hooks(InterceptionPoint.PRE_MODEL_CALL) == []


def test_a_scoped_hook_needs_an_open_scope() -> None:
    with pytest.raises(NoScopeError, match=r"call it inside `with scoped_hooks\(\):`"):
        register_scoped(INPUT, hook)
    with scoped_hooks():
        pass
    with pytest.raises(NoScopeError):
        register_scoped(INPUT, hook)

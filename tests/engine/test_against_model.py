"""Registry and dispatcher against a model that a page can hold: lists of names."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hookspan.contract.contexts import InputContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import (
    clear_all_hooks,
    clear_hooks,
    dispatch,
    get_hooks,
    register_hook,
    register_scoped,
    scoped_hooks,
    unregister_hook,
)
from hookspan.engine.decorators import on
from hookspan.engine.observe import DISPATCHES

POINTS = [InterceptionPoint.INPUT, InterceptionPoint.OUTPUT]
NAMES = ["a", "b", "c", "d"]
ROLES = ["Editor", "Writer"]
points, names, roles = st.sampled_from(POINTS), st.sampled_from(NAMES), st.sampled_from(ROLES)
changes = st.sampled_from(["register", "unregister", "clear", "clear_all", "register_scoped"])

Entry = tuple[str, "str | None"]
"""A hook's name and the role it is filtered to."""

Table = dict[InterceptionPoint, list[Entry]]


def empty() -> Table:
    return {point: [] for point in POINTS}


class Registry(RuleBasedStateMachine):
    """What the model says is what hookspan does, observed or not."""

    def __init__(self) -> None:
        super().__init__()
        clear_all_hooks()
        self.globals = empty()
        self.scopes: list[Table] = []
        self.open: list[AbstractContextManager[Any]] = []
        self.log: list[str] = []
        self.on_call: Any = None
        self.observers: list[Any] = []
        self.hooks = {name: self.hook(name) for name in NAMES}

    def hook(self, name: str) -> Any:
        def hook(_ctx: Any) -> None:
            self.log.append(name)
            if self.on_call is not None:
                action, self.on_call = self.on_call, None
                action()

        return hook

    def expected(self, point: InterceptionPoint, role: str | None) -> list[str]:
        """Return which hooks a dispatch calls: global, then scoped, those that match."""
        entries = [*self.globals[point], *(self.scopes[-1][point] if self.scopes else [])]
        return [name for name, wanted in entries if None in (role, wanted) or role == wanted]

    @rule(point=points, name=names)
    def register(self, point: InterceptionPoint, name: str) -> None:
        register_hook(point, self.hooks[name])
        self.globals[point].append((name, None))

    @rule(point=points, name=names, role=roles)
    def decorate(self, point: InterceptionPoint, name: str, role: str) -> None:
        assert on(point, agents=[role])(self.hooks[name]) is self.hooks[name]
        self.globals[point].append((name, role))

    @rule(point=points, name=names)
    def unregister(self, point: InterceptionPoint, name: str) -> None:
        held = [entry[0] for entry in self.globals[point]]
        assert unregister_hook(point, self.hooks[name]) == (name in held)
        if name in held:
            del self.globals[point][held.index(name)]

    @rule(point=points)
    def clear(self, point: InterceptionPoint) -> None:
        assert clear_hooks(point) == len(self.globals[point])
        self.globals[point] = []

    @rule()
    def clear_all(self) -> None:
        clear_all_hooks()
        self.globals = empty()

    @rule(point=points, given=st.lists(names, max_size=2))
    def open_scope(self, point: InterceptionPoint, given: list[str]) -> None:
        scope = scoped_hooks({point: [self.hooks[name] for name in given]})
        scope.__enter__()
        self.open.append(scope)
        table = {held: list(entries) for held, entries in (self.scopes or [empty()])[-1].items()}
        table[point].extend((name, None) for name in given)
        self.scopes.append(table)

    @precondition(lambda self: self.open)
    @rule()
    def close_scope(self) -> None:
        self.open.pop().__exit__(None, None, None)
        self.scopes.pop()

    @precondition(lambda self: self.open)
    @rule(point=points, name=names)
    def register_in_scope(self, point: InterceptionPoint, name: str) -> None:
        register_scoped(point, self.hooks[name])
        self.scopes[-1][point].append((name, None))

    @rule(point=points, role=st.none() | roles)
    def dispatch(self, point: InterceptionPoint, role: str | None) -> None:
        self.log.clear()
        agent = role and SimpleNamespace(role=role)
        ctx = InputContext({}, agent=agent)
        assert dispatch(point, ctx) is ctx
        assert self.log == self.expected(point, role)

    @rule(point=points, other=points, change=changes, name=names)
    def change_during_a_dispatch(
        self, point: InterceptionPoint, other: InterceptionPoint, change: str, name: str
    ) -> None:
        expected = self.expected(point, None)
        actions: dict[str, Any] = {
            "register": lambda: self.register(other, name),
            "unregister": lambda: self.unregister(other, name),
            "clear": lambda: self.clear(other),
            "clear_all": self.clear_all,
            "register_scoped": lambda: self.open and self.register_in_scope(other, name),
        }
        failed: list[BaseException] = []

        def act() -> None:  # a hook's own AssertionError would be swallowed
            try:
                actions[change]()
            except AssertionError as error:
                failed.append(error)

        self.on_call, self.log[:] = act, []
        dispatch(point, InputContext({}))
        self.on_call = None
        assert (self.log, failed) == (expected, [])

    @rule()
    def observe_or_stop(self) -> None:
        if self.observers:
            self.observers.pop()()
        else:
            self.observers.append(DISPATCHES.observe(lambda _chain: lambda _error: None))

    @invariant()
    def tables_agree(self) -> None:
        for point in POINTS:
            assert get_hooks(point) == [self.hooks[name] for name, _ in self.globals[point]]

    def teardown(self) -> None:
        for undo in (*self.observers, clear_all_hooks):
            undo()
        while self.open:
            self.close_scope()


Registry.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True
)
TestRegistry = Registry.TestCase

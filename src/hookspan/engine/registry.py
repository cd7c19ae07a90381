"""Where hooks are kept: one global table and one scope per context.

Tables are copy-on-write: a registration makes a new sequence, so that a running dispatch, which
holds the old one, is never disturbed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from hookspan.contract.errors import NoScopeError
from hookspan.contract.points import InterceptionPoint, PointLike
from hookspan.engine.checks import checked_hook, checked_point
from hookspan.engine.hooks import Hook, function_of, hook_name
from hookspan.engine.idle import report_at_exit

Scope = MutableMapping[InterceptionPoint, list[Hook]]
"""The hooks of one execution scope. Its lists are replaced, never changed."""

ScopeVariable = ContextVar["dict[InterceptionPoint, list[Hook]] | None"]

Registered = Callable[[InterceptionPoint, Hook], None]
"""Called with a hook that was registered; raises nothing."""


def _nobody(_point: InterceptionPoint, _hook: Hook) -> None:
    pass


class HookStore(Protocol):
    """Holds the global hooks: our own tables, or the live lists of a runtime under us."""

    @property
    def table(self) -> Mapping[InterceptionPoint, Sequence[Hook]]:
        """The global hooks of every point, in order. The mapping itself stays the same object."""
        ...

    @property
    def scope(self) -> ScopeVariable:
        """The variable that holds the innermost open scope."""
        ...

    def add(self, point: InterceptionPoint, hook: Hook) -> None:
        """Append a hook."""
        ...

    def remove(self, point: InterceptionPoint, hook: Hook) -> bool:
        """Take out the first hook equal to the given one; tell whether there was one."""
        ...

    def clear(self, point: InterceptionPoint) -> int:
        """Take out all hooks of a point; return how many there were."""
        ...


class TupleStore:
    """Our own store: an immutable tuple per point, replaced as a whole."""

    def __init__(self) -> None:
        self.table: dict[InterceptionPoint, tuple[Hook, ...]] = dict.fromkeys(InterceptionPoint, ())
        self.scope: ScopeVariable = ContextVar("hookspan_scope", default=None)

    def add(self, point: InterceptionPoint, hook: Hook) -> None:
        """Append a hook."""
        self.table[point] = (*self.table[point], hook)

    def remove(self, point: InterceptionPoint, hook: Hook) -> bool:
        """Take out the first hook equal to the given one; tell whether there was one."""
        hooks = list(self.table[point])
        if hook not in hooks:
            return False
        hooks.remove(hook)
        self.table[point] = tuple(hooks)
        return True

    def clear(self, point: InterceptionPoint) -> int:
        """Take out all hooks of a point; return how many there were."""
        count = len(self.table[point])
        self.table[point] = ()
        return count


class HookRegistry:
    """The hooks of a process, global and scoped.

    Attributes:
        store: Holds the global hooks. `adopt` puts another in its place.
        scopes_used: Whether a scope may be open anywhere. It stays true once one was: a thread or
            task may carry a scope on after its block has ended.
        attended: Whether anything has ever asked the hooks, or taken them over.
    """

    def __init__(self) -> None:
        self.store: HookStore = TupleStore()
        self.scopes_used = False
        self.attended = False
        self._reports = False
        # Each with the number of hooks, per point, that it has from the scope around it.
        self._open_scopes: dict[int, tuple[Scope, dict[InterceptionPoint, int]]] = {}
        self._lock = threading.RLock()
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._registered: Registered = _nobody

    def adopt(self, store: HookStore) -> None:
        """Keep global hooks in another store from now on; what was registered stays where it is."""
        with self._lock:
            self.attended = True
            self.store = store
            self.scopes_used = True  # whoever else uses the store may have opened one
            self._changed()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a listener, and once now, when another store or the first scope comes into use."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
            listener()

    def register(self, point: PointLike, hook: Hook) -> None:
        """Append a global hook to a point.

        Raises:
            RegistrationError: The point is unknown or the hook cannot be one.
        """
        point, hook = checked_point(point), checked_hook(hook)
        with self._lock:
            self.store.add(point, hook)
            if not self._reports:
                self._reports = True
                report_at_exit(self._left_alone)
        self._registered(point, hook)

    def _left_alone(self) -> list[str]:
        """Return the names of the global hooks where nothing has ever asked any."""
        if self.attended:
            return []
        return [hook_name(hook) for hooks in self.store.table.values() for hook in hooks]

    def on_registration(self, listener: Registered) -> Callable[[], None]:
        """Tell a listener of each hook that is registered from now on, global or scoped.

        Returns:
            What ends that. There is one listener at a time.
        """
        self._registered = listener

        def undo() -> None:
            self._registered = _nobody

        return undo

    def unregister(self, point: PointLike, hook: Hook) -> bool:
        """Take out a global hook; tell whether it was registered."""
        point = checked_point(point)
        with self._lock:
            return self.store.remove(point, hook)

    def hooks(self, point: PointLike) -> list[Hook]:
        """Return the global hooks of a point, in order, each the callable that was registered."""
        return [function_of(hook) for hook in tuple(self.store.table[checked_point(point)])]

    def points_in_use(self) -> list[str]:
        """Return the values of the points that have a global hook."""
        return [point.value for point in InterceptionPoint if self.store.table[point]]

    def registrations(self) -> list[tuple[str, bool, Hook]]:
        """Return point, whether it is scoped, and hook of everything that is registered now.

        Of scopes those are known that were opened through this registry.
        """
        found = [
            (point.value, False, hook)
            for point in InterceptionPoint
            for hook in tuple(self.store.table[point])
        ]
        for scope, inherited in tuple(self._open_scopes.values()):
            for point, hooks in tuple(scope.items()):
                own = hooks[inherited.get(point, 0) :]
                found.extend((checked_point(point).value, True, hook) for hook in own)
        return found

    def clear(self, point: PointLike) -> int:
        """Take out all global hooks of a point; return how many there were."""
        point = checked_point(point)
        with self._lock:
            return self.store.clear(point)

    def clear_all(self) -> None:
        """Take out all global hooks of all points."""
        with self._lock:
            for point in InterceptionPoint:
                self.store.clear(point)

    @contextmanager
    def scoped(self, hooks: Mapping[PointLike, Sequence[Hook]] | None = None) -> Generator[Scope]:
        """Open an execution scope: its hooks run after the global ones and are gone afterwards.

        A scope inside a scope adds to it: the outer one's hooks keep running, first.

        Args:
            hooks: Hooks to start with, per point.

        Yields:
            The scope.
        """
        with self._lock:  # a second thread must not open a scope that dispatchers don't look at yet
            if not self.scopes_used:
                self.scopes_used = True
                self._changed()
        variable = self.store.scope
        scope = {point: list(held) for point, held in (variable.get() or {}).items()}
        for point, added in (hooks or {}).items():
            checked = [checked_hook(hook) for hook in added]
            member = checked_point(point)
            scope[member] = [*scope.get(member, []), *checked]
            for hook in checked:
                self._registered(member, hook)
        inherited = {point: len(held) for point, held in (variable.get() or {}).items()}
        token = variable.set(scope)
        self._open_scopes[id(scope)] = (scope, inherited)
        try:
            yield scope
        finally:
            self._open_scopes.pop(id(scope), None)
            variable.reset(token)

    def register_scoped(self, point: PointLike, hook: Hook) -> None:
        """Append a hook to the innermost open scope.

        Raises:
            NoScopeError: No scope is open here.
            RegistrationError: The point is unknown or the hook cannot be one.
        """
        point, hook = checked_point(point), checked_hook(hook)
        scope = self.store.scope.get()
        if scope is None:
            message = "register_scoped() needs an open scope: call it inside `with scoped_hooks():`"
            raise NoScopeError(message)
        scope[point] = [*scope.get(point, []), hook]
        self._registered(point, hook)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

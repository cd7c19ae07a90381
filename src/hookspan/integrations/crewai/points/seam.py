"""What a seam is: a method of crewAI's around which a point is asked, and the gate in front of it.

A seam is declared where its point is, probed before it is used, and put in by a `Patch`. Where a
probe fails the point counts as not instrumented; nothing else is affected.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from hookspan.contract.contexts import InterceptionContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.guard import GUARD
from hookspan.integrations.crewai.patching import Patch

ContextT = TypeVar("ContextT", bound=InterceptionContext)
ValueT = TypeVar("ValueT")

_NO_SCOPE: ContextVar[Any] = ContextVar("hookspan-no-scope", default=None)


class Gate:
    """Stands at the seams of one point: asks whether there is a hook, and dispatches.

    What it costs where no hook is registered: one look at crewAI's live list and one at its scope.
    No context is built.

    Args:
        dispatch: The module ``crewai.hooks.dispatch``; hookspan's lists are in it already.
        point: The point.

    Attributes:
        point: The point.
        abort_type: What an abort is an instance of when it leaves a dispatch.
    """

    __slots__ = ("_dispatch", "_hooks", "_scope", "abort_type", "point")

    def __init__(self, dispatch: Any, point: InterceptionPoint) -> None:
        self.point = point
        self.abort_type: type[BaseException] = dispatch.HookAborted
        self._dispatch = dispatch
        self._hooks: Any = dispatch._global_hooks[point]  # noqa: SLF001 - stable, as documented
        self._scope: ContextVar[Any] = dispatch._scoped_hooks_var  # noqa: SLF001 - as above

    def wanted(self) -> bool:
        """Tell whether a hook, global or of the open scope, would be asked."""
        if self._hooks:
            return True
        scope = self._scope.get()
        return bool(scope and scope.get(self.point))

    def dispatch(self, build: Callable[[], ContextT]) -> ContextT | None:
        """Dispatch through crewAI's own dispatcher.

        Args:
            build: Makes the context.

        Returns:
            The context as the hooks have left it; None where it could not be made. That is a
            failure of ours, which is counted and logged.

        Raises:
            HookAborted: A hook stopped the operation.
        """
        try:
            ctx = build()
        except Exception as error:  # noqa: BLE001 - crewAI has changed; the run goes on
            GUARD.failed(f"points.{self.point.value}", error)
            return None
        self._dispatch.dispatch(self.point, ctx)
        return ctx

    def read(self, read: Callable[[], ValueT], otherwise: ValueT) -> ValueT:
        """Read something of crewAI's that no probe has looked at.

        Args:
            read: Reads it.
            otherwise: What to go on with where that fails, which is counted and logged.
        """
        try:
            return read()
        except Exception as error:  # noqa: BLE001 - crewAI has changed; the run goes on
            GUARD.failed(f"points.{self.point.value}", error)
            return otherwise

    @property
    def closed(self) -> bool:
        """Whether it lets everything through, for good."""
        return self._scope is _NO_SCOPE

    def close(self) -> None:
        """Let everything through from now on, also for whoever kept a reference to a seam."""
        self._hooks, self._scope = (), _NO_SCOPE


@dataclass(frozen=True)
class Seam:
    """A function of crewAI's that is wrapped, or only called.

    Attributes:
        module: Where it is.
        name: Its name: ``Class.method``, or that of a function of the module.
        parameters: Names that must be among its parameters.
        wrap: Makes the replacement from the gate of the point and the original; None for what is
            only called.
        is_async: Whether it must be a coroutine function.
        late: Whether its module is looked into only when crewAI imports it. Most programs never
            need it, and importing MCP's takes half a second.
    """

    module: str
    name: str
    parameters: tuple[str, ...]
    wrap: Callable[[Gate, Any], Any] | None = None
    is_async: bool = False
    late: bool = False

    @property
    def waits(self) -> bool:
        """Whether it cannot be looked at yet."""
        return self.late and self.module not in sys.modules

    @property
    def path(self) -> str:
        """The full name."""
        return f"{self.module}.{self.name}"

    def problem(self) -> str | None:
        """Return what this crewAI lacks of it, None where it is as expected."""
        if self.waits:
            return None if _exists(self.module) else f"no {self.path}"
        try:
            owner, name = self.place()
        except (ImportError, AttributeError):
            return f"no {self.path}"
        original: Any = owner.__dict__.get(name)
        if not inspect.isfunction(original):
            return f"no {self.path}"
        missing = set(self.parameters) - set(inspect.signature(original).parameters)
        if missing:
            return f"no {self.path}({', '.join(sorted(missing))})"
        if inspect.iscoroutinefunction(original) is not self.is_async:
            return f"{self.path} is {'not ' if self.is_async else ''}a coroutine function"
        return None

    def patches(self, gate: Gate) -> Iterator[Patch]:
        """Make the patch, where it is wrapped."""
        if self.wrap is not None:
            yield Patch(*self.place(), functools.partial(self.wrap, gate))

    def place(self) -> tuple[Any, str]:
        """Return the module or class that it is in, and its name there."""
        owner: Any = importlib.import_module(self.module)
        *classes, name = self.name.split(".")
        for part in classes:
            owner = getattr(owner, part)
        return owner, name


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package around it
        return False


@dataclass(frozen=True)
class Wiring:
    """A point and all the seams it needs.

    Attributes:
        point: The point.
        seams: Its seams. It is wired where all of them are there: a guard that is asked at some of
            the places that it stands for would be worse than one that is known to be missing.
    """

    point: InterceptionPoint
    seams: tuple[Seam, ...]

    def problems(self) -> list[str]:
        """Return what this crewAI lacks for it."""
        return [problem for seam in self.seams if (problem := seam.problem()) is not None]

"""Observing dispatches and executions by swapping what runs them.

Nothing in the loop asks whether somebody looks. An observer is called when a dispatch (or an
execution) begins and returns what is to be called when it ends; while there is none, the bare loop
runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from hookspan.engine.guard import GUARD
from hookspan.engine.hooks import Hook
from hookspan.engine.loop import Loop
from hookspan.engine.probe import Chain, is_probed
from hookspan.engine.reducers import Reducer

T = TypeVar("T")

Finish = Callable[["BaseException | None"], None]
"""Called once when the observed thing ends, with what left it, or None."""

Begin = Callable[[T], Finish]
"""Called when a thing begins; returns what to call when it ends."""


Observer = tuple[Begin[T], Callable[[], bool]]


def _always() -> bool:
    return True


def _never() -> bool:
    return False


def _finish_nothing(_error: BaseException | None) -> None:
    pass


def _begin_nothing(_subject: Any) -> Finish:
    return _finish_nothing


class Observation(Generic[T]):
    """Who observes a kind of thing. An observer's failure is taken by the guard.

    Args:
        operation: Name of what the observers do, for reports of their failures.

    Attributes:
        listening: Tells whether an observer wants to hear of what begins now.
        begin: Tells the observers that a thing begins; returns what to call, through `end`, when
            it has ended.

    Both are swapped when observers come and go, so that each costs one call.
    """

    def __init__(self, operation: str) -> None:
        self.listening: Callable[[], bool] = _never
        self.begin: Begin[T] = _begin_nothing
        self._operation = operation
        self._observers: tuple[Observer[T], ...] = ()
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._lock = threading.Lock()

    @property
    def active(self) -> bool:
        """Whether there is an observer."""
        return bool(self._observers)

    def observe(self, begin: Begin[T], wanted: Callable[[], bool] = _always) -> Callable[[], None]:
        """Add an observer, after those that are there.

        Args:
            begin: Called when a thing begins; returns what to call when it ends.
            wanted: Tells, cheaply, whether it would do anything at this moment.

        Returns:
            What takes the observer away again.
        """
        observer = (begin, wanted)
        with self._lock:
            self._change((*self._observers, observer))

        def undo() -> None:
            with self._lock:
                self._change(tuple(held for held in self._observers if held is not observer))

        return undo

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a listener, and once now, when observers come or go."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
            listener()

    def end(self, finish: Finish, error: BaseException | None) -> None:
        """Tell the observers that a thing has ended.

        Args:
            finish: What `begin` returned.
            error: What left the thing, or None.
        """
        try:
            finish(error)
        except Exception as failure:  # noqa: BLE001 - an observer must not break a run
            GUARD.failed(f"{self._operation}.finish", failure)

    def _change(self, observers: tuple[Observer[T], ...]) -> None:
        self._observers = observers
        wanted = [wanted for _, wanted in observers]
        begins = [self._guarded(begin) for begin, _ in observers]
        if len(observers) > 1:
            self.listening = lambda: any(wants() for wants in wanted)
            self.begin = self._together(begins)
        else:
            self.listening = wanted[0] if wanted else _never
            self.begin = begins[0] if begins else _begin_nothing
        for listener in self._listeners:
            listener()

    def _guarded(self, begin: Begin[T]) -> Begin[T]:
        def guarded(subject: T) -> Finish:
            try:
                return begin(subject)
            except Exception as error:  # noqa: BLE001 - an observer must not break a run
                GUARD.failed(f"{self._operation}.begin", error)
                return _finish_nothing

        return guarded

    def _together(self, begins: list[Begin[T]]) -> Begin[T]:
        def begin_all(subject: T) -> Finish:
            finishes = [begin(subject) for begin in begins]

            def finish_all(error: BaseException | None) -> None:
                for finish in reversed(finishes):
                    self.end(finish, error)

            return finish_all

        return begin_all


DISPATCHES: Observation[Chain] = Observation("dispatch")
"""Who observes dispatches, those of our own loop and those of crewAI's."""

Run = Callable[..., Any]
"""``run(point, ctx, hooks, *, reducer=None, ...)``: calls the hooks and returns the context."""


def observed(run: Run, loop: Loop) -> Run:
    """Make a loop that does what the given one does, and tells the observers of dispatches.

    While no observer listens it costs one question; the given loop then runs untouched.

    Args:
        run: The loop. It is called with every argument that came, except that hooks and reducer
            are in probes.
        loop: What it does by itself.
    """

    def run_observed(
        point: Any,
        ctx: Any,
        hooks: Sequence[Hook],
        *args: Any,
        reducer: Reducer | None = None,
        verbose: bool = True,
        **kwargs: Any,
    ) -> Any:
        call = _with_more(run, args, kwargs) if args or kwargs else run
        # They are probed already where another library has wrapped a loop that we have left since.
        if not hooks or not DISPATCHES.listening() or is_probed(hooks[0]):
            return call(point, ctx, hooks, reducer=reducer, verbose=verbose)
        chain = Chain()  # a constructor with arguments would cost twice as much
        chain.point = point
        chain.ctx = ctx
        chain.hooks = tuple(hooks)
        chain.reducer = reducer or loop.default_reducer(point)
        chain.loop = loop
        chain.abort = chain.around = None
        chain.failed_closed = False
        # In the place of a constructor, as all of these.
        chain._watched = False  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        finish = DISPATCHES.begin(chain)
        try:
            result = call(point, ctx, chain.probes(), reducer=chain.reduce, verbose=verbose)
        except BaseException as error:
            DISPATCHES.end(finish, error)
            raise
        DISPATCHES.end(finish, None)
        return result

    return run_observed


def _with_more(run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """Hand on arguments that only a later crewAI passes; doing so always costs 0.6 us."""

    def call(point: Any, ctx: Any, hooks: Sequence[Hook], **known: Any) -> Any:
        return run(point, ctx, hooks, *args, **known, **kwargs)

    return call

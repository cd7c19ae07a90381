"""One ordered queue of hooks for crewAI's registrations and ours, and one kind of abort."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from hookspan.contract.errors import HookAborted, HookspanError
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.hooks import Hook
from hookspan.engine.registry import HookRegistry, HookStore

logger = logging.getLogger("hookspan")

Entry = tuple[InterceptionPoint, Hook, int]
"""A hook that came through us, and how many times it was in the list before: crewAI may have the
same function there."""


class LiveListStore:
    """Keeps global hooks in crewAI's own lists.

    crewAI documents the list of a point as stable and live: what is appended there runs in crewAI,
    in the order of registration, and both APIs see it. For the points that crewAI lacks a list is
    added.

    Args:
        dispatch: The module ``crewai.hooks.dispatch``.
    """

    def __init__(self, dispatch: Any) -> None:
        lists: dict[Any, list[Hook]] = dispatch._global_hooks  # noqa: SLF001 - the seam itself
        self._lists = lists
        self._added = [point for point in InterceptionPoint if point not in lists]
        self._ours: list[Entry] = []
        self.table = {point: lists.setdefault(point, []) for point in InterceptionPoint}
        self.scope = dispatch._scoped_hooks_var  # noqa: SLF001 - the seam itself

    def add(self, point: InterceptionPoint, hook: Hook) -> None:
        """Append a hook."""
        self._ours.append((point, hook, len(_places(self.table[point], hook))))
        self.table[point].append(hook)

    def remove(self, point: InterceptionPoint, hook: Hook) -> bool:
        """Take out the first hook equal to the given one; tell whether there was one."""
        hooks = self.table[point]
        if hook not in hooks:
            return False
        index = hooks.index(hook)
        self._forget(point, hooks[index], len(_places(hooks[:index], hooks[index])))
        del hooks[index]
        return True

    def _forget(self, point: InterceptionPoint, hook: Hook, occurrence: int) -> None:
        """Strike one occurrence of a hook from what is ours; later ones move up."""
        kept: list[Entry] = []
        for held_point, held, number in self._ours:
            same = held_point == point and held is hook
            if not same or number != occurrence:
                kept.append((held_point, held, number - int(same and number > occurrence)))
        self._ours = kept

    def clear(self, point: InterceptionPoint) -> int:
        """Take out all hooks of a point; return how many there were."""
        count = len(self.table[point])
        self.table[point].clear()
        self._ours = [entry for entry in self._ours if entry[0] != point]
        return count

    def release(self) -> list[tuple[InterceptionPoint, Hook]]:
        """Take out the hooks that came through us and the lists that we added; return the hooks."""
        kept: list[tuple[InterceptionPoint, Hook]] = []
        for point, hook, occurrence in reversed(self._ours):  # so that numbers stay right
            places = _places(self.table[point], hook)
            if places:
                del self.table[point][places[min(occurrence, len(places) - 1)]]
                kept.insert(0, (point, hook))
        for point in self._added:
            lost = self._lists.pop(point, [])
            if lost:
                logger.warning(
                    "%d hooks registered through crewAI at %s no longer run: crewAI itself does"
                    " not have that point",
                    len(lost),
                    point.name,
                )
        return kept


def _places(hooks: list[Hook], hook: Hook) -> list[int]:
    """Return where in a list a hook is: the very object, not an equal one."""
    return [index for index, held in enumerate(hooks) if held is hook]


def adopt(registry: HookRegistry, dispatch: Any) -> Callable[[], int]:
    """Move the registry's hooks, in order, behind those of crewAI.

    Args:
        registry: The registry.
        dispatch: The module ``crewai.hooks.dispatch``.

    Returns:
        What moves them back; it returns how many that were.
    """
    own = registry.store
    live = LiveListStore(dispatch)
    _move(_entries(own), own, live)
    registry.adopt(live)

    def undo() -> int:
        entries = live.release()
        registry.adopt(own)
        for point, hook in entries:
            own.add(point, hook)
        return len(entries)

    return undo


def _entries(store: HookStore) -> list[tuple[InterceptionPoint, Hook]]:
    return [(point, hook) for point in InterceptionPoint for hook in store.table[point]]


def _move(
    entries: list[tuple[InterceptionPoint, Hook]], source: HookStore, target: HookStore
) -> None:
    for point in InterceptionPoint:
        source.clear(point)
    for point, hook in entries:
        target.add(point, hook)


def _name_culprits(abort_type: type[Exception]) -> None:
    """Say which classes come in the way of making our abort one of crewAI's."""
    for kind in _subclasses(HookAborted):
        if abort_type in kind.__mro__[: kind.__mro__.index(HookAborted)]:
            logger.warning(
                "%s.%s inherits from crewAI's HookAborted before hookspan's: an abort of hookspan's"
                " leaves crewAI as crewAI's HookAborted",
                kind.__module__,
                kind.__qualname__,
            )


def _subclasses(parent: type[Any]) -> Iterator[type[Any]]:
    for child in parent.__subclasses__():
        yield child
        yield from _subclasses(child)


def unify_aborts(
    abort_type: type[Exception],
) -> tuple[Callable[[], None], Callable[[HookAborted], BaseException] | None]:
    """Make every `HookAborted` of ours one of crewAI's too, so that its seams let it through.

    The class gets crewAI's as a base: subclasses and instances that exist follow. Where Python
    refuses that (a class of the user's already inherits from both, the other way round), an abort
    of ours has to be converted when it is raised.

    Args:
        abort_type: crewAI's ``HookAborted``.

    Returns:
        What undoes it, and the conversion, None where none is needed.
    """
    bases = HookAborted.__bases__
    try:
        HookAborted.__bases__ = (abort_type, HookspanError)
    except TypeError:
        _name_culprits(abort_type)

        def convert(aborted: HookAborted) -> BaseException:
            return abort_type(aborted.reason, aborted.source)

        return (lambda: None), convert

    def undo() -> None:
        HookAborted.__bases__ = bases

    return undo, None

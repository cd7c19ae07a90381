"""The only place where an attribute of somebody else is assigned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Wrap = Callable[[Any], Any]
"""Makes the replacement of an attribute from the original."""

_ABSENT: Any = object()


class Patch:
    """A replacement of one attribute of a module or class.

    Undone, the very object that was there is there again. What somebody else has put over ours
    meanwhile is left alone; a replacement must therefore pass through by itself once it is
    switched off, which also serves callers that kept a reference to it.

    Args:
        owner: The module or class.
        name: The attribute.
        wrap: Makes the replacement.
    """

    def __init__(self, owner: Any, name: str, wrap: Wrap) -> None:
        self._owner = owner
        self._name = name
        self._original = _own(owner, name)
        self._replacement = wrap(getattr(owner, name))

    def apply(self) -> None:
        """Put the replacement in."""
        setattr(self._owner, self._name, self._replacement)

    def undo(self) -> None:
        """Put back what was there, unless somebody has replaced the replacement."""
        if _own(self._owner, self._name) is not self._replacement:
            return
        if self._original is _ABSENT:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._original)


def _own(owner: Any, name: str) -> Any:
    """Return what an object itself holds under a name, not what it inherits."""
    return owner.__dict__.get(name, _ABSENT)


class Patches:
    """Patches that are applied together or not at all."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def apply(self, patch: Patch) -> None:
        """Apply a patch and remember how to undo it."""
        patch.apply()
        self._undo.append(patch.undo)

    def then(self, undo: Callable[[], object]) -> None:
        """Remember how to undo something else that was done."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Undo everything, the last thing first."""
        while self._undo:
            self._undo.pop()()

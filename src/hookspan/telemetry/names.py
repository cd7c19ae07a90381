"""Values that telemetry shows: bounded in number, bounded in length, readable, harmless to make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookspan.engine.hooks import hook_name

if TYPE_CHECKING:
    from typing import TypeGuard

OTHER = "_OTHER"
"""What a metric says in the place of a value beyond its cap."""

LONGEST = 1024
"""How long a text attribute may be, in bytes of UTF-8."""


class BoundedNames:
    """Keeps a metric label to a number of values; the first ones to come keep their own.

    Args:
        limit: How many values there may be.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return the name, or ``_OTHER`` when as many others came before it."""
        if name not in self._known:
            if len(self._known) >= self._limit:
                return OTHER
            self._known.add(name)
        return name


def is_text(value: object) -> TypeGuard[str]:
    """Tell whether a value is a string, without asking the value: its ``__class__`` may raise."""
    return issubclass(type(value), str)


def bounded_text(value: object) -> tuple[str, bool]:
    """Return a value as text that may be exported, and whether it was cut.

    Args:
        value: A text, or anything else, of which only the class is told.

    Returns:
        Valid UTF-8 of at most `LONGEST` bytes, and whether something is missing.
    """
    if type(value) is str and len(value) <= LONGEST and value.isascii():
        return value, False  # nearly every text there is, at a tenth of the price
    text = str.__str__(value) if is_text(value) else f"<{type_name(type(value))}>"
    data = text.encode("utf-8", "replace")
    if len(data) <= LONGEST:
        return data.decode("utf-8"), False
    return data[:LONGEST].decode("utf-8", "ignore"), True


def bounded_name(value: object) -> str | None:
    """Return a name as text that may be exported, None when it is empty or no text."""
    if type(value) is str and len(value) <= LONGEST and value.isascii():
        return value or None  # as above, without a tuple: names are read on the hot path
    return bounded_text(value)[0] if is_text(value) and value else None


def source_label(source: Any) -> str:
    """Return the readable, bounded name of whoever aborted.

    A string stays as it is; a function is ``module.qualname``, a partial the function in it, any
    other object its class. Nothing is rendered.
    """
    return bounded_text(source)[0] if is_text(source) else hook_label(source)


def hook_label(hook: Any) -> str:
    """Return the name of a hook, bounded."""
    return bounded_text(hook_name(hook))[0]


def type_name(kind: type) -> str:
    """Return a class's qualified name, a builtin's without its module (semantic conventions)."""
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"

"""Whether a value was changed in place, found out without touching what it holds.

A snapshot is the flat list of references that a walk through containers meets. Two of them are
compared by identity, and by ``==`` only between values of exact builtin types. Nothing is hashed,
rendered or copied, and no method or property of a user's is called: whatever a payload does when it
is asked, it is not asked.

Containers are dicts, lists, tuples, sets, dataclasses and pydantic models (crewAI's outputs among
them), and subclasses of these. Anything else is a leaf: what changes inside it is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

LIMIT = 2000
"""How many nodes a snapshot has at the most. Beyond it, change is unknown."""

Snapshot = list[Any]
"""The references met, in the order of the walk. They are held, so that no identity is reused."""

_PLAIN = frozenset({str, int, float, bool, bytes, complex, type(None)})
_FIELDS = ("payload", "messages", "tool_input", "response", "tool_result")
_MODEL_MARKS = ("__dataclass_fields__", "__pydantic_fields__")
_MISSING = object()


def snapshot(ctx: Any, limit: int = LIMIT) -> Snapshot | None:
    """Take a snapshot of everything in a context that a hook may change.

    Args:
        ctx: The context: its payload, messages, tool input, response and tool result are walked.
        limit: How many nodes to walk.

    Returns:
        The snapshot, or None when there are more nodes.
    """
    found: Snapshot = []
    pending = [_attribute(ctx, name) for name in _FIELDS]
    seen = {id(ctx)}
    while pending:
        value = pending.pop()
        found.append(value)
        kind = type(value)
        if kind in _PLAIN or id(value) in seen:
            continue
        seen.add(id(value))
        read = _READERS.get(kind) or _reader(kind)
        if read is not None:
            parts = read(value)
            found.append(len(parts))
            pending += parts
            if len(found) + len(pending) > limit:
                return None
    return found


def changed(before: Snapshot, after: Snapshot) -> bool:
    """Tell whether something was changed between two snapshots."""
    if len(before) != len(after):
        return True
    for old, new in zip(before, after, strict=True):
        if old is not new and not (type(old) is type(new) and type(old) in _PLAIN and old == new):
            return True
    return False


def _attribute(ctx: Any, name: str) -> Any:
    """Read a field of a context; a property that raises counts as a field that is not there."""
    try:
        return getattr(ctx, name, None)
    except Exception:  # noqa: BLE001 - a user's property; there is nothing to compare then
        return None


def _items(value: dict[Any, Any]) -> list[Any]:
    return [*dict.keys(value), *dict.values(value)]


def _members(value: Any) -> list[Any]:
    return [_own(value, "__dict__"), _own(value, "__pydantic_extra__"), *_slots(value)]


def _slots(value: Any) -> Iterable[Any]:
    """Return the fields of a dataclass that has no ``__dict__``."""
    fields = next(filter(None, (c.__dict__.get(_MODEL_MARKS[0]) for c in type(value).__mro__)), ())
    return [_own(value, name) for name in fields] if _own(value, "__dict__") is _MISSING else ()


def _own(value: Any, name: str) -> Any:
    """Read an attribute past whatever the class does when it is read."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return _MISSING


Reader = Callable[[Any], list[Any]]

_READERS: dict[type, Reader] = {
    dict: _items,
    list: list,
    tuple: list,
    set: list,
    frozenset: list,
}
_SUBCLASS_READERS: tuple[tuple[type, Reader], ...] = (
    (dict, _items),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: list(tuple.__iter__(value))),
    (set, lambda value: list(set.__iter__(value))),
    (frozenset, lambda value: list(frozenset.__iter__(value))),
)


def _reader(kind: type) -> Reader | None:
    """Return what reads a container that is not exactly a builtin one, None for a leaf."""
    for base, read in _SUBCLASS_READERS:
        if issubclass(kind, base):
            return read
    mro = type.mro(kind) if type(kind) is type else kind.__mro__
    if any(mark in base.__dict__ for base in mro for mark in _MODEL_MARKS):
        return _members
    return None

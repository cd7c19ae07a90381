"""Whether a value was changed in place, found out without touching what it holds.

A snapshot is the flat list of references that a walk through containers meets. Two of them are
compared by identity, and by ``==`` only between values of exact builtin types. Nothing is hashed,
rendered or copied, and no method or property of a user's is called: whatever a payload does when it
is asked, it is not asked. Classes are looked up by id: a metaclass may have a hash of its own.

Containers are dicts, lists, tuples, sets, dataclasses and pydantic models (crewAI's outputs among
them), and subclasses of these. Anything else is a leaf: what changes inside it is not seen. What a
model keeps for itself when it is read (a ``cached_property``) counts as a change of it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

LIMIT = 2000
"""How many nodes a snapshot has at the most. Beyond it, change is unknown."""

Snapshot = list[Any]
"""The references met, in the order of the walk. They are held, so that no identity is reused."""

_PLAIN = frozenset(map(id, (str, int, float, bool, bytes, complex, type(None))))
_FIELDS = (
    "payload",
    "messages",
    "tool_input",
    "response",
    "tool_result",
    "metadata",
    "context",
)
_DATACLASS = "__dataclass_fields__"
_MODEL_MARKS = (_DATACLASS, "__pydantic_fields__")
_PARTS_OF_MODELS = ("__dict__", "__pydantic_extra__", "__pydantic_private__")
_MISSING = object()

Reader = Callable[[Any], list[Any]]
"""Returns what a container holds."""

# As `dict` has them, whatever a subclass does.
_keys: Any = dict[Any, Any].keys
_values: Any = dict[Any, Any].values

# As `type` has them, past what a metaclass may do when its classes are asked.
_mro: Any = type.__dict__["__mro__"].__get__
_namespace: Any = type.__dict__["__dict__"].__get__


def snapshot(ctx: Any, limit: int = LIMIT) -> Snapshot | None:
    """Take a snapshot of everything in a context that a hook may change.

    Args:
        ctx: The context: its payload, messages, tool input, response, tool result and metadata are
            walked.
        limit: How many nodes to walk.

    Returns:
        The snapshot, or None when there are more nodes, or another thread is changing them.
    """
    found: Snapshot = []
    for name in _FIELDS:
        try:
            found.append(getattr(ctx, name, None))
        except Exception:  # noqa: BLE001 - a user's property; there is nothing to compare then
            found.append(None)
    try:
        return _walk(found, {id(ctx)}, limit)
    except RuntimeError:  # a dict or set that another thread changes cannot be walked
        return None


def _walk(found: Snapshot, seen: set[int], limit: int) -> Snapshot | None:
    """Add to some values what is in them, but for those seen; None when that is too many."""
    pending = _not_plain(found)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = id(type(value))  # pyright: ignore[reportUnknownArgumentType] - a value of any type
        read = _EXACT.get(kind)
        if read is None:
            read = _reader(value)
            if read is None:
                continue
        elif len(value) > limit:
            return None
        parts = read(value)
        found.append(len(parts))
        found += parts
        if len(found) > limit:
            return None
        pending += _not_plain(parts)
    return found


def _not_plain(values: list[object]) -> list[Any]:
    """Return those values that may hold others; most are texts, which costs least to find out."""
    return [
        value for value in values if (kind := type(value)) is not str and id(kind) not in _PLAIN
    ]


def changed(before: Snapshot, after: Snapshot) -> bool:
    """Tell whether something was changed between two snapshots."""
    if len(before) != len(after):
        return True
    for old, new in zip(before, after, strict=True):  # any() and a generator would cost more
        if old is not new and not _are_equal(old, new):
            return True
    return False


def _are_equal(old: object, new: object) -> bool:
    """Tell whether two values of exact builtin types are equal; not a number equals itself here."""
    kind = type(old)
    if kind is not type(new) or id(kind) not in _PLAIN:
        return False
    return bool(old == new or (old != old and new != new))  # noqa: PLR0124 - only NaN is like that


def _reader(value: object) -> Reader | None:
    """Return what reads a container that is not exactly a builtin one, None for a leaf."""
    kind = type(value)
    for container, read in _SUBCLASSED:
        if issubclass(kind, container):
            return read
    is_model = any(mark in _namespace(base) for base in _mro(kind) for mark in _MODEL_MARKS)
    return _members if is_model else None


def _items(value: Any) -> list[Any]:
    return [*_keys(value), *_values(value)]


def _bounded_items(value: Any) -> list[Any]:
    most = LIMIT + 1
    return [*islice(_keys(value), most), *islice(_values(value), most)]


def _iterated(container: Any) -> Reader:
    """Make what reads a subclass as the builtin would be read, and no more than is asked for."""
    return lambda value: list(islice(container.__iter__(value), LIMIT + 1))


def _members(value: Any) -> list[Any]:
    """Return what a model or dataclass holds: the dicts it keeps fields in, the values of slots."""
    bases = _mro(type(value))
    fields = next((_namespace(b)[_DATACLASS] for b in bases if _DATACLASS in _namespace(b)), ())
    return [_own(value, bases, name) for name in (*_PARTS_OF_MODELS, *fields)]


def _own(value: Any, bases: tuple[type, ...], name: str) -> Any:
    """Read a slot of an object, past whatever a class of a user's does when it is read."""
    for base in bases:
        slot = _namespace(base).get(name, _MISSING)
        if type(slot) is MemberDescriptorType or type(slot) is GetSetDescriptorType:
            try:
                return slot.__get__(value)
            except AttributeError:
                return _MISSING
    return _MISSING


_EXACT: dict[int, Reader] = {
    id(dict): _items,
    id(list): list,
    id(tuple): list,
    id(set): list,
    id(frozenset): list,
}
_SUBCLASSED: tuple[tuple[type[Any], Reader], ...] = (
    (dict, _bounded_items),
    *((container, _iterated(container)) for container in (list, tuple, set, frozenset)),
)

"""Values that note, and mind, whatever is done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ASKED: list[str] = []
"""What hostile values were asked for. A test empties it first."""


def refuse(name: str) -> Callable[..., Any]:
    """Make a method that notes its call and raises."""

    def method(*_args: Any, **_kwargs: Any) -> Any:
        ASKED.append(name)
        raise RuntimeError(name)

    return method


_METHODS = [
    *("__eq__", "__ne__", "__hash__", "__repr__", "__str__", "__format__", "__bool__", "__len__"),
    *("__iter__", "__getitem__", "__contains__", "__getattribute__", "__getattr__", "__getstate__"),
    *("__copy__", "__deepcopy__", "__reduce_ex__", "__sizeof__", "__dir__", "keys", "items"),
    *("values", "__lt__", "__instancecheck__", "__subclasscheck__", "__reversed__", "__call__"),
]

METHODS: dict[str, Any] = {
    **{name: refuse(name) for name in _METHODS},
    **{name: property(refuse(name)) for name in ("__class__", "field", "__pydantic_extra__")},
}
"""A namespace for a class whose instances refuse everything."""

METACLASS: dict[str, Any] = {
    name: refuse(f"class {name}")
    for name in ("__eq__", "__hash__", "__getattribute__", "__repr__", "__subclasscheck__", "mro_")
}
"""A namespace for a metaclass whose classes refuse everything."""


def hostile(*bases: type, **more: Any) -> type[Any]:
    """Make a class whose instances refuse everything.

    Args:
        bases: Its bases; none for a plain class.
        more: What else is in it.
    """
    return type("Hostile", bases, {**METHODS, **more})

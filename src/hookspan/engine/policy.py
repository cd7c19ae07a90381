"""How a hook is to be treated: failing closed, in shadow, within a budget."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hookspan.contract.errors import HookAborted


class Policy(NamedTuple):
    """How one hook is treated.

    Attributes:
        fail_closed: A crash of it aborts, where it would otherwise be swallowed.
        shadow: It works on a copy, and what it decides is only recorded.
        budget: How long it may take before that is reported, in seconds; it is never stopped.
    """

    fail_closed: bool = False
    shadow: bool = False
    budget: float | None = None


PLAIN = Policy()
"""As the contract says: fail open, enforced, without a budget."""


class Policies:
    """Treatment by configuration, for hooks in code that nobody may touch.

    Attributes:
        active: Whether any is configured.
    """

    def __init__(self) -> None:
        self.active = False
        self._set((), (), None)

    def configure(
        self,
        *,
        fail_closed: Iterable[str] = (),
        shadow: Iterable[str] = (),
        budget: float | None = None,
    ) -> Callable[[], None]:
        """Treat hooks as their name says.

        Args:
            fail_closed: Patterns of names, as in a shell (``policies.*``), of hooks that fail
                closed.
            shadow: The same for hooks in shadow mode.
            budget: A budget in seconds for every hook that has none of its own.

        Returns:
            What undoes it.
        """
        before = (self._fail_closed, self._shadow, self._budget)
        self._set(tuple(fail_closed), tuple(shadow), budget)
        return lambda: self._set(*before)

    def of(self, own: Policy, name: Callable[[], str]) -> Policy:
        """Return the treatment of a hook.

        Args:
            own: What it was registered with; configuration can only add to it.
            name: Returns its name; asked only where patterns are configured.
        """
        if not self.active:
            return own
        named = self._by_name(name()) if self._fail_closed or self._shadow else PLAIN
        return Policy(
            own.fail_closed or named.fail_closed,
            own.shadow or named.shadow,
            self._budget if own.budget is None else own.budget,
        )

    def _set(
        self, fail_closed: tuple[str, ...], shadow: tuple[str, ...], budget: float | None
    ) -> None:
        self._fail_closed, self._shadow, self._budget = fail_closed, shadow, budget

        @functools.lru_cache(maxsize=1024)
        def by_name(name: str) -> Policy:
            return Policy(_matches(name, fail_closed), _matches(name, shadow))

        self._by_name = by_name
        self.active = bool(fail_closed or shadow or budget is not None)


POLICIES = Policies()
"""What is configured in this process."""


def closed(name: str, function: Any, error: Exception) -> HookAborted:
    """Make the abort that the crash of a hook becomes.

    The reason names the hook and the class of the error; the error itself, which may hold content,
    becomes the cause where this is raised.

    Args:
        name: The hook's name.
        function: The hook, for the abort's source.
        error: What it raised.
    """
    return HookAborted(f"{name} failed closed: {type(error).__qualname__}", function)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

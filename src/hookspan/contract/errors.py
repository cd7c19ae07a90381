"""The error tree.

::

    Exception
    └── HookspanError                 every error of this package
        ├── HookAborted               a hook stopped the operation (the contract's abort)
        ├── RegistrationError         what was passed to a registration cannot be a hook
        │   (also a TypeError or ValueError, see its subclasses)
        │   ├── NotAHookError         not callable, asynchronous, wrong signature (TypeError)
        │   ├── UnknownPointError     not one of the twenty points (ValueError)
        │   ├── EmptyFilterError      a filter that could never match (ValueError)
        │   └── HookOptionError       an option of `on` that means nothing (ValueError)
        ├── NoScopeError              register_scoped() outside scoped_hooks() (RuntimeError)
        ├── ExecutionStateError       an execution boundary used out of order (RuntimeError)
        └── InstrumentationError      crewAI cannot be instrumented as asked
"""

from __future__ import annotations

from typing import Any


class HookspanError(Exception):
    """Base of every error that this package raises."""


class HookAborted(HookspanError):  # noqa: N818 - the name is the contract's
    """Raised by a hook to stop the operation that it intercepts.

    Args:
        reason: Why, in words for a person.
        source: Who: a string, the hook, or any object. When it is None the dispatcher sets it to
            the hook that raised.
    """

    # A subclass may leave this constructor uncalled: its abort counts all the same.
    reason: str = ""
    source: Any = None

    def __init__(self, reason: str, source: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.source = source


class RegistrationError(HookspanError):
    """What was passed to a registration cannot be registered; nothing was.

    Attributes:
        culprit: The object that was refused.
    """

    def __init__(self, message: str, culprit: object = None) -> None:
        super().__init__(message)
        self.culprit = culprit


class NotAHookError(RegistrationError, TypeError):
    """The object is not a synchronous callable."""


class UnknownPointError(RegistrationError, ValueError):
    """The point is not one of the twenty."""


class EmptyFilterError(RegistrationError, ValueError):
    """A filter was given that no agent or tool could ever match."""


class HookOptionError(RegistrationError, ValueError):
    """An option of a registration has a value that means nothing."""


class NoScopeError(HookspanError, RuntimeError):
    """``register_scoped`` was called outside of a ``scoped_hooks()`` block."""


class ExecutionStateError(HookspanError, RuntimeError):
    """An execution boundary was entered twice or used outside of its block."""


class InstrumentationError(HookspanError):
    """crewAI could not be instrumented as asked; nothing was changed."""

"""OpenTelemetry observability for CrewAI's interception hooks.

Importing this package does no work: each public name is loaded when it is first used, so that a
program that registers hooks pays for telemetry only when it asks for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookspan.contract.contexts import (
        ExecutionEndContext,
        ExecutionStartContext,
        FlowTransitionContext,
        InputContext,
        InterceptionContext,
        KnowledgeRetrievalContext,
        LLMCallHookContext,
        MCPConnectContext,
        MemoryReadContext,
        MemoryWriteContext,
        OutputContext,
        PreCodeExecutionContext,
        PreDelegationContext,
        RetryAttemptContext,
        RouterDecisionContext,
        StepContext,
        ToolCallHookContext,
        ToolSelectionContext,
    )
    from hookspan.contract.errors import (
        EmptyFilterError,
        ExecutionStateError,
        HookAborted,
        HookOptionError,
        HookspanError,
        InstrumentationError,
        NoScopeError,
        NotAHookError,
        RegistrationError,
        UnknownPointError,
    )
    from hookspan.contract.events import HookDispatchedEvent
    from hookspan.contract.points import InterceptionPoint
    from hookspan.engine.api import (
        clear_all_hooks,
        clear_hooks,
        dispatch,
        get_hooks,
        register_hook,
        register_scoped,
        scoped_hooks,
        unregister_hook,
    )
    from hookspan.engine.decorators import (
        after_llm_call,
        after_tool_call,
        before_llm_call,
        before_tool_call,
        on,
    )
    from hookspan.engine.events import subscribe
    from hookspan.engine.execution import execution
    from hookspan.integrations.crewai.instrumentor import instrument, uninstrument
    from hookspan.lifecycle import configure, shutdown
    from hookspan.pipeline.providers import flush
    from hookspan.version import __version__

__all__ = [
    "EmptyFilterError",
    "ExecutionEndContext",
    "ExecutionStartContext",
    "ExecutionStateError",
    "FlowTransitionContext",
    "HookAborted",
    "HookDispatchedEvent",
    "HookOptionError",
    "HookspanError",
    "InputContext",
    "InstrumentationError",
    "InterceptionContext",
    "InterceptionPoint",
    "KnowledgeRetrievalContext",
    "LLMCallHookContext",
    "MCPConnectContext",
    "MemoryReadContext",
    "MemoryWriteContext",
    "NoScopeError",
    "NotAHookError",
    "OutputContext",
    "PreCodeExecutionContext",
    "PreDelegationContext",
    "RegistrationError",
    "RetryAttemptContext",
    "RouterDecisionContext",
    "StepContext",
    "ToolCallHookContext",
    "ToolSelectionContext",
    "UnknownPointError",
    "__version__",
    "after_llm_call",
    "after_tool_call",
    "before_llm_call",
    "before_tool_call",
    "clear_all_hooks",
    "clear_hooks",
    "configure",
    "dispatch",
    "execution",
    "flush",
    "get_hooks",
    "instrument",
    "on",
    "register_hook",
    "register_scoped",
    "scoped_hooks",
    "shutdown",
    "subscribe",
    "uninstrument",
    "unregister_hook",
]

_HOMES = {
    "contract.contexts": [name for name in __all__ if name.endswith("Context")],
    "contract.errors": [name for name in __all__ if name.endswith("Error")] + ["HookAborted"],
    "contract.events": ["HookDispatchedEvent"],
    "contract.points": ["InterceptionPoint"],
    "engine.api": [
        "clear_all_hooks",
        "clear_hooks",
        "dispatch",
        "get_hooks",
        "register_hook",
        "register_scoped",
        "scoped_hooks",
        "unregister_hook",
    ],
    "engine.decorators": [
        "after_llm_call",
        "after_tool_call",
        "before_llm_call",
        "before_tool_call",
        "on",
    ],
    "engine.events": ["subscribe"],
    "engine.execution": ["execution"],
    "integrations.crewai.instrumentor": ["instrument", "uninstrument"],
    "lifecycle": ["configure", "shutdown"],
    "pipeline.providers": ["flush"],
    "version": ["__version__"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on its first use."""
    home = _HOME_OF.get(name)
    if home is None:
        message = f"module 'hookspan' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(f"hookspan.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)

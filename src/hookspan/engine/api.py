"""The engine of this process, as functions."""

from __future__ import annotations

from hookspan.engine.dispatcher import Dispatcher
from hookspan.engine.registry import HookRegistry

REGISTRY = HookRegistry()
"""The hooks of this process."""

DISPATCHER = Dispatcher(REGISTRY)
"""What runs them."""

register_hook = REGISTRY.register
unregister_hook = REGISTRY.unregister
get_hooks = REGISTRY.hooks
clear_hooks = REGISTRY.clear
clear_all_hooks = REGISTRY.clear_all
scoped_hooks = REGISTRY.scoped
register_scoped = REGISTRY.register_scoped
dispatch = DISPATCHER.dispatch

"""The typed contexts: their fields, and aliases that can never go stale."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from hookspan.contract import contexts
from hookspan.contract.contexts import (
    InterceptionContext,
    LLMCallHookContext,
    ToolCallHookContext,
)

BASE = ["payload", "agent", "agent_role", "task", "crew", "flow"]

# Class -> (its aliases of payload, its own fields with their defaults).
CONTEXTS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "ExecutionStartContext": (["inputs"], {}),
    "InputContext": (["inputs"], {}),
    "OutputContext": (["output"], {}),
    "ExecutionEndContext": (["output"], {"status": "completed", "error": None}),
    "StepContext": ([], {"kind": None, "step_name": None}),
    "ToolSelectionContext": (["tools"], {}),
    "PreDelegationContext": ([], dict.fromkeys(["coworker", "delegate_to", "context"])),
    "RetryAttemptContext": (
        [],
        {"attempt": 2, **dict.fromkeys(["max_attempts", "error", "operation", "tool_name"])},
    ),
    "MemoryWriteContext": (
        ["value"],
        dict.fromkeys(["memory_type", "metadata", "scope", "tool_name"]),
    ),
    "MemoryReadContext": (["query"], dict.fromkeys(["memory_type", "scope", "tool_name"])),
    "KnowledgeRetrievalContext": (["query"], {}),
    "PreCodeExecutionContext": (["code"], dict.fromkeys(["language", "step_name"])),
    "MCPConnectContext": (["server_params"], dict.fromkeys(["server_name", "tool_name", "tool"])),
    "FlowTransitionContext": (["to_methods"], {"from_method": None, "trigger": None}),
    "RouterDecisionContext": (["route"], {"router_name": None}),
}
ALIASES = [(name, alias) for name, (aliases, _) in CONTEXTS.items() for alias in aliases]
CALLS = [(LLMCallHookContext, "response"), (ToolCallHookContext, "tool_result")]


def properties(kind: type[Any]) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def test_every_context_class_is_covered_here() -> None:
    found = {
        name
        for name, kind in vars(contexts).items()
        if isinstance(kind, type) and issubclass(kind, InterceptionContext)
    }
    assert found == {"InterceptionContext", *CONTEXTS}


def test_the_base_fields_are_none_unless_given() -> None:
    """'All contexts share the base fields': agent, agent_role, task, crew, flow."""
    fields = dataclasses.asdict(InterceptionContext())
    assert fields == dict.fromkeys(BASE)


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_context_has_the_base_fields_then_its_own(name: str) -> None:
    """'Each point receives a typed context'."""
    aliases, own = CONTEXTS[name]
    kind = getattr(contexts, name)
    assert dataclasses.asdict(kind()) == {**dict.fromkeys(BASE), **own}
    assert properties(kind) == aliases


def test_connection_parameters_are_not_rendered() -> None:
    ctx = contexts.MCPConnectContext({"headers": {"Authorization": "Bearer abc"}}, server_name="s")
    assert "abc" not in repr(ctx)
    assert "server_name='s'" in repr(ctx)


@pytest.mark.parametrize(("name", "alias"), ALIASES)
def test_an_alias_is_the_payload_both_ways(name: str, alias: str) -> None:
    """'The per-point contexts add a named alias for the payload': 'same dict as payload'."""
    first, second, third = {"a": 1}, {"b": 2}, {"c": 3}
    ctx = getattr(contexts, name)(first)

    assert getattr(ctx, alias) is first
    ctx.payload = second
    assert getattr(ctx, alias) is second
    setattr(ctx, alias, third)
    assert ctx.payload is third
    assert getattr(ctx, alias) is third


@pytest.mark.parametrize(("kind", "attribute"), CALLS)
def test_before_a_call_the_payload_is_the_context(kind: type[Any], attribute: str) -> None:
    """'`PRE_MODEL_CALL` | Before an LLM call | `LLMCallHookContext`', and for tools."""
    ctx = kind()

    assert ctx.payload is ctx
    with pytest.raises(AttributeError, match="change its fields in place"):
        ctx.payload = "other"
    assert getattr(ctx, attribute) is None


@pytest.mark.parametrize("text", ["text", ""])
@pytest.mark.parametrize(("kind", "attribute"), CALLS)
def test_after_a_call_the_payload_is_its_result(kind: type[Any], attribute: str, text: str) -> None:
    """'`POST_MODEL_CALL` | After an LLM call | response', '`POST_TOOL_CALL` ... tool result'."""
    ctx = kind(**{attribute: text})

    assert ctx.payload is text
    ctx.payload = "redacted"
    assert (getattr(ctx, attribute), ctx.payload) == ("redacted", "redacted")


def test_a_model_call_has_these_fields() -> None:
    assert dataclasses.asdict(LLMCallHookContext()) == {
        "messages": [],
        "response": None,
        "executor": None,
        "agent": None,
        "task": None,
        "crew": None,
        "llm": None,
        "iterations": 0,
    }


def test_a_tool_call_has_these_fields() -> None:
    assert dataclasses.asdict(ToolCallHookContext()) == {
        "tool_name": "",
        "tool_input": {},
        "tool": None,
        "agent": None,
        "task": None,
        "crew": None,
        "tool_result": None,
        "raw_tool_result": None,
    }


def test_a_step_says_its_kind_and_name() -> None:
    """'`PRE_STEP` / `POST_STEP` carry `ctx.kind` ... and `ctx.step_name`'."""
    ctx = contexts.StepContext("input", kind="flow_method", step_name="fetch")
    assert (ctx.payload, ctx.kind, ctx.step_name) == ("input", "flow_method", "fetch")


def test_an_end_says_status_and_error() -> None:
    """'status: "completed" or "failed"'; 'error: The exception when status == "failed"'."""
    error = RuntimeError("boom")
    ctx = contexts.ExecutionEndContext(None, status="failed", error=error)
    assert (ctx.output, ctx.status, ctx.error) == (None, "failed", error)


def test_contexts_share_no_mutable_default() -> None:
    assert LLMCallHookContext().messages is not LLMCallHookContext().messages
    assert ToolCallHookContext().tool_input is not ToolCallHookContext().tool_input

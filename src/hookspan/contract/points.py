"""The twenty interception points and what each of them is about."""

from __future__ import annotations

from enum import Enum


class InterceptionPoint(str, Enum):
    """A place in a run where hooks may observe, change or stop what happens.

    The values are the names that crewAI uses, so that a member of this enum and crewAI's member of
    the same value are equal, hash alike and select the same hooks. The comment beside each member
    names its payload: the value that a hook may change in place or replace.
    """

    # Execution boundaries: the outermost edges of a run.
    EXECUTION_START = "execution_start"  # inputs dict
    INPUT = "input"  # inputs dict
    OUTPUT = "output"  # the output object
    EXECUTION_END = "execution_end"  # the output object

    # Model and tool boundaries.
    PRE_MODEL_CALL = "pre_model_call"  # the LLMCallHookContext itself
    POST_MODEL_CALL = "post_model_call"  # the response
    PRE_TOOL_CALL = "pre_tool_call"  # the ToolCallHookContext itself
    POST_TOOL_CALL = "post_tool_call"  # the tool result

    # Step and agent points.
    PRE_STEP = "pre_step"  # step input
    POST_STEP = "post_step"  # step output
    TOOL_SELECTION = "tool_selection"  # list of tools
    PRE_DELEGATION = "pre_delegation"  # delegation input
    RETRY_ATTEMPT = "retry_attempt"  # retry input

    # Subsystem points.
    MEMORY_WRITE = "memory_write"  # value
    MEMORY_READ = "memory_read"  # query
    KNOWLEDGE_RETRIEVAL = "knowledge_retrieval"  # query
    PRE_CODE_EXECUTION = "pre_code_execution"  # code string
    MCP_CONNECT = "mcp_connect"  # connection parameters

    # Flow points.
    FLOW_TRANSITION = "flow_transition"  # list of target methods
    ROUTER_DECISION = "router_decision"  # route label


PointLike = InterceptionPoint | str
"""A point as callers may give it: our member, crewAI's of the same value, or the value itself."""

BOUNDARY_POINTS = frozenset(
    {
        InterceptionPoint.EXECUTION_START,
        InterceptionPoint.INPUT,
        InterceptionPoint.OUTPUT,
        InterceptionPoint.EXECUTION_END,
    }
)
"""The points that open and close a run, as opposed to what happens inside it."""

MODEL_POINTS = frozenset({InterceptionPoint.PRE_MODEL_CALL, InterceptionPoint.POST_MODEL_CALL})
"""The points around a model call, with legacy semantics for what a hook returns."""

TOOL_POINTS = frozenset({InterceptionPoint.PRE_TOOL_CALL, InterceptionPoint.POST_TOOL_CALL})
"""The points around a tool call, with legacy semantics for what a hook returns."""

STEP_POINTS = frozenset(
    {
        InterceptionPoint.PRE_STEP,
        InterceptionPoint.POST_STEP,
        InterceptionPoint.TOOL_SELECTION,
        InterceptionPoint.PRE_DELEGATION,
        InterceptionPoint.RETRY_ATTEMPT,
    }
)
"""The points around the steps of an agent or a flow."""

SUBSYSTEM_POINTS = frozenset(
    {
        InterceptionPoint.MEMORY_WRITE,
        InterceptionPoint.MEMORY_READ,
        InterceptionPoint.KNOWLEDGE_RETRIEVAL,
        InterceptionPoint.PRE_CODE_EXECUTION,
        InterceptionPoint.MCP_CONNECT,
    }
)
"""The points at memory, knowledge, code execution and MCP."""

FLOW_POINTS = frozenset({InterceptionPoint.FLOW_TRANSITION, InterceptionPoint.ROUTER_DECISION})
"""The points at which a flow decides what runs next."""

"""The typed context that each point hands to its hooks.

Every field has a default, so that one that means nothing for a runtime is simply None. A named
alias (``ctx.inputs``, ``ctx.query``) is a view on ``payload``: reading it gives the payload as the
hooks before have left it, assigning it assigns the payload. It can therefore never go stale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


def _alias(meaning: str) -> Any:
    """Make a property that is another name of ``payload``."""

    def read(ctx: InterceptionContext) -> Any:
        return ctx.payload

    def write(ctx: InterceptionContext, value: Any) -> None:
        ctx.payload = value

    return property(read, write, doc=f"{meaning}: another name of ``payload``.")


def _self_then(attribute: str) -> Any:
    """Make a payload that is the context itself before a call and an attribute of it after."""

    def read(ctx: Any) -> Any:
        value = getattr(ctx, attribute)
        return ctx if value is None else value

    def write(ctx: Any, value: Any) -> None:
        if getattr(ctx, attribute) is None:
            message = "before the call the payload is the context: change its fields in place"
            raise AttributeError(message)
        setattr(ctx, attribute, value)

    return property(read, write, doc=f"The context before the call, then ``{attribute}``.")


@dataclass
class InterceptionContext:
    """What the contexts of all points share.

    Attributes:
        payload: The value that a hook may change in place or replace.
        agent: The agent at work, where there is one.
        agent_role: Its role, where there is one.
        task: The task at work, where there is one.
        crew: The crew, in crew runs only.
        flow: The flow, in flow runs only.
    """

    payload: Any = None
    agent: Any = None
    agent_role: str | None = None
    task: Any = None
    crew: Any = None
    flow: Any = None


@dataclass
class ExecutionStartContext(InterceptionContext):
    """``execution_start``: a run is about to begin. Payload: the inputs dict."""

    inputs = _alias("The inputs of the run")


@dataclass
class InputContext(InterceptionContext):
    """``input``: the inputs of a run are resolved. Payload: the inputs dict."""

    inputs = _alias("The inputs of the run")


@dataclass
class OutputContext(InterceptionContext):
    """``output``: the result of a run is ready. Payload: the output object."""

    output = _alias("The output of the run")


@dataclass
class ExecutionEndContext(InterceptionContext):
    """``execution_end``: a run has finished, either way. Payload: the output object.

    Attributes:
        status: ``completed``, or ``failed`` when the run raised.
        error: What the run raised; None when it completed.
    """

    status: Literal["completed", "failed"] = "completed"
    error: BaseException | None = None
    output = _alias("The output of the run (None when it failed)")


@dataclass
class LLMCallHookContext:
    """``pre_model_call`` and ``post_model_call``: a model call.

    The messages are changed in place. ``payload`` is the context itself before the call and the
    response after it.

    Attributes:
        messages: The messages of the call; a hook may edit the list in place.
        response: The response, after the call; a hook replaces it by returning a string.
        executor: What drives the agent, where there is one.
        agent: The agent that calls, where there is one.
        task: Its task, where there is one.
        crew: Its crew, where there is one.
        llm: The model.
        iterations: Model calls that this agent has already made in its task.
    """

    messages: list[Any] = field(default_factory=list[Any])
    response: str | None = None
    executor: Any = None
    agent: Any = None
    task: Any = None
    crew: Any = None
    llm: Any = None
    iterations: int = 0

    payload = _self_then("response")


@dataclass
class ToolCallHookContext:
    """``pre_tool_call`` and ``post_tool_call``: a tool call.

    The input is changed in place. ``payload`` is the context itself before the call and the result
    after it.

    Attributes:
        tool_name: The tool's name.
        tool_input: Its arguments; a hook may edit the dict in place.
        tool: The tool.
        agent: The agent that calls, where there is one.
        task: Its task, where there is one.
        crew: Its crew, where there is one.
        tool_result: The result, after the call; a hook replaces it by returning a string.
        raw_tool_result: The result as the tool returned it; not changed by hooks.
    """

    tool_name: str = ""
    tool_input: dict[str, Any] = field(default_factory=dict[str, Any])
    tool: Any = None
    agent: Any = None
    task: Any = None
    crew: Any = None
    tool_result: str | None = None
    raw_tool_result: Any = None

    payload = _self_then("tool_result")


@dataclass
class StepContext(InterceptionContext):
    """``pre_step`` and ``post_step``: a task or a flow method. Payload: its input, its output.

    Attributes:
        kind: ``task`` or ``flow_method``.
        step_name: The name of the task or method.
    """

    kind: Literal["task", "flow_method"] | None = None
    step_name: str | None = None


@dataclass
class ToolSelectionContext(InterceptionContext):
    """``tool_selection``: tools are offered to an agent. Payload: the list of tools."""

    tools = _alias("The tools on offer")


@dataclass
class PreDelegationContext(InterceptionContext):
    """``pre_delegation``: an agent is about to delegate. Payload: the delegation input.

    The agent is the one that delegates. Payload and context may both be changed.

    Attributes:
        coworker: The name by which the coworker was asked for.
        delegate_to: The agent that would do the work, where it was found.
        context: What is handed to the coworker beside the task.
    """

    coworker: str | None = None
    delegate_to: Any = None
    context: str | None = None


@dataclass
class RetryAttemptContext(InterceptionContext):
    """``retry_attempt``: an operation is about to be retried. Payload: the retry input.

    Attributes:
        attempt: The number of the attempt that is about to begin, from 2.
        max_attempts: How many there may be; None when there is no bound.
        error: What made the last attempt fail.
        operation: What is tried again: ``task``, ``guardrail``, ``tool_call`` (reading which tool
            the model wants) or ``tool`` (running it); None in a runtime that does not say.
        tool_name: The name of the tool, where a tool runs again.
    """

    attempt: int = 2
    max_attempts: int | None = None
    error: BaseException | None = None
    operation: str | None = None
    tool_name: str | None = None


@dataclass
class MemoryWriteContext(InterceptionContext):
    """``memory_write``: a value is about to be stored. Payload: the value.

    Attributes:
        memory_type: Which memory.
        metadata: What is stored with the value.
        scope: Where in the memory; None where the memory itself is to find that out.
        tool_name: The name of the tool that stores, where an agent asked for it by a tool.
    """

    memory_type: str | None = None
    metadata: Any = None
    scope: str | None = None
    tool_name: str | None = None
    value = _alias("The value to store")


@dataclass
class MemoryReadContext(InterceptionContext):
    """``memory_read``: a memory is queried. Payload: the query.

    Attributes:
        memory_type: Which memory.
        scope: Where in the memory; None for all of it.
        tool_name: The name of the tool that asks, where an agent asked by a tool.
    """

    memory_type: str | None = None
    scope: str | None = None
    tool_name: str | None = None
    query = _alias("The query")


@dataclass
class KnowledgeRetrievalContext(InterceptionContext):
    """``knowledge_retrieval``: knowledge is queried. Payload: the query."""

    query = _alias("The query")


@dataclass
class PreCodeExecutionContext(InterceptionContext):
    """``pre_code_execution``: code is about to run. Payload: the code.

    Attributes:
        language: The language of the code.
        step_name: The flow method that the code is the body of, where there is one.
    """

    language: str | None = None
    step_name: str | None = None
    code = _alias("The code to run")


@dataclass
class MCPConnectContext(InterceptionContext):
    """``mcp_connect``: an MCP client is about to connect. Payload: the connection parameters.

    Attributes:
        server_name: The server's name.
        tool_name: The name of the tool that is called there; None when its tools are looked for.
        tool: That tool.
    """

    payload: Any = field(default=None, repr=False)  # may hold secrets
    server_name: str | None = None
    tool_name: str | None = None
    tool: Any = None
    server_params = _alias("The connection parameters (may hold secrets)")


@dataclass
class FlowTransitionContext(InterceptionContext):
    """``flow_transition``: a flow moves on. Payload: the list of target methods.

    Attributes:
        from_method: The method that has ended.
        trigger: What triggers the targets.
    """

    from_method: str | None = None
    trigger: str | None = None
    to_methods = _alias("The methods that will run next")


@dataclass
class RouterDecisionContext(InterceptionContext):
    """``router_decision``: a router has picked a route. Payload: the route label.

    Attributes:
        router_name: The router method.
    """

    router_name: str | None = None
    route = _alias("The route that was picked")

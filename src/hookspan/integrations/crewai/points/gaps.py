"""Ways around points that crewAI itself takes, closed.

A declared flow runs a tool without asking anybody, and an asynchronous model call asks before it
but not after it. crewAI's own functions for that are called there, so that a hook sees what it sees
elsewhere. A `LiteAgent` offers its tools without coming to the seam of agents. Where one of these
places is missing, the point stays as it is without it.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import ToolSelectionContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.patching import Patch
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam

_ANSWERED: ContextVar[list[bool] | None] = ContextVar("hookspan-answered", default=None)
"""Holds something once crewAI itself has asked about the answer of the model call around."""


class _AskedTool:
    """Stands for a tool in the one run of an action that asks about it.

    Args:
        tool: The tool.
    """

    def __init__(self, tool: Any) -> None:
        self._tool = tool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    def run(self, **arguments: Any) -> Any:
        """Do what crewAI does around a tool that an agent calls."""
        hooks = importlib.import_module("crewai.hooks.tool_hooks")
        names = importlib.import_module("crewai.utilities.string_utils")
        who = identity()
        ctx = hooks.ToolCallHookContext(
            tool_name=names.sanitize_tool_name(self._tool.name),
            tool_input=arguments,
            tool=self._tool,
            agent=who["agent"],
            task=who["task"],
            crew=who["crew"],
        )
        blocked = hooks.run_before_tool_call_hooks(ctx)
        text = f"Tool execution blocked by hook. Tool: {ctx.tool_name}"
        result = text if blocked else self._tool.run(**ctx.tool_input)
        ctx.tool_result, ctx.raw_tool_result = str(result), result
        said = hooks.run_after_tool_call_hooks(ctx)
        return result if said == str(result) else said


def _act(gates: tuple[Gate, ...], original: Any) -> Any:
    """Ask before and after the tool that an action of a declared flow runs."""

    @functools.wraps(original)
    def run(action: Any, *args: Any, **kwargs: Any) -> Any:
        if any(gate.wanted() for gate in gates):
            action = copy.copy(action)
            action.tool = _AskedTool(action.tool)
        return original(action, *args, **kwargs)

    return run


def _note(_gates: tuple[Gate, ...], original: Any) -> Any:
    """Know that crewAI has asked about an answer itself."""

    @functools.wraps(original)
    def ask(*args: Any, **kwargs: Any) -> Any:
        answered = _ANSWERED.get()
        if answered is not None:
            answered.append(True)
        return original(*args, **kwargs)

    return ask


def _acall(gates: tuple[Gate, ...], original: Any) -> Any:
    """Ask about the answer of an asynchronous model call, where crewAI does not."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        if not any(gate.wanted() for gate in gates):
            return await original(*args, **kwargs)
        answered: list[bool] = []
        token = _ANSWERED.set(answered)
        try:
            answer = await original(*args, **kwargs)
        finally:
            _ANSWERED.reset(token)
        if answered or not isinstance(answer, str):
            return answer
        given = signature.bind(*args, **kwargs).arguments
        messages = given["messages"]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        llm: Any = given["self"]
        ask = llm._invoke_after_llm_call_hooks  # noqa: SLF001 - what `call` does
        return ask(messages, answer, given.get("from_agent"))

    return acall


def _offer(gates: tuple[Gate, ...], original: Any) -> Any:
    """Ask about the tools of a light agent when its first messages, which list them, are made."""

    @functools.wraps(original)
    def format_messages(agent: Any, *args: Any, **kwargs: Any) -> Any:
        (gate,) = gates
        if gate.wanted():
            tools = [*agent._parsed_tools]  # noqa: SLF001 - where it keeps them
            ctx = gate.dispatch(lambda: ToolSelectionContext(tools, **identity(agent)))
            if ctx is not None:
                agent._parsed_tools = list(ctx.payload)  # noqa: SLF001 - for this run
        return original(agent, *args, **kwargs)

    return format_messages


def _keep(gates: tuple[Gate, ...], original: Any) -> Any:
    """Give a light agent its tools back after a run for which hooks may have chosen."""

    @functools.wraps(original)
    def kickoff(agent: Any, *args: Any, **kwargs: Any) -> Any:
        if not gates[0].wanted():
            return original(agent, *args, **kwargs)
        tools = agent._parsed_tools  # noqa: SLF001 - where it keeps them
        try:
            return original(agent, *args, **kwargs)
        finally:
            agent._parsed_tools = tools  # noqa: SLF001 - see above

    return kickoff


Wrap = Callable[[tuple[Gate, ...], Any], Any]

_TOOL_POINTS = (InterceptionPoint.PRE_TOOL_CALL, InterceptionPoint.POST_TOOL_CALL)
_MODEL_POINTS = (InterceptionPoint.POST_MODEL_CALL,)
_OFFER_POINTS = (InterceptionPoint.TOOL_SELECTION,)
_LITE = "crewai.lite_agent"
_PROVIDERS = {
    "anthropic": "AnthropicCompletion",
    "azure": "AzureCompletion",
    "bedrock": "BedrockCompletion",
    "gemini": "GeminiCompletion",
    "openai": "OpenAICompletion",
}


def _model(module: str, name: str) -> Seam:
    return Seam(module, f"{name}.acall", ("messages", "from_agent"), is_async=True, late=True)


PLACES: tuple[tuple[tuple[InterceptionPoint, ...], Seam, Wrap], ...] = (
    (_TOOL_POINTS, Seam("crewai.flow.runtime._actions", "ToolAction.run", ()), _act),
    (
        _MODEL_POINTS,
        Seam("crewai.llms.base_llm", "BaseLLM._invoke_after_llm_call_hooks", ("messages",)),
        _note,
    ),
    (_OFFER_POINTS, Seam(_LITE, "LiteAgent._format_messages", ("messages",)), _offer),
    (_OFFER_POINTS, Seam(_LITE, "LiteAgent.kickoff", ("messages",)), _keep),
    (_MODEL_POINTS, _model("crewai.llm", "LLM"), _acall),
    *(
        (_MODEL_POINTS, _model(f"crewai.llms.providers.{name}.completion", kind), _acall)
        for name, kind in _PROVIDERS.items()
    ),
)


def patches(seam: Seam, wrap: Wrap, gates: tuple[Gate, ...]) -> Iterator[Patch]:
    """Make the patch of one place, if it is there."""
    if seam.problem() is None:
        yield Patch(*seam.place(), functools.partial(wrap, gates))

"""A model that says what a test wants, behind crewAI's own interface for models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from crewai.events.types.llm_events import LLMCallType
from crewai.llms.base_llm import BaseLLM, llm_call_context
from pydantic import PrivateAttr

Answer: TypeAlias = "str | list[dict[str, Any]] | BaseException"
"""A text, calls of tools (see `tool_calls`), or an exception to raise."""


@dataclass(frozen=True)
class ModelCall:
    """What a model was asked: role and content of each message, and the names of its tools."""

    messages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]

    @property
    def prompt(self) -> str:
        """All messages as one text."""
        return "\n".join(content for _, content in self.messages)

    @property
    def has_tool_result(self) -> bool:
        """Whether a tool that was called natively has answered already."""
        return any(role == "tool" for role, _ in self.messages)


Script: TypeAlias = "Sequence[Answer] | Callable[[ModelCall], Answer]"


def final(text: str) -> str:
    """Return the answer of an agent that is done."""
    return f"Thought: I now can give a great answer\nFinal Answer: {text}"


def use_tool(name: str, **arguments: Any) -> str:
    """Return the answer of an agent that wants a tool, in crewAI's text protocol (ReAct)."""
    return f"Thought: I need it\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def tool_calls(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answer of a model that calls tools natively, several of them at once."""
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]


class ScriptedLLM(BaseLLM):
    """Answers by script, with the events and hooks that crewAI's own providers have.

    Copies (crewAI makes some) share the script and the record of calls.

    Args:
        script: Answers in order, or a function from a call to an answer.
        native: Whether the model can call tools itself; else crewAI uses its text protocol.
        settings: Fields of `BaseLLM`.
    """

    _script: Script = PrivateAttr()
    _native: bool = PrivateAttr()
    _calls: list[ModelCall] = PrivateAttr(default_factory=list[ModelCall])

    def __init__(self, script: Script, *, native: bool = False, **settings: Any) -> None:
        fields: dict[str, Any] = {"model": "scripted", "provider": "scripted", **settings}
        super().__init__(**fields)
        self._script = script if callable(script) else list(script)
        self._native = native

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """What was asked so far."""
        return tuple(self._calls)

    def say(self, *answers: Answer) -> None:
        """Go on with other answers."""
        self._script = list(answers)

    def call(  # noqa: PLR0913, PLR0917 - the signature of BaseLLM.call
        self,
        messages: Any,
        tools: Any = None,
        callbacks: Any = None,
        available_functions: Any = None,
        from_task: Any = None,
        from_agent: Any = None,
        response_model: Any = None,
    ) -> Any:
        """Answer as the script says.

        Raises:
            BaseException: If the script says so.
            AssertionError: If the script is at its end.
        """
        asked = self._format_messages(messages)
        with llm_call_context():
            self._emit_call_started_event(
                asked, tools, callbacks, available_functions, from_task, from_agent
            )
            try:
                answer = self._answer(asked, tools, from_task, from_agent)
            except BaseException as error:
                self._emit_call_failed_event(str(error), from_task, from_agent)
                raise
            kind = LLMCallType.LLM_CALL if isinstance(answer, str) else LLMCallType.TOOL_CALL
            self._emit_call_completed_event(answer, kind, from_task, from_agent, asked)
        return answer

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """Answer as `call` does, after other tasks of the loop had their turn."""
        await asyncio.sleep(0)
        return self.call(*args, **kwargs)

    def supports_function_calling(self) -> bool:
        """Whether crewAI may hand tools to `call`."""
        return self._native

    def _answer(self, asked: list[Any], tools: Any, task: Any, agent: Any) -> Any:
        if not self._invoke_before_llm_call_hooks(asked, agent):
            message = "LLM call blocked by before_llm_call hook"
            raise ValueError(message)
        answer = self._next(_model_call(asked, tools))
        if isinstance(answer, BaseException):
            raise answer
        if not isinstance(answer, str):
            return answer
        if self._effective_stream():
            for word in answer.split(" "):
                self._emit_stream_chunk_event(f"{word} ", task, agent)
        return self._invoke_after_llm_call_hooks(asked, answer, agent)

    def _next(self, call: ModelCall) -> Answer:
        self._calls.append(call)
        if callable(self._script):
            return self._script(call)
        if isinstance(self._script, list) and self._script:
            answer: Answer = self._script.pop(0)
            return answer
        message = f"no answer left for call {len(self._calls)}: {call}"
        raise AssertionError(message)


def _model_call(messages: list[Any], tools: Any) -> ModelCall:
    return ModelCall(
        messages=tuple((message["role"], str(message["content"])) for message in messages),
        tools=tuple(tool["function"]["name"] for tool in tools or ()),
    )

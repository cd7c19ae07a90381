"""A model that follows a script: no key, no network, the same answers every time."""

from __future__ import annotations

import json
import time
from typing import Any

from crewai.llms.base_llm import BaseLLM
from pydantic import Field


class ScriptedModel(BaseLLM):
    """Answers each call with the next line of its script.

    Attributes:
        script: The answers, in order, each in the form that crewAI's agents expect.
        pause: How long each answer takes, in seconds, so that one can watch.
        turn: How many answers were given.
    """

    script: list[str] = Field(default_factory=list[str])
    pause: float = 0.0
    turn: int = 0

    def call(self, messages: Any, *_args: Any, **_options: Any) -> str:
        """Give the next answer, whatever the messages say."""
        del messages
        time.sleep(self.pause)
        self.turn += 1
        return self.script[self.turn - 1]

    async def acall(self, messages: Any, *args: Any, **options: Any) -> str:
        """Give the next answer, whatever the messages say."""
        return self.call(messages, *args, **options)

    def get_input_tokens_count(self, messages: Any, *_args: Any, **_options: Any) -> int:
        """Count nothing: there is no limit to keep to."""
        del messages
        return 0

    def supports_function_calling(self) -> bool:
        """Tell that tools are asked for in the text of an answer."""
        return False


def use_tool(name: str, **arguments: Any) -> str:
    """Return an answer that asks for a tool."""
    return f"Thought: I need a tool.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def final(answer: str) -> str:
    """Return an answer that ends a task."""
    return f"Thought: I now can give a great answer\nFinal Answer: {answer}"

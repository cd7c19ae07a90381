"""A model that follows a script and keeps what it was asked."""

from __future__ import annotations

import json
from typing import Any

from hookspan.cli.catalogue.evidence import Evidence
from hookspan.cli.demo.model import ScriptedModel


class RecordedModel(ScriptedModel):
    """Notes every prompt; an answer that is an exception is raised.

    Attributes:
        answers: The answers, in order; the last one is given again where more are wanted.
        evidence: Where the prompts are noted.
        native: Whether it calls tools itself, instead of asking for them in its text.
    """

    answers: list[Any]
    evidence: Any
    native: bool = False

    def call(self, messages: Any, *_args: Any, **_options: Any) -> Any:
        """Give the next answer."""
        texts = [messages] if isinstance(messages, str) else [str(m["content"]) for m in messages]
        self.evidence.read.append("\n".join(texts))
        answer = self.answers[min(self.turn, len(self.answers) - 1)]
        self.turn += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def acall(self, messages: Any, *args: Any, **options: Any) -> Any:
        """Give the next answer."""
        return self.call(messages, *args, **options)

    def supports_function_calling(self) -> bool:
        """Tell whether it calls tools itself."""
        return self.native


def model(evidence: Evidence, *answers: Any, native: bool = False) -> RecordedModel:
    """Make a model.

    Args:
        evidence: Where its prompts are noted.
        *answers: What it says, in order.
        native: Whether it calls tools itself.
    """
    return RecordedModel(model="scripted", answers=list(answers), evidence=evidence, native=native)


def call_tool(name: str, **arguments: Any) -> list[dict[str, Any]]:
    """Return the answer of a model that calls a tool itself."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"id": "call_1", "type": "function", "function": function}]

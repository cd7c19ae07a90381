"""What happens, while it happens, on standard error."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from hookspan.cli.glyphs import duration_text, glyphs_for
from hookspan.pipeline.collector import ReadableSpan


class Progress:
    """One line per step when it is done; on a terminal also what is being done.

    Args:
        console: Where to.

    Attributes:
        watched: Whether it is a terminal.
    """

    def __init__(self, console: Console) -> None:
        self.watched = console.is_terminal
        self._console = console
        spinner = "line" if glyphs_for(console.encoding).ascii else "dots"
        self._status = console.status("", spinner=spinner)
        self._step = ""

    @contextmanager
    def step(self, step: str) -> Generator[list[str]]:
        """Show a step.

        Args:
            step: What is being done.

        Yields:
            A list to put into what came of it.
        """
        results: list[str] = []
        self._step, since = step, time.monotonic()
        if self.watched:
            self._status.update(f"{step} ...")
            self._status.start()
        try:
            yield results
        finally:
            self._status.stop()
        line = Text(": ".join([step, *results]))
        self._console.print(line.append(f" ({duration_text(time.monotonic() - since)})", "dim"))

    def end(self) -> None:
        """Set what follows apart."""
        self._console.print()

    def saw(self, span: ReadableSpan) -> None:
        """Show a span that has ended."""
        self._status.update(f"{self._step} ... {span.name}")

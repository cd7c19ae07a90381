"""``hookspan run``: somebody's program, traced, and what its hooks decided."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import importlib.util
import logging
import os
import sys
from pathlib import Path
from typing import Any, TextIO

import wrapt

from hookspan.cli.console import make_console
from hookspan.cli.delivery import deliver, find_targets, silence_exporters
from hookspan.cli.document import document
from hookspan.cli.program import run_program
from hookspan.cli.report import print_report
from hookspan.cli.service import name_service
from hookspan.cli.tree import build
from hookspan.contract.errors import InstrumentationError
from hookspan.integrations.crewai.instrumentor import instrument
from hookspan.pipeline.collector import SpanCollector
from hookspan.pipeline.environment import is_disabled
from hookspan.pipeline.providers import provide

_WRONG_USE = 2


def run(options: argparse.Namespace) -> int:
    """Run a program in this process, instrumented; the report follows at exit.

    Args:
        options: What the command line says.

    Returns:
        0, or 2 when there is no such program. What the program raises, `SystemExit` included, is
        raised: the interpreter then does what it does for ``python script.py``.
    """
    name, arguments = _program(options)
    is_module: bool = options.module
    if not name or not (is_module or Path(name).exists()):
        sys.stderr.write(f"hookspan run: {_missing(name)}\n")
        return _WRONG_USE
    report = Report(sys.stderr, color=not options.no_color)
    if options.json is not None and not report.open_document(options.json):
        return _WRONG_USE
    _say_by_one_line_each()
    silence_exporters()
    name_service(name if is_module else Path(name).resolve().stem)
    # Registered before the program has begun: at exit it comes after all that the program has
    # registered, when the threads that are waited for have ended.
    atexit.register(report.print)
    provide(report.collector)
    report.targets = find_targets()
    _instrument_in_time()
    run_program(name, arguments, is_module=is_module)
    return 0


def _program(options: argparse.Namespace) -> tuple[str, list[str]]:
    program: list[str] = options.program
    if program[:1] == ["--"]:
        program = program[1:]
    return (program[0], program[1:]) if program else ("", [])


def _missing(name: str) -> str:
    if not name:
        return "which program? See hookspan run --help"
    return f"can't open file {name!r}: no such file"


def _instrument_in_time() -> None:
    """Instrument when the program has imported crewAI; at once where there is none.

    It is not imported for the program: its import reads the environment, which the program may be
    about to set.
    """
    if is_disabled():
        return
    if importlib.util.find_spec("crewai") is None:
        instrument()
        return

    def instrument_now(_module: Any) -> None:
        try:
            instrument()
        except InstrumentationError as error:  # only what the environment requires is refused
            sys.exit(f"hookspan: {error}")

    wrapt.register_post_import_hook(instrument_now, "crewai")


def _say_by_one_line_each() -> None:
    """Show what hookspan logs as lines of its own, whatever logging the program sets up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("hookspan: %(message)s"))
    logger = logging.getLogger("hookspan")
    logger.addHandler(handler)
    logger.propagate = False


class Report:
    """What is shown when the program has ended.

    Args:
        stream: Where to.
        color: Whether colour may be used.

    Attributes:
        collector: Keeps the spans that are shown.
        targets: Where each signal goes.
    """

    def __init__(self, stream: TextIO, *, color: bool) -> None:
        self.collector = SpanCollector()
        self.targets: dict[str, str] = {}
        self._stream = stream
        self._color = color
        self._document: TextIO | None = None
        self._pid = os.getpid()

    def open_document(self, path: Path) -> bool:
        """Open a file for the JSON document; say so where that cannot be done."""
        try:
            self._document = path.open("w", encoding="utf-8")
        except OSError as error:
            self._stream.write(f"hookspan run: cannot write {path}: {error.strerror}\n")
        return self._document is not None

    def print(self) -> None:
        """Print it, in the process that began the program only; whatever fails, nothing is raised.

        The exit code is the program's.
        """
        if os.getpid() != self._pid:
            return
        with contextlib.suppress(OSError, ValueError):  # the program may have closed it
            sys.stdout.flush()
        try:
            self._print()
        except Exception as error:  # noqa: BLE001 - see above
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(f"hookspan: the report failed: {error!r}\n")

    def _print(self) -> None:
        delivery = deliver(self.targets)
        collector = self.collector
        roots = build(collector.spans, collector.foreign)
        if self._document is not None:
            with self._document as file:
                file.write(document(roots, delivery, collector.dropped) + "\n")
        print_report(
            make_console(self._stream, color=self._color), roots, delivery, collector.dropped
        )

"""Consoles: the terminal as it is, and one that draws a picture."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME

_PICTURE_WIDTH = 104
_FONT_FACE = re.compile(r"@font-face \{\{.*?\n    \}\}\n", re.DOTALL)


def make_console(stream: TextIO, *, color: bool) -> Console:
    """Make a console that colours what is a terminal, unless ``NO_COLOR`` is set.

    Args:
        stream: Where it prints to.
        color: Whether colour may be used.
    """
    return Console(file=stream, no_color=None if color else True, highlight=False, markup=False)


def write_picture(path: Path, title: str, show: Callable[[Console], None]) -> None:
    """Draw what is printed into an SVG file that loads nothing from elsewhere.

    Args:
        path: The file.
        title: What stands above the picture.
        show: Prints to the console that it is given.
    """
    console = Console(
        file=io.StringIO(),
        record=True,
        force_terminal=True,
        color_system="truecolor",
        width=_PICTURE_WIDTH,
        highlight=False,
        markup=False,
        legacy_windows=False,
    )
    show(console)
    code_format = _FONT_FACE.sub("", CONSOLE_SVG_FORMAT)
    console.save_svg(str(path), title=title, theme=SVG_EXPORT_THEME, code_format=code_format)

"""A user's program, run as ``python`` itself would run it."""

from __future__ import annotations

import builtins
import io
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType

_COMPILED = {".pyc", ".pyz", ".zip"}
_RUNPY = {"<frozen runpy>", runpy.__file__}


def run_program(name: str, arguments: Sequence[str], *, is_module: bool) -> None:
    """Run a script or module as ``__main__``; whatever it raises is raised.

    An exception that nobody takes is then shown without frames of ours.

    Args:
        name: Path of the script, or name of the module.
        arguments: Its arguments.
        is_module: Whether it is a module.
    """
    sys.argv = [name, *arguments]
    path = Path(name)
    try:
        if is_module:
            _set_first_path(Path.cwd())
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        elif path.is_dir() or path.suffix in _COMPILED:
            _set_first_path(path)
            runpy.run_path(name, run_name="__main__")
        else:
            _set_first_path(path.resolve().parent)
            _run_source(str(path.absolute()))
    except SystemExit:
        raise
    except BaseException:
        _hide_own_frames()
        raise


def _set_first_path(path: Path) -> None:
    """Put what python would put first on the search path in the place of our own folder."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(path)


def _run_source(path: str) -> None:
    """Run a file in a module that stays ``__main__``, also for threads that go on after it."""
    with io.open_code(path) as file:
        source = file.read()
    module = ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    vars(module).update(__builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - the user's


def _hide_own_frames() -> None:
    """Have the exception that is about to leave us shown without frames of ours."""
    show = sys.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        error.__traceback__ = _from_program_on(traceback)  # what the built-in hook shows
        show(kind, error, error.__traceback__)

    sys.excepthook = hook


def _from_program_on(traceback: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the user's program, or None."""
    left_us = False
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file == __file__:
            left_us = True
        elif left_us and file not in _RUNPY:
            break
        traceback = traceback.tb_next
    return traceback

"""``hookspan mixin``: rules and dashboards with a user's own thresholds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pydantic import ValidationError

from hookspan.mixin import outputs
from hookspan.mixin.settings import load


def mixin(options: argparse.Namespace) -> int:
    """Build the files, or check those that are there.

    Args:
        options: `action`, `settings`, `out` and `docs` of the command line.

    Returns:
        0; 1 when `check` found a file that differs; 2 when the settings make no sense.
    """
    try:
        settings = load(options.settings)
    except (OSError, ValidationError) as error:
        sys.stderr.write(f"hookspan: the settings cannot be used: {error}\n")
        return 2
    folders: dict[Path, dict[str, str]] = {options.out: outputs.outputs(settings)}
    if options.docs is not None:
        folders[options.docs] = outputs.pages(settings)
    act = outputs.differing if options.action == "check" else outputs.write
    differing = [path for folder, texts in folders.items() for path in act(folder, texts)]
    said = "is out of date" if options.action == "check" else "written"
    sys.stdout.write("".join(f"{path} {said}\n" for path in differing))
    return 1 if differing and options.action == "check" else 0

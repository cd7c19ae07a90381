"""Write what is generated from the registry, or check that it is up to date.

Usage: python -m semconv.generate [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from semconv import constants, registry, tables

ROOT = Path(__file__).parent.parent


def outputs() -> dict[Path, str]:
    """Return the text of every generated file by its path in the repository."""
    signals = registry.load()
    return {
        Path("src/hookspan/telemetry/semconv.py"): constants.render(signals),
        Path("docs/signals.md"): tables.render(signals),
    }


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` only compare them.

    Returns:
        1 when `--check` found a file that differs, else 0.
    """
    texts = outputs()
    stale = [path for path, text in texts.items() if _differs(ROOT / path, text)]
    if "--check" in arguments:
        for path in stale:
            sys.stdout.write(f"{path} is out of date: run python -m semconv.generate\n")
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(texts[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


def _differs(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

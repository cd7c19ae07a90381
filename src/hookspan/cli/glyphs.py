"""What is drawn with, and text that is safe to print."""

from __future__ import annotations

from dataclasses import dataclass

from hookspan.telemetry import semconv

# What would be rounded up to 10.0 ms, or to 1000 ms, is written in the next form.
_ONE_DIGIT_BELOW = 9.95
_MILLIS_BELOW = 999.5


@dataclass(frozen=True)
class Glyphs:
    """The characters of a terminal that knows UTF-8.

    Attributes:
        branch: Before a node that others follow.
        last: Before the last one.
        trunk: Below a branch.
        gap: Below a last one.
        abort: Before what was denied.
        crash: Before a hook that crashed.
        arrow: Before what came of it.
        kinds: Before a run, by its kind.
        ascii: Whether nothing else may be printed.
    """

    branch: str = "├─ "
    last: str = "└─ "
    trunk: str = "│  "
    gap: str = "   "
    abort: str = "✗"
    crash: str = "!"
    arrow: str = "→"
    kinds: tuple[tuple[str, str], ...] = (
        (semconv.CREWAI_EXECUTION_KIND_FLOW, "◇"),
        (semconv.CREWAI_EXECUTION_KIND_CREW, "◆"),
        (semconv.CREWAI_EXECUTION_KIND_AGENT, "●"),
        (semconv.CREWAI_EXECUTION_KIND_RUNTIME, "■"),
    )
    ascii: bool = False

    def kind(self, kind: str) -> str:
        """Return the icon of a kind of run."""
        return dict(self.kinds).get(kind, self.kinds[-1][1])

    def clean(self, text: str) -> str:
        """Return text on one line, with what could steer a terminal written out."""
        line = " ".join(text.split())
        if self.ascii:
            line = line.encode("ascii", "backslashreplace").decode("ascii")
        return "".join(
            char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
            for char in line
        )


UNICODE = Glyphs()
ASCII = Glyphs(
    branch="|- ",
    last="`- ",
    trunk="|  ",
    abort="x",
    arrow="->",
    kinds=tuple((kind, "*") for kind, _ in UNICODE.kinds),
    ascii=True,
)


def glyphs_for(encoding: str) -> Glyphs:
    """Return the characters that an encoding has."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII


def shortened(names: set[str]) -> dict[str, str]:
    """Return the end of each dotted name that tells it from all the others.

    Args:
        names: Names of hooks, as ``module.qualname``.
    """
    short: dict[str, str] = {}
    for name in names:
        parts = name.split(".")
        ends = (".".join(parts[-length:]) for length in range(1, len(parts) + 1))
        short[name] = next(end for end in ends if _tells(end, name, names))
    return short


def _tells(end: str, name: str, names: set[str]) -> bool:
    return end == name or not any(
        other != name and (other == end or other.endswith(f".{end}")) for other in names
    )


def duration_text(seconds: float) -> str:
    """Return a duration with its unit, in three digits or so."""
    millis = seconds * 1000
    if millis < _ONE_DIGIT_BELOW:
        return f"{millis:.1f} ms"
    return f"{millis:.0f} ms" if millis < _MILLIS_BELOW else f"{seconds:.2f} s"

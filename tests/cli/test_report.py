from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from rich.console import Console

from hookspan.cli import render
from hookspan.cli.console import make_console, write_picture
from hookspan.cli.delivery import Delivery
from hookspan.cli.report import print_report
from hookspan.cli.tree import build
from tests.cli import specimens

NOWHERE = Delivery(disabled=False, targets={}, delivered=True)

REPORT = """\
◇ desk flow                     completed  1.25 s 1 denied 1 crashed
├─ input                        modified   1.0 ms default=modified
├─ ◆ support crew               completed   30 ms 1 denied 1 crashed
│  └─ pre_tool_call delete_file aborted    4.0 ms
│       quota=errored guard=aborted log=not_reached
│       ✗ file deletion is not allowed (source: policy) → blocked, run went on
│       ! quota crashed: KeyError; the run went on (fail-open)
└─ output                       proceeded  1.0 ms redact=passed

◇ desk flow                     aborted     10 ms 1 denied
│  ✗ raised hookspan.HookAborted
└─ execution_start              aborted    1.0 ms authorize=aborted
     ✗ unauthorized (source: access) → raised to the caller

Point            dispatches  proceeded  modified  aborted  crashed  slowest
execution_start           1          0         0        1        0   1.0 ms
input                     1          0         1        0        0   1.0 ms
output                    1          1         0        0        0   1.0 ms
pre_tool_call             1          0         0        1        1   4.0 ms
total                     4          1         1        2        1   4.0 ms

Denied
  pre_tool_call delete_file in support
    ✗ file deletion is not allowed (source: policy) → blocked, run went on
  execution_start in desk
    ✗ unauthorized (source: access) → raised to the caller

Crashed
  pre_tool_call quota: ! KeyError; the run went on (fail-open)

Runs
  ◇ desk flow: completed, something in it was denied
  ◆ support crew: completed, something in it was denied
  ◇ desk flow: aborted

hookspan: no OTLP endpoint is set: nothing left this process; \
set OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 to send it
"""


def printed(
    spans: Sequence[ReadableSpan],
    delivery: Delivery = NOWHERE,
    *,
    encoding: str = "utf-8",
    width: int = 80,
    not_kept: int = 0,
) -> str:
    """Print a report as into a file of an encoding that refuses what it lacks."""
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding=encoding, newline="")
    console = Console(file=stream, width=width, highlight=False, markup=False)
    print_report(console, build(spans, specimens.FOREIGN), delivery, not_kept)
    stream.flush()
    return data.getvalue().decode(encoding)


def tree_of(spans: Sequence[ReadableSpan], *, encoding: str = "utf-8", width: int = 80) -> str:
    """Return the trees alone."""
    return printed(spans, encoding=encoding, width=width).partition("\n\n")[0]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def test_the_whole_report() -> None:
    assert printed(specimens.program()) == REPORT


def test_in_ascii_where_the_encoding_has_no_more() -> None:
    about = {**specimens.DENIAL, "crewai.hook.abort.reason": "böse"}
    spans = [
        specimens.run(1, "crew", "wörk", "completed", end=9),
        specimens.dispatch(2, "input", "proceeded", ["app.a=passed"], parent=1),
        specimens.dispatch(3, "pre_tool_call", "aborted", ["app.b=aborted"], parent=1, about=about),
    ]

    assert tree_of(spans, encoding="ascii").splitlines() == [
        r"* w\xf6rk crew               completed  9.0 ms",
        r"|- input                     proceeded  1.0 ms a=passed",
        r"`- pre_tool_call delete_file aborted    1.0 ms b=aborted",
        r"     x b\xf6se (source: policy) -> blocked, run went on",
    ]
    assert printed(spans, encoding="ascii").isascii()


def test_a_reason_cannot_steer_the_terminal() -> None:
    about = {**specimens.DENIAL, "crewai.hook.abort.reason": "a\x1b[31mb\n\n  c\x07\u202ed"}
    text = printed([specimens.dispatch(1, "input", "aborted", ["h=aborted"], about=about)])

    assert "✗ a\\x1b[31mb c\\x07\\u202ed (source: policy)" in text
    assert "\x1b" not in text


def test_markup_in_a_name_is_text() -> None:
    text = tree_of([specimens.run(1, "crew", "[red]a[/red] :smile:", "completed")])

    assert text.splitlines()[0].startswith("◆ [red]a[/red] :smile: crew completed")


def test_hooks_of_one_name_are_told_apart() -> None:
    chain = ["app.a.check=passed", "app.b.check=passed", "app.b.log=passed"]

    assert tree_of([specimens.dispatch(1, "input", "proceeded", chain)]) == (
        "input proceeded  1.0 ms a.check=passed b.check=passed log=passed"
    )


def test_a_long_chain_goes_on_below_in_whole_items() -> None:
    chain = [f"app.hook_number_{number}=passed" for number in range(3)]
    spans = [specimens.dispatch(1, "input", "proceeded", chain)]

    assert tree_of(spans, width=60).splitlines() == [
        "input proceeded  1.0 ms",
        "  hook_number_0=passed hook_number_1=passed",
        "  hook_number_2=passed",
    ]


def test_an_effect_that_one_would_not_expect_is_told() -> None:
    about = {"crewai.hook.effect": "ignored"}
    spans = [specimens.dispatch(1, "input", "modified", ["h=modified"], about=about)]

    assert tree_of(spans).splitlines() == [
        "input modified   1.0 ms h=modified",
        "  → ignored, run went on",
    ]


def test_of_very_many_the_first_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "MAX_LINES", 3)
    spans = [
        specimens.dispatch(n, "input", "proceeded", ["h=passed"], start=n, end=n + 1)
        for n in range(1, 6)
    ]
    text = printed(spans)

    line = "input proceeded  1.0 ms h=passed"
    assert text.splitlines()[:5] == [line, line, line, "... and 2 more, see --json", ""]
    assert "input           5          5" in text


NOTHING = "hookspan: no run of a crew, flow or agent was seen, and no hook ran: is one registered?"


def test_one_line_where_nothing_was_seen_or_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crewai", ModuleType("crewai"))

    assert printed([]) == f"{NOTHING}\n"


def test_one_line_where_the_sdk_is_disabled() -> None:
    delivery = Delivery(disabled=True, targets={}, delivered=True)

    assert printed([], delivery) == "hookspan: OTEL_SDK_DISABLED=true: nothing was recorded\n"


def test_what_was_lost_is_said_also_where_nothing_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "crewai", ModuleType("crewai"))
    delivery = Delivery(disabled=False, targets={"traces": "http://h:1"}, delivered=False)

    assert printed([], delivery, not_kept=7).splitlines() == [
        "hookspan: 7 more spans were not kept",
        NOTHING,
        (
            "hookspan: telemetry was NOT all delivered within 3.8 s: traces to http://h:1;"
            " is it listening?"
        ),
    ]


def terminal(*, color: bool) -> str:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    print_report(make_console(stream, color=color), build(specimens.program()), NOWHERE)
    return stream.getvalue()


def test_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")

    assert "\x1b[1;31maborted\x1b[0m" in terminal(color=True)
    assert "\x1b[32mproceeded\x1b[0m" in terminal(color=True)


@pytest.mark.parametrize("by_variable", [True, False])
def test_no_colour_where_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, *, by_variable: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    if by_variable:
        monkeypatch.setenv("NO_COLOR", "1")

    text = terminal(color=by_variable)
    assert "aborted" in text
    assert "\x1b[3" not in text
    assert ";3" not in text


def test_the_picture_loads_nothing(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    roots = build(specimens.program(), specimens.FOREIGN)

    write_picture(path, "a title", lambda console: print_report(console, roots, NOWHERE))

    svg = path.read_text(encoding="utf-8")
    ET.fromstring(svg)  # noqa: S314 - our own
    assert "file&#160;deletion&#160;is&#160;not&#160;allowed" in svg
    assert "@font-face" not in svg
    assert "url(http" not in svg.replace('"', "")

from __future__ import annotations

import pytest

from hookspan.cli.glyphs import ASCII, UNICODE, duration_text, glyphs_for, shortened


def test_the_shortest_end_that_tells_a_name_from_the_others() -> None:
    names = {"app.a.check", "app.b.check", "app.b.log", "check", "app.f.<locals>.hook"}

    assert shortened(names) == {
        "app.a.check": "a.check",
        "app.b.check": "b.check",
        "app.b.log": "log",
        "check": "check",
        "app.f.<locals>.hook": "hook",
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 ms"),
        (0.00004, "0.0 ms"),
        (0.0012, "1.2 ms"),
        (0.25, "250 ms"),
        (0.99949, "999 ms"),
        (0.9996, "1.00 s"),
        (0.00996, "10 ms"),
        (75.5, "75.50 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf8", "utf-16-le"])
def test_unicode_where_the_encoding_has_it(encoding: str) -> None:
    assert glyphs_for(encoding) is UNICODE


@pytest.mark.parametrize("encoding", ["ascii", "ANSI_X3.4-1968", "iso8859-1", "cp1252"])
def test_ascii_elsewhere(encoding: str) -> None:
    assert glyphs_for(encoding) is ASCII


def test_text_is_one_line_of_printable_characters() -> None:
    assert UNICODE.clean("a\tb\r\nc \u200b\x00é") == "a b c \\u200b\\x00é"
    assert ASCII.clean("é→") == "\\xe9\\u2192"


def test_a_kind_that_is_not_known_has_an_icon_too() -> None:
    assert UNICODE.kind("tomorrow") == UNICODE.kind("runtime")

"""The one spelling of a tool's name, so that a filter may be written in any."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata

_LONGEST = 64
_WORD_STARTS = (re.compile(r"([A-Z]+)([A-Z][a-z])"), re.compile(r"([a-z])([A-Z])"))
_QUOTES = re.compile(r"['\"]+")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


@functools.lru_cache(maxsize=1024)
def normalize_tool_name(name: str) -> str:
    """Return the spelling of a tool's name that crewAI shows to models.

    ``Delete File``, ``deleteFile`` and ``delete_file`` are one tool: ASCII, lower case, words
    joined by underscores, at most 64 characters (a longer one ends in a hash of itself).

    Args:
        name: The name in any spelling.
    """
    name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    for pattern in _WORD_STARTS:
        name = pattern.sub(r"\1_\2", name)
    name = _SEPARATORS.sub("_", _QUOTES.sub("", name.lower())).strip("_")
    if len(name) <= _LONGEST:
        return name
    suffix = "_" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return name[: _LONGEST - len(suffix)].rstrip("_") + suffix

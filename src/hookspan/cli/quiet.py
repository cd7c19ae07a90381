"""Keeping crewAI to itself where hookspan runs crews of its own."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from typing import TextIO


@contextlib.contextmanager
def crewai_kept_quiet(stream: TextIO) -> Generator[None]:
    """Keep crewAI off the network, off the user's files and off standard output.

    It reads the environment when it is imported: that must come later.

    Args:
        stream: Where what it prints goes.
    """
    with tempfile.TemporaryDirectory(prefix="hookspan-", ignore_cleanup_errors=True) as home:
        os.environ.update(
            HOME=home,
            CREWAI_STORAGE_DIR=home,
            CREWAI_DISABLE_TELEMETRY="true",
            CREWAI_DISABLE_VERSION_CHECK="true",
            CREWAI_TRACING_ENABLED="false",
            CREWAI_TESTING="true",
        )
        with contextlib.redirect_stdout(stream):
            yield

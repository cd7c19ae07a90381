"""Registering a hook loads no slow or foreign package."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["crewai", "opentelemetry", "pydantic"]
LOADED = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"

IMPORT_ALL = """
import importlib, pkgutil
import hookspan, hookspan.contract, hookspan.engine
for package in (hookspan.contract, hookspan.engine):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if module.name != "hookspan.contract.events":
            importlib.import_module(module.name)
"""
USE = """
from hookspan import HookAborted, InterceptionPoint, clear_all_hooks, execution, on
on(InterceptionPoint.INPUT)(lambda ctx: {"a": 1})
with execution() as run:
    pass
assert run.inputs == {"a": 1}
"""
SUBSCRIBE = "from hookspan import subscribe; subscribe(print)"


@pytest.mark.parametrize(
    ("program", "loaded"), [(IMPORT_ALL, []), (USE, []), (SUBSCRIBE, ["pydantic"])]
)
def test_only_a_subscriber_loads_pydantic(program: str, loaded: list[str]) -> None:
    command = [sys.executable, "-c", f"{program}\n{LOADED}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (result.stdout, result.stderr) == (f"{loaded!r}\n", "")

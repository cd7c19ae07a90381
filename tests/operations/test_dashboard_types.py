"""The dashboards against Grafana's own types: what JSON hides, TypeScript sees."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.operations.debian import TOOLS

GRAFANA = Path(__file__).parents[2] / "dashboards" / "grafana"
PACKAGES = ("@grafana/schema@13.2.3", "typescript@7.0.2")
HEAD = """\
import type { AnnotationQuery, Dashboard, DataQuery } from "@grafana/schema";
// The schema leaves the query of a data source open; this is what we ask Prometheus with.
type Asked = DataQuery & { expr: string; legendFormat: string };
type Made = Omit<Partial<Dashboard>, "annotations"> & {
  annotations: { list: AnnotationQuery<Asked>[] };
};
"""


def compiler() -> Path:
    """Return tsc, beside Grafana's types; skip where there is no npm, but not in CI."""
    tsc = TOOLS / "node_modules" / ".bin" / "tsc"
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "npm-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tsc.exists():
            npm = shutil.which("npm")
            if npm is None and "CI" not in os.environ:
                pytest.skip("no npm to fetch Grafana's types with")
            command = [npm or "npm", "install", "--no-save", "--no-audit", "--ignore-scripts"]
            command += ["--prefix", str(TOOLS), *PACKAGES]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return tsc


def check(text: str) -> tuple[int, str]:
    """Return what the compiler says of a program."""
    tsc = compiler()
    file = TOOLS / f"dashboards-{os.getpid()}.ts"
    file.write_text(HEAD + text, encoding="utf-8")
    options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"]
    done = subprocess.run([tsc, *options, file], capture_output=True, text=True, check=False)
    file.unlink()
    return done.returncode, done.stdout


def test_dashboards_have_grafanas_types() -> None:
    texts = [file.read_text("utf-8").strip() for file in sorted(GRAFANA.glob("*.json"))]
    made = "".join(
        f"export const d{number} = {text} satisfies Made;\n" for number, text in enumerate(texts)
    )

    assert len(texts) == 4
    assert check(made) == (0, "")


def test_a_wrong_type_is_seen() -> None:
    code, said = check('export const d = { annotations: { list: [] }, tags: "a" } satisfies Made;')

    assert code != 0
    assert "tags" in said or "string" in said

"""Runs many flows and says what stays in memory, with hookspan and without.

Usage: python benchmarks/retained.py [RUNS]

Each run is a flow of two methods with hooks at EXECUTION_START, PRE_STEP and EXECUTION_END. The SDK
is real, what it exports is dropped. A tenth of the runs comes first, as a warm-up. crewAI itself
grows by some bytes a run. The exit code is 0 when at most a hundred more objects of hookspan's and
of OpenTelemetry's are alive at the end than after the warm-up, and the process has not grown by
more than a tenth and 2 MiB beyond what it grows without hookspan.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = 2 * 1024 * 1024
OBJECTS = 100
POINTS = ("execution_start", "pre_step", "execution_end")


def main(arguments: list[str]) -> int:
    """Measure both, say it, and judge."""
    if arguments[:1] == ["--one"]:
        print(json.dumps(measure(int(arguments[2]), observed=arguments[1] == "with")))
        return 0
    runs = int(arguments[0]) if arguments else 10_000
    found = {how: one(how, runs) for how in ("without", "with")}
    print(f"| {runs} runs of a flow | without hookspan | with hookspan\n|---|---|---|")
    for what in ("milliseconds per run", "grown, bytes", "grown, bytes per run", "objects more"):
        print(f"| {what} | {found['without'][what]} | {found['with'][what]} |")
    allowed = 1.1 * found["without"]["grown, bytes"] + ALLOWED
    kept = found["with"]["objects more"] > OBJECTS
    return 1 if kept or found["with"]["grown, bytes"] > allowed else 0


def one(how: str, runs: int) -> dict[str, Any]:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            "HOME": home,
            "CREWAI_STORAGE_DIR": home,
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_DISABLE_VERSION_CHECK": "true",
            "CREWAI_TESTING": "true",
            "CREWAI_TRACING_ENABLED": "false",
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT))),
        }
        command = [sys.executable, __file__, "--one", how, str(runs)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)  # noqa: S603 - itself
    read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return read


def measure(runs: int, *, observed: bool) -> dict[str, Any]:
    """Run flows in this process; return what stayed."""
    flows: Any = importlib.import_module("tests.integration_crewai.flows")
    dispatch: Any = importlib.import_module("crewai.hooks.dispatch")
    bus: Any = importlib.import_module("crewai.events.event_bus")
    if observed:
        memory: Any = importlib.import_module("tests.kit.memory")
        importlib.import_module("hookspan").instrument(**memory.dropping_providers())
    for point in POINTS:
        dispatch.register(dispatch.InterceptionPoint(point), watch)

    def run(times: int) -> tuple[int, int]:
        for _ in range(times):
            flows.flow(flows.TwoSteps).kickoff()
        bus.crewai_event_bus.flush()
        gc.collect()
        return resident(), ours()

    size, objects = run(max(runs // 10, 20))
    begin = time.perf_counter()
    size_after, objects_after = run(runs)
    elapsed = time.perf_counter() - begin
    return {
        "milliseconds per run": round(1000 * elapsed / runs, 2),
        "grown, bytes": size_after - size,
        "grown, bytes per run": round((size_after - size) / runs),
        "objects more": objects_after - objects,
    }


def watch(_ctx: Any) -> None:
    """Change nothing."""


def resident() -> int:
    """Return how much memory the process holds, in bytes."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def ours() -> int:
    """Return how many objects of classes of hookspan's and of OpenTelemetry's are alive."""
    mine = ("hookspan.", "opentelemetry.")
    return sum(str(type(one).__module__).startswith(mine) for one in gc.get_objects())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

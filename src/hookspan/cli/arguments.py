"""The command line's grammar."""

from __future__ import annotations

import argparse
from pathlib import Path

from hookspan.cli.delivery import TIMEOUT
from hookspan.pipeline.providers import EXIT_GRACE
from hookspan.version import __version__

_RUN = f"""\
Runs a Python program as `python script.py args` would: same arguments, same standard output, same
exit code. What its hooks decided is shown on standard error when it has ended, and sent to the OTLP
endpoint that is set (OTEL_EXPORTER_OTLP_ENDPOINT); that takes {TIMEOUT + EXIT_GRACE:.1f} seconds at
most. Settings of hookspan are read from the environment: OTEL_INSTRUMENTATION_CREWAI_HOOKS_*."""

_DEMO = """\
Runs a real crew and a real flow with a model that follows a script, without network, and shows what
ten hooks decided: one tree per run, then a summary."""

_POINTS = """\
Shows the twenty interception points on the crewAI that is installed: whether hooks run there, where
that is, what they can do, and which ways around it crewAI has."""

_MIXIN = """\
Makes the rules of Prometheus and the dashboards of Grafana with your own thresholds, or checks that
those in a folder are the ones that would be made."""


def parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="hookspan", description="OpenTelemetry observability for CrewAI's interception hooks."
    )
    top.add_argument("--version", action="version", version=f"hookspan {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run a program and show its hooks", description=_RUN))
    _add_demo(commands.add_parser("demo", help="show what it looks like", description=_DEMO))
    _add_points(commands.add_parser("points", help="show where hooks can act", description=_POINTS))
    _add_mixin(commands.add_parser("mixin", help="make rules and dashboards", description=_MIXIN))
    return top


def _add_run(run: argparse.ArgumentParser) -> None:
    run.usage = (
        "hookspan run [--json FILE] [--no-color] [--] SCRIPT [ARGS ...]\n"
        "       hookspan run [--json FILE] [--no-color] -m MODULE [ARGS ...]"
    )
    run.add_argument("--json", metavar="FILE", type=Path, help="also write all of it to FILE")
    run.add_argument("--no-color", action="store_true", help="without colour, as NO_COLOR does")
    run.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m")
    run.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="...", help="the program and its arguments"
    )


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--json", action="store_true", help="print one JSON document instead")
    demo.add_argument("--no-color", action="store_true", help="without colour, as NO_COLOR does")
    demo.add_argument("--svg", metavar="FILE", type=Path, help="also write a picture to FILE")


def _add_points(points: argparse.ArgumentParser) -> None:
    points.add_argument(
        "--check",
        action="store_true",
        help="run real crews and flows, each point in each of four actions, and show what came of"
        " it; the exit code is 1 where a cell does not hold",
    )
    points.add_argument("--no-color", action="store_true", help="without colour, as NO_COLOR does")


def _add_mixin(mixin: argparse.ArgumentParser) -> None:
    mixin.add_argument(
        "action", choices=("build", "check"), help="write the files, or compare them"
    )
    mixin.add_argument("--settings", metavar="FILE", type=Path, help="JSON; see docs/operations.md")
    mixin.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("dashboards"), help="where the files are"
    )
    mixin.add_argument("--docs", metavar="DIR", type=Path, help="also the runbooks, below DIR")

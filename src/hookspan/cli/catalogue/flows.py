"""A flow that forks, a declared flow that runs a script, an agent whose tools are on a server."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from crewai.flow.flow import Flow, listen, router, start
from crewai.mcp import MCPServerStdio

from hookspan.cli.catalogue import server
from hookspan.cli.catalogue.crew import ANSWER, kickoff, make_agent, make_crew
from hookspan.cli.catalogue.evidence import MARK, Evidence, Scene, assign, give
from hookspan.cli.catalogue.model import model
from hookspan.cli.demo.model import final
from hookspan.contract.points import InterceptionPoint as Point


class _Fork(Flow[dict[str, Any]]):
    """Decides for the left, and follows."""

    evidence: Any = None

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @router(begin)
    def choose(self) -> Literal["left", "right"]:
        """Choose the left."""
        return "left"

    @listen("left")
    def go_left(self) -> str:
        """Run on the left."""
        self.evidence.done.append("went left")
        return "left"

    @listen("right")
    def go_right(self) -> str:
        """Run on the right."""
        self.evidence.done.append("went right")
        return "right"


class _Line(Flow[dict[str, Any]]):
    """Has two ways to go on, and takes the first."""

    evidence: Any = None

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @listen(begin)
    def go_left(self) -> str:
        """Run second."""
        self.evidence.done.append("went left")
        return "left"

    @listen("never")
    def go_right(self) -> str:
        """Run where a hook says so."""
        self.evidence.done.append("went right")
        return "right"


def _kick(flow: Any) -> str:
    return str(flow.kickoff())


def _move(evidence: Evidence) -> str:
    return _kick(_Line(evidence=evidence, suppress_flow_events=True))


def _decide(evidence: Evidence) -> str:
    return _kick(_Fork(evidence=evidence, suppress_flow_events=True))


def _to_the_right(ctx: Any) -> None:
    ctx.payload[:] = ["go_right"]


def _delete(evidence: Evidence) -> str:
    """Run a script that deletes a file."""
    os.environ["CREWAI_ALLOW_FLOW_SCRIPT_EXECUTION"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        precious = Path(folder, "precious")
        precious.write_text("data", encoding="utf-8")
        code = f"import os; os.remove({str(precious)!r}); return 'deleted'"
        method = {"start": True, "do": {"call": "script", "code": code}}
        declared = {"schema": "crewai.flow/v1", "name": "Script", "methods": {"only": method}}
        untyped: Any = Flow
        try:
            return _kick(untyped.from_declaration(contents=declared, suppress_flow_events=True))
        finally:
            evidence.done.append("the file is there" if precious.exists() else "the file is gone")


def _discover(evidence: Evidence) -> str:
    """Look for the tools of a server, which notes the secret that it was started with."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "starts")
        config = MCPServerStdio(
            command=sys.executable,
            args=["-S", "-E", server.__file__, str(log)],
            env={"SECRET": "original"},
        )
        agent = make_agent(model(evidence, final(ANSWER)), mcps=[config])
        try:
            return kickoff(make_crew(agent))
        finally:
            evidence.done += log.read_text(encoding="utf-8").split() if log.exists() else []


def _change_secret(ctx: Any) -> None:
    ctx.payload["env"]["SECRET"] = MARK


def _other_secret(ctx: Any) -> Any:
    return {**ctx.payload, "env": {"SECRET": MARK}}


_LEFT, _RIGHT = ["went left"], ["went right"]

SCENES = (
    Scene(
        Point.PRE_CODE_EXECUTION,
        _delete,
        mutate=assign("return 'spared'"),
        replace=give("return 'spared'"),
        untouched=lambda seen: (seen.result, seen.done) == ("deleted", ["the file is gone"]),
        changed=lambda seen: (seen.result, seen.done) == ("spared", ["the file is there"]),
        stopped=lambda seen: seen.done == ["the file is there"],
        proof="the file that it deletes",
    ),
    Scene(
        Point.MCP_CONNECT,
        _discover,
        mutate=_change_secret,
        replace=_other_secret,
        untouched=lambda seen: seen.done == ["original"],
        changed=lambda seen: seen.done == [MARK],
        stopped=lambda seen: seen.done == [],
        proof="the server's environment",
    ),
    Scene(
        Point.FLOW_TRANSITION,
        _move,
        mutate=_to_the_right,
        replace=give(["go_right"]),
        untouched=lambda seen: seen.done == _LEFT,
        changed=lambda seen: seen.done == _RIGHT,
        stopped=lambda seen: seen.done == [],
        proof="the method that ran",
    ),
    Scene(
        Point.ROUTER_DECISION,
        _decide,
        mutate=assign("right"),
        replace=give("right"),
        untouched=lambda seen: seen.done == _LEFT,
        changed=lambda seen: seen.done == _RIGHT,
        stopped=lambda seen: seen.done == [],
        proof="the method that ran",
    ),
)

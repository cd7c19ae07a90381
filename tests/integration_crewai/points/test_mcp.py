"""MCP_CONNECT: asked before each connection; what is in its parameters stays in the process."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from crewai import Crew
from crewai.mcp import MCPServerStdio

import hookspan
from hookspan import InterceptionPoint, MCPConnectContext
from hookspan.cli.catalogue import server as server_program
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import Asked, deny, give, is_denied, outcome, told
from tests.integration_crewai.scripted import Answer, ModelCall, final, tool_calls, use_tool
from tests.kit.memory import Memory

POINT = InterceptionPoint.MCP_CONNECT
SERVER = str(server_program.__file__)
MCP = "run_hooks mcp_connect"
VALUE = "tok-very-private"
RUNS = {"sync": crews.kickoff, "async": crews.akickoff}


class Server:
    """A server that notes each start of it."""

    def __init__(self, path: Path) -> None:
        self._log = path / "starts"
        self.config = MCPServerStdio(
            command=sys.executable,
            args=["-S", "-E", SERVER, str(self._log)],
            env={"SECRET": VALUE},
        )

    @property
    def starts(self) -> list[str]:
        """What stood in the environment of each start."""
        return self._log.read_text(encoding="utf-8").split() if self._log.exists() else []


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def adding_crew(mcps: list[Any], *, native: bool = True, uses: bool = True) -> Crew:
    """Return a crew whose agent adds two numbers by a tool of the server, or only could."""
    turns: list[ModelCall] = []

    def answer(call: ModelCall) -> Answer:
        turns.append(call)
        if len(turns) > 1 or not uses:
            return "done" if native else final("done")
        if native:
            return tool_calls((call.tools[0], {"a": 2, "b": 3}))
        name = call.prompt.split("Tool Name: ")[1].split("\n")[0]
        return use_tool(name, a=2, b=3)

    return crews.simple_crew(script=answer, native=native, agent_settings={"mcps": mcps})


def answered(crew: Crew) -> str:
    return crews.llm_of(crew).calls[-1].prompt


@pytest.mark.parametrize("run", RUNS)
def test_is_asked_for_the_search_and_for_each_call(
    instrumented: Memory, server: Server, run: str
) -> None:
    asked, crew = Asked(POINT), adding_crew([server.config])
    assert str(outcome(lambda: RUNS[run](crew))) == "done"
    search, call = asked
    assert type(search) is MCPConnectContext
    assert search.payload == {
        "transport": "stdio",
        "command": sys.executable,
        "args": server.config.args,
        "env": {"SECRET": VALUE},
    }
    assert search.tool_name is None
    assert call.tool_name.endswith("_add")
    assert [(ctx.agent, ctx.crew, ctx.flow) for ctx in asked] == [(crew.agents[0], crew, None)] * 2
    assert [ctx.task for ctx in asked] == [None, crew.tasks[0]]
    assert all(sys.executable in ctx.server_name for ctx in asked)
    assert "sum 5" in answered(crew)
    assert server.starts == [VALUE] * 2
    assert told(instrumented, POINT) == [("proceeded", "continued")] * 2


def test_the_server_is_reached_as_the_hook_says(instrumented: Memory, server: Server) -> None:
    def vault(ctx: Any) -> Any:
        if ctx.tool_name is None:
            return {**ctx.payload, "env": {"SECRET": "from-the-vault"}}
        ctx.server_params["env"].update({"SECRET": "from-the-other-vault"})
        return None

    Asked(POINT, vault)
    crews.kickoff(adding_crew([server.config]))
    assert server.starts == ["from-the-vault", "from-the-other-vault"]
    assert server.config.env == {"SECRET": VALUE}
    assert told(instrumented, POINT) == [("modified", "replaced")] * 2


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_of_the_search_leaves_the_run_as_it_is(
    instrumented: Memory, server: Server, run: str
) -> None:
    """CrewAI makes three errors of it, one from the other."""
    asked, crew = Asked(POINT, deny()), adding_crew([server.config])
    assert is_denied(outcome(lambda: RUNS[run](crew)))
    assert (len(asked), server.starts, crews.llm_of(crew).calls) == (1, [], ())
    assert told(instrumented, POINT) == [("aborted", "raised")]


@pytest.mark.parametrize("native", [True, False])
def test_an_abort_is_what_the_tool_answers(
    instrumented: Memory, server: Server, native: bool
) -> None:
    asked = Asked(POINT, lambda ctx: deny("no server")(ctx) if ctx.tool_name else None)
    crew = adding_crew([server.config], native=native)
    assert str(crews.kickoff(crew)) == "done"
    assert len(asked) == 2
    assert f"The connection of {asked[1].tool_name} was blocked by a hook: no server" in answered(
        crew
    )
    assert server.starts == [VALUE]
    assert told(instrumented, POINT)[1] == ("aborted", "blocked")


def test_a_replacement_that_is_no_dict_is_an_error(instrumented: Memory, server: Server) -> None:
    Asked(POINT, give("nonsense"))
    error = outcome(lambda: crews.kickoff(adding_crew([server.config])))
    assert "a hook at MCP_CONNECT returned str: parameters are a dict" in str(error)


def test_a_client_of_the_users_own_is_asked_about(instrumented: Memory, server: Server) -> None:
    async def connect() -> None:
        module: Any = importlib.import_module("crewai.mcp.tool_resolver")
        transport, _ = module.MCPToolResolver._create_transport(server.config)
        client = module.MCPClient(transport)
        await client.connect()
        await client.connect()
        await client.disconnect()

    asked = Asked(POINT)
    asyncio.run(connect())
    assert [ctx.tool_name for ctx in asked] == [None]
    hookspan.clear_all_hooks()
    Asked(POINT, deny())
    assert is_denied(outcome(connect))


class Remote:
    """Stands for the servers behind URLs, where crewAI would go over the network."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searched: list[str] = []
        self.called: list[str] = []
        resolver: Any = importlib.import_module("crewai.mcp.tool_resolver")
        wrapper: Any = importlib.import_module("crewai.tools.mcp_tool_wrapper")
        remote = self

        async def search(_self: Any, server_url: str) -> dict[str, Any]:
            remote.searched.append(server_url)
            return {"add": {"description": "Add.", "args_schema": None}}

        async def call(tool: Any, **_arguments: Any) -> str:
            remote.called.append(tool.mcp_server_params["url"])
            return "sum 5"

        monkeypatch.setattr(resolver, "_mcp_schema_cache", {})
        monkeypatch.setattr(resolver.MCPToolResolver, "_discover_mcp_tools", search)
        monkeypatch.setattr(wrapper.MCPToolWrapper, "_execute_tool", call)


URL = "https://mcp.invalid/api"


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Remote:
    return Remote(monkeypatch)


def test_a_url_is_asked_about_too(instrumented: Memory, remote: Remote) -> None:
    asked, crew = Asked(POINT), adding_crew([URL])
    assert str(crews.kickoff(crew)) == "done"
    assert asked.payloads == [{"transport": "streamable-http", "url": URL}] * 2
    assert [ctx.tool_name for ctx in asked] == [None, "mcp_invalid_api_add"]
    assert (remote.searched, remote.called) == ([URL], [URL])
    assert [ctx.crew for ctx in asked] == [crew] * 2


def test_an_abort_at_a_reference_by_name_leaves_the_run(
    instrumented: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CrewAI emits an event for it, and goes on without the tools."""
    resolver: Any = importlib.import_module("crewai.mcp.tool_resolver")

    def configs(_self: Any, _slugs: list[str]) -> dict[str, Any]:
        return {"notion": {"type": "http", "url": URL, "headers": {"Authorization": "x"}}}

    monkeypatch.setattr(resolver.MCPToolResolver, "_fetch_amp_mcp_configs", configs)
    asked = Asked(POINT, deny())
    assert is_denied(outcome(lambda: crews.kickoff(adding_crew(["notion"]))))
    assert [payload["url"] for payload in asked.payloads] == [URL]


def test_a_url_is_reached_as_the_hook_says(instrumented: Memory, remote: Remote) -> None:
    other = "https://mirror.invalid/api"
    Asked(POINT, lambda ctx: {**ctx.payload, "url": other})
    crews.kickoff(adding_crew([URL]))
    assert (remote.searched, remote.called) == ([other], [other])


@pytest.mark.parametrize("reason", ["not now", "no network connection for you"])
def test_an_abort_at_a_url_leaves_the_run(
    instrumented: Memory, remote: Remote, reason: str
) -> None:
    """CrewAI drops it, and tries again where the text of an error says `connection`."""
    asked = Asked(POINT, deny(reason))
    assert is_denied(outcome(lambda: crews.kickoff(adding_crew([URL]))), reason)
    assert (len(asked), remote.searched) == (1, [])


def test_an_abort_of_a_call_at_a_url_is_what_the_tool_answers(
    instrumented: Memory, remote: Remote
) -> None:
    asked = Asked(POINT, lambda ctx: deny()(ctx) if ctx.tool_name else None)
    crew = adding_crew([URL], native=False)
    assert str(crews.kickoff(crew)) == "done"
    assert (len(asked), remote.called) == (2, [])
    assert "was blocked by a hook: not now" in answered(crew)


def test_a_tool_that_fails_by_itself_fails_as_ever(
    instrumented: Memory, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    Asked(POINT, lambda ctx: {**ctx.payload, "command": "/nowhere"} if ctx.tool_name else None)
    crew = adding_crew([server.config])
    crews.kickoff(crew)
    assert "Error executing" in answered(crew)


def exported(memory: Memory) -> str:
    """Everything that left in spans and log records, as one text."""
    spans = [
        [span.name, dict(span.attributes or {}), [dict(e.attributes or {}) for e in span.events]]
        for span in memory.spans()
    ]
    return json.dumps([spans, memory.events()])


@pytest.mark.parametrize("capture", ["NO_CONTENT", "SPAN_AND_EVENT"])
@pytest.mark.usefixtures("switched_off")
def test_no_secret_leaves_in_telemetry(
    memory: Memory,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capture: str,
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", capture)
    hookspan.instrument(**memory.providers)

    def crash(ctx: Any) -> None:
        raise LookupError(repr(ctx))

    hookspan.register_hook(POINT, crash)
    Asked(POINT, lambda ctx: deny()(ctx) if ctx.tool_name else None)
    crews.kickoff(adding_crew([server.config]))
    assert told(memory, POINT) == [("proceeded", "continued"), ("aborted", "blocked")]
    assert VALUE not in exported(memory) + caplog.text
    assert "payload" not in exported(memory)


def test_a_tools_name_does_not_tell_how_its_server_is_started(
    instrumented: Memory, server: Server
) -> None:
    """CrewAI makes the arguments of the command part of the name."""
    server.config.args.append("--key=hunter2")
    asked = Asked(POINT)
    Asked(InterceptionPoint.PRE_TOOL_CALL)
    crews.kickoff(adding_crew([server.config]))
    assert "hunter2" in asked[1].tool_name
    assert "hunter2" not in exported(instrumented)
    called = [*instrumented.named("run_hooks pre_tool_call"), *instrumented.named(MCP)[1:]]
    assert [node.attributes["gen_ai.tool.name"] for node in called] == ["add", "add"]

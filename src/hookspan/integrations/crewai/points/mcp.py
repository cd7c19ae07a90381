"""MCP_CONNECT: a client is about to connect to an MCP server, to look for tools or to call one.

The payload is a dict of connection parameters, whichever of crewAI's two clients connects. It may
hold secrets: telemetry never sees it.
"""

from __future__ import annotations

import copy
import functools
from contextvars import ContextVar
from typing import Any

from hookspan.contract.contexts import MCPConnectContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import AtWork, Working, identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring

_PARAMETERS = ("command", "args", "env", "url", "headers", "streamable")
"""What crewAI's transports connect with; each has some of these."""

_TOOL: ContextVar[Any] = ContextVar("hookspan-mcp-tool", default=None)
"""The MCP tool that is being called."""

_ABORTS: ContextVar[list[BaseException] | None] = ContextVar("hookspan-mcp-aborts", default=None)
"""The aborts of a search for tools, or of a tool's call: crewAI wraps them, or goes on."""


def _ask(gate: Gate, params: dict[str, Any], server: str | None) -> dict[str, Any]:
    """Return the connection parameters as the hooks have left them.

    Raises:
        HookAborted: A hook stopped the connection; whoever waits for it is told as well.
    """
    tool = _TOOL.get()
    name = None if tool is None else tool.name
    try:
        ctx = gate.dispatch(
            lambda: MCPConnectContext(
                params, **identity(), server_name=server, tool_name=name, tool=tool
            )
        )
    except gate.abort_type as aborted:
        aborts = _ABORTS.get()
        if aborts is not None:
            aborts.append(aborted)
        raise
    if ctx is None:
        return params
    given: Any = ctx.payload
    if not issubclass(type(given), dict):
        message = f"a hook at MCP_CONNECT returned {type(given).__name__}: parameters are a dict"
        raise TypeError(message)
    return dict(given)


def _connect(gate: Gate, original: Any) -> Any:
    """Ask before crewAI's client connects; one that is connected stays so."""

    @functools.wraps(original)
    async def connect(client: Any, *args: Any, **kwargs: Any) -> Any:
        if not gate.wanted() or client.connected:
            return await original(client, *args, **kwargs)
        transport = client.transport
        unknown: dict[str, Any] = {}
        params = gate.read(lambda: _parameters_of(transport), unknown)
        server = client._get_server_info()[0]  # noqa: SLF001 - what its events say
        for name, value in _ask(gate, params, server).items():
            if name in _PARAMETERS:
                setattr(transport, name, value)
        return await original(client, *args, **kwargs)

    return connect


def _parameters_of(transport: Any) -> dict[str, Any]:
    """Return what a transport connects with; what a hook changes in it is written back."""
    found = {name: getattr(transport, name) for name in _PARAMETERS if hasattr(transport, name)}
    copied = {name: copy.copy(value) for name, value in found.items()}
    return {"transport": transport.transport_type.value, **copied}


def _schemas(gate: Gate, original: Any) -> Any:
    """Ask before the tools behind a URL are looked for: once, however often that is tried."""

    @functools.wraps(original)
    async def search(resolver: Any, server_params: Any) -> Any:
        if gate.wanted():
            server_params = _ask_for_url(gate, server_params)
        return await original(resolver, server_params)

    return search


def _ask_for_url(gate: Gate, params: dict[str, Any]) -> dict[str, Any]:
    return _ask(gate, {"transport": "streamable-http", **params}, params["url"])


def _resolve(gate: Gate, original: Any) -> Any:
    """Raise an abort of a search for tools as it is: crewAI wraps it three times, or drops it."""

    @functools.wraps(original)
    def resolve(resolver: Any, *args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(resolver, *args, **kwargs)
        aborts: list[BaseException] = []
        tools: Any = None
        token = _ABORTS.set(aborts)
        try:
            with Working(AtWork(resolver._agent)):  # noqa: SLF001 - whom it looks for tools for
                tools = original(resolver, *args, **kwargs)
        except Exception:
            if not aborts:
                raise
        finally:
            _ABORTS.reset(token)
        if aborts:
            raise aborts[0]
        return tools

    return resolve


def _call(gate: Gate, original: Any) -> Any:
    """Make an abort the answer of a tool that would connect to its server.

    Raised it would be an error of the tool, which crewAI's text protocol tries again.
    """

    @functools.wraps(original)
    def run(tool: Any, *args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(tool, *args, **kwargs)
        aborts: list[BaseException] = []
        tokens = _ABORTS.set(aborts), _TOOL.set(tool)
        try:
            result = original(tool, *args, **kwargs)
        except Exception:
            if not aborts:
                raise
            result = None
        finally:
            _ABORTS.reset(tokens[0])
            _TOOL.reset(tokens[1])
        return _blocked(tool, aborts[0]) if aborts else result

    return run


def _blocked(tool: Any, aborted: BaseException) -> str:
    return f"The connection of {tool.name} was blocked by a hook: {aborted}"


def _call_url(gate: Gate, original: Any) -> Any:
    """Ask before a tool behind a URL connects: once, however often that is tried."""

    @functools.wraps(original)
    async def run(tool: Any, *args: Any, **kwargs: Any) -> Any:
        if gate.wanted():
            params = _ask_for_url(gate, tool.mcp_server_params)
            tool = tool.model_copy()
            tool._mcp_server_params = params  # noqa: SLF001 - what its property returns
        return await original(tool, *args, **kwargs)

    return run


_CLIENT = "crewai.mcp.client"
_RESOLVER = "crewai.mcp.tool_resolver"
_NATIVE = "crewai.tools.mcp_native_tool"
_WRAPPER = "crewai.tools.mcp_tool_wrapper"

_late = functools.partial(Seam, late=True)

WIRING = Wiring(
    InterceptionPoint.MCP_CONNECT,
    (
        _late(_CLIENT, "MCPClient.connect", (), _connect, is_async=True),
        _late(_CLIENT, "MCPClient._get_server_info", ()),
        _late(_RESOLVER, "MCPToolResolver.resolve", ("mcps",), _resolve),
        _late(
            _RESOLVER,
            "MCPToolResolver._get_mcp_tool_schemas_async",
            ("server_params",),
            _schemas,
            is_async=True,
        ),
        _late(_NATIVE, "MCPNativeTool._run", (), _call),
        _late(_WRAPPER, "MCPToolWrapper._run", (), _call),
        _late(_WRAPPER, "MCPToolWrapper._run_async", (), _call_url, is_async=True),
    ),
)

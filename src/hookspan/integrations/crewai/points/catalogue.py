"""What each of the twenty points is on crewAI: where it is asked, what a hook can do, ways around.

`hookspan points` prints it, `hookspan points --check` proves it, docs/points.md is held to it.
"""

from __future__ import annotations

from typing import NamedTuple

from hookspan.contract.points import InterceptionPoint

RAISED = "raised"
BLOCKED = "blocked"


class PointFacts(NamedTuple):
    """One point on crewAI.

    Attributes:
        point: The point.
        seam: Where it is asked; of several places the first.
        in_place: What a change in place does: ``yes``, or what of it.
        replaced: What a returned value does: ``yes``, ``no``, or which are taken.
        aborted: What an abort does: it is ``raised`` to the caller of the run, or the operation is
            ``blocked`` and the run goes on with that answer.
        around: What happens in crewAI without being asked about, each by name.
    """

    point: InterceptionPoint
    seam: str
    in_place: str = "yes"
    replaced: str = "yes"
    aborted: str = RAISED
    around: tuple[str, ...] = ()


_P = InterceptionPoint
_ADAPTERS = "agent adapters (OpenAI Agents, LangGraph): their own loop calls model and tools"
_BARE_LLM = "a BaseLLM of your own that does not call crewAI's hook methods, outside an agent"
_OWN_TOOL = "tool.run() in your own code"
_LITE = "LiteAgent (deprecated)"

FACTS: tuple[PointFacts, ...] = (
    PointFacts(
        _P.EXECUTION_START,
        "Crew.kickoff, Flow.kickoff",
        around=("Crew.replay, Flow.resume", _LITE, "a Task that is executed by itself"),
    ),
    PointFacts(
        _P.INPUT,
        "Crew.kickoff, Flow.kickoff",
        around=("Crew.replay, Flow.resume", _LITE),
    ),
    PointFacts(
        _P.OUTPUT,
        "Crew._create_crew_output",
        around=(_LITE, "of an agent by itself the answer stays: a change is ignored"),
    ),
    PointFacts(
        _P.EXECUTION_END,
        "Crew._create_crew_output",
        aborted=f"{RAISED}*",
        around=(
            "* of a run that has failed an abort is ignored: its own error wins",
            "Ctrl-C, cancellation, a flow that pauses; the execution span ends all the same",
            "of an agent by itself the answer stays: a change is ignored",
        ),
    ),
    PointFacts(
        _P.PRE_MODEL_CALL,
        "executors, BaseLLM.call",
        in_place="messages",
        replaced="no",
        around=(_ADAPTERS, _BARE_LLM),
    ),
    PointFacts(
        _P.POST_MODEL_CALL,
        "executors, BaseLLM.call",
        in_place="response",
        replaced="text",
        around=(
            "an answer that calls tools is no text: nobody is asked",
            "BaseLLM.acall: closed by hookspan for crewAI's own providers",
            _ADAPTERS,
            _BARE_LLM,
        ),
    ),
    PointFacts(
        _P.PRE_TOOL_CALL,
        "executors",
        in_place="input",
        replaced="no",
        aborted=BLOCKED,
        around=(
            "tools of a declared flow (call: tool): closed by hookspan",
            _OWN_TOOL,
            _ADAPTERS,
        ),
    ),
    PointFacts(
        _P.POST_TOOL_CALL,
        "executors",
        in_place="result",
        replaced="text",
        around=(
            "before crewAI 1.15.29 an abort in the text protocol is what the tool answers",
            "tools of a declared flow (call: tool): closed by hookspan",
            _OWN_TOOL,
            _ADAPTERS,
        ),
    ),
    PointFacts(
        _P.PRE_STEP,
        "Task, Flow._execute_method",
        around=("a delegated sub-task, and a task that is tried again after its guardrail",),
    ),
    PointFacts(
        _P.POST_STEP,
        "Task, Flow._execute_method",
        around=("a delegated sub-task, and a task that is tried again after its guardrail",),
    ),
    PointFacts(
        _P.TOOL_SELECTION,
        "Agent._add_skill_loader_tool",
        around=(
            "LiteAgent (deprecated): closed by hookspan",
            "agent adapters: they are configured with their tools directly",
        ),
    ),
    PointFacts(
        _P.PRE_DELEGATION,
        "BaseAgentTool._execute",
        aborted=BLOCKED,
        around=(
            "delegation over A2A, which is another protocol",
            "an abort inside the sub-task is what the delegation answers",
        ),
    ),
    PointFacts(
        _P.RETRY_ATTEMPT,
        "Agent.execute_task",
        aborted=f"{RAISED}*",
        around=(
            "* of a tool that is read or run again: blocked, the abort is its answer",
            "what MCPClient, MCPToolWrapper and the providers' own libraries try again",
            "conversions into a model (Converter), and a summary of what became too long",
            "the second call with all arguments that ToolUsage makes when the first one failed",
            "a kickoff_async() whose guardrail refuses: crewAI 1.15.30 fails there by itself",
        ),
    ),
    PointFacts(
        _P.MEMORY_WRITE,
        "Memory.remember, update",
        aborted=f"{RAISED}*",
        around=(
            "* in the tool 'Save to memory': blocked, the abort is its answer",
            "a storage backend that is written to directly",
        ),
    ),
    PointFacts(
        _P.MEMORY_READ,
        "Memory.recall",
        aborted=f"{RAISED}*",
        around=(
            "* in the tool 'Search memory': blocked, the abort is its answer",
            "Memory.list_records and the like, which search for nothing",
            "a storage backend that is searched directly",
        ),
    ),
    PointFacts(
        _P.KNOWLEDGE_RETRIEVAL,
        "Knowledge.query, aquery",
        around=("a storage backend that is searched directly", "RAG tools, which are tools"),
    ),
    PointFacts(
        _P.PRE_CODE_EXECUTION,
        "ScriptAction.run",
        around=(
            "methods of a flow class, and handlers that a declared flow names (call: code)",
            "code that a tool runs: PRE_TOOL_CALL",
        ),
    ),
    PointFacts(
        _P.MCP_CONNECT,
        "MCPClient.connect",
        aborted=f"{RAISED}*",
        around=(
            "* when a tool is called: blocked, the abort is its answer",
            "https:// references as strings: closed by hookspan; only the url can be changed",
            "tools that are found in crewAI's cache of five minutes: nothing connects",
            "MCPServerAdapter of crewai-tools, and clients of your own",
        ),
    ),
    PointFacts(
        _P.FLOW_TRANSITION,
        "Flow._find_triggered_methods",
        around=("crewAI's own flows, which are machinery", "the first methods of a run"),
    ),
    PointFacts(
        _P.ROUTER_DECISION,
        "Flow._execute_method",
        around=(
            "what outputs and events of the router say stays its own route",
            "a router that returns None: it has picked none",
        ),
    ),
)
"""In the order of the catalogue."""

"""MEMORY_WRITE and MEMORY_READ: what is stored and what is searched for is what the hooks leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from crewai import Crew
from crewai.flow.flow import Flow, start
from crewai.memory.unified_memory import Memory as CrewMemory

from hookspan import InterceptionPoint, MemoryReadContext, MemoryWriteContext
from hookspan.cli.catalogue.records import Records
from tests.integration_crewai import crews
from tests.integration_crewai.points.asked import (
    Asked,
    change,
    deny,
    give,
    is_denied,
    outcome,
    told,
)
from tests.integration_crewai.scripted import (
    Answer,
    ModelCall,
    ScriptedLLM,
    final,
    tool_calls,
    use_tool,
)
from tests.kit.memory import Memory

WRITE, READ = InterceptionPoint.MEMORY_WRITE, InterceptionPoint.MEMORY_READ
RUNS = {"sync": crews.kickoff, "async": crews.akickoff}
ABOUT: dict[str, Any] = {"categories": ["c"], "importance": 0.5, "metadata": {"a": 1}}


class Store:
    """A memory without a database, with an embedder that needs no model."""

    def __init__(self) -> None:
        llm = ScriptedLLM(lambda _call: '{"memories": ["fact one"]}')
        self.embedded: list[str] = []
        self._records = Records()
        storage: Any = self._records
        self.memory = CrewMemory(llm=llm, embedder=self._embed, storage=storage)

    def _embed(self, texts: list[str]) -> list[list[float]]:
        self.embedded.extend(texts)
        places = [sum(text.encode()) % 64 for text in texts]
        return [[float(index == place) for index in range(64)] for place in places]

    @property
    def stored(self) -> list[str]:
        """The content of every record, sorted."""
        self.memory.drain_writes()
        return self._records.texts


@pytest.fixture
def store() -> Store:
    return Store()


def remembering(store: Store, script: Any = None, **settings: Any) -> Crew:
    """Return a crew whose agent remembers; its model says `done` unless it has a script."""
    return crews.simple_crew(
        script=script or [final("done")], agent_settings={"memory": store.memory}, **settings
    )


def save(store: Store, value: Any) -> Any:
    memory: Any = store.memory
    method = memory.remember_many if isinstance(value, list) else memory.remember
    return method(value, scope="/s", **ABOUT)


def save_async(store: Store, value: Any) -> Any:
    memory: Any = store.memory
    method = memory.aremember_many if isinstance(value, list) else memory.aremember
    return asyncio.run(method(value, scope="/s", **ABOUT))


@pytest.mark.parametrize("save", [save, save_async])
@pytest.mark.parametrize("value", ["hello", ["x", "y"]])
def test_a_write_is_asked_about_once(
    instrumented: Memory, store: Store, save: Callable[[Store, Any], Any], value: Any
) -> None:
    asked = Asked(WRITE)
    save(store, value)
    (ctx,) = asked
    assert type(ctx) is MemoryWriteContext
    assert (ctx.payload, ctx.scope, ctx.metadata) == (value, "/s", {"a": 1})
    assert (ctx.memory_type, ctx.tool_name, ctx.agent, ctx.crew) == ("unified", None, None, None)
    assert store.stored == ([value] if isinstance(value, str) else value)
    assert told(instrumented, WRITE) == [("proceeded", "continued")]


@pytest.mark.parametrize(
    ("value", "hook", "stored"),
    [
        ("hello", give("W"), ["W"]),
        (["x", "y"], give(["W"]), ["W"]),
        (["x", "y"], give("W"), ["W"]),
        (["x", "y"], change(lambda ctx: ctx.payload.remove("x")), ["y"]),
    ],
)
def test_what_the_hook_says_is_stored(
    instrumented: Memory, store: Store, value: Any, hook: Any, stored: list[str]
) -> None:
    Asked(WRITE, hook)
    before = list(value)
    save(store, value)
    assert store.stored == stored
    assert list(value) == before
    assert told(instrumented, WRITE) == [("modified", "replaced")]


def test_an_updated_record_is_a_write(instrumented: Memory, store: Store) -> None:
    record = save(store, "hello")
    asked = Asked(WRITE, give("W"))
    store.memory.update(record.id, importance=0.1)
    assert asked == []
    store.memory.update(record.id, content="again")
    assert (asked.payloads, store.stored) == (["again"], ["W"])


@pytest.mark.parametrize("value", ["hello", ["x", "y"]])
def test_an_aborted_write_stores_nothing(instrumented: Memory, store: Store, value: Any) -> None:
    Asked(WRITE, deny())
    assert is_denied(outcome(lambda: save(store, value)))
    assert store.stored == []
    assert told(instrumented, WRITE) == [("aborted", "raised")]


def test_a_memory_that_is_read_only_is_not_written_to(instrumented: Memory, store: Store) -> None:
    asked = Asked(WRITE)
    store.memory.read_only = True
    save(store, "hello")
    assert asked == []


def search(store: Store, query: str) -> Any:
    return store.memory.recall(query, scope="/s", depth="shallow")


def search_async(store: Store, query: str) -> Any:
    return asyncio.run(store.memory.arecall(query, scope="/s", depth="shallow"))


@pytest.mark.parametrize("search", [search, search_async])
def test_a_search_is_asked_about_once_and_follows_the_hook(
    instrumented: Memory, store: Store, search: Callable[[Store, str], Any]
) -> None:
    asked = Asked(READ, give("QUERY"))
    search(store, "what")
    (ctx,) = asked
    assert type(ctx) is MemoryReadContext
    assert (asked.payloads, ctx.scope, ctx.memory_type) == (["what"], "/s", "unified")
    assert store.embedded == ["QUERY"]
    assert told(instrumented, READ) == [("modified", "replaced")]


def test_a_deep_search_is_asked_about_once(instrumented: Memory, store: Store) -> None:
    """CrewAI searches several times for it, in a flow of its own, which is machinery."""
    asked = Asked(READ)
    store.memory.recall("what")
    assert asked.payloads == ["what"]


@pytest.mark.parametrize("run", RUNS)
def test_an_agent_reads_before_its_task_and_writes_after_it(
    instrumented: Memory, store: Store, run: str
) -> None:
    order: list[str] = []
    read = Asked(READ, lambda _ctx: order.append("read"))
    written = Asked(WRITE, lambda _ctx: order.append("write"))
    crew = remembering(store)
    assert str(outcome(lambda: RUNS[run](crew))) == "done"
    assert order == ["read", "write"]
    assert (read.payloads, written.payloads) == (
        ["do task_0 about topic=tides"],
        [["fact one"]],
    )
    for ctx in (*read, *written):
        assert (ctx.agent, ctx.task, ctx.crew) == (crew.agents[0], crew.tasks[0], crew)
        assert (ctx.agent_role, ctx.flow, ctx.tool_name) == ("Researcher", None, None)
    assert store.stored == ["fact one"]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("point", "asked_model"), [(READ, 0), (WRITE, 1)])
def test_an_abort_leaves_the_run_of_the_crew(
    instrumented: Memory, store: Store, point: InterceptionPoint, asked_model: int, run: str
) -> None:
    Asked(point, deny())
    crew = remembering(store)
    assert is_denied(outcome(lambda: RUNS[run](crew)))
    assert len(crews.llm_of(crew).calls) == asked_model
    assert store.stored == []
    assert told(instrumented, point) == [("aborted", "raised")]


def test_an_agent_by_itself_reads_and_writes(instrumented: Memory, store: Store) -> None:
    read, written = Asked(READ), Asked(WRITE)
    agent = crews.agent(ScriptedLLM([final("alone")]), "Solo", memory=store.memory)
    crews.ask(agent)
    assert [len(read), len(written)] == [1, 1]
    assert {ctx.agent for ctx in (*read, *written)} == {agent}


TOOLS: dict[str, tuple[InterceptionPoint, str, dict[str, Any]]] = {
    "search": (READ, "search_memory", {"queries": ["secrets"]}),
    "save": (WRITE, "save_to_memory", {"contents": ["secret"]}),
}


def with_tool(name: str, arguments: dict[str, Any], *, native: bool) -> Callable[..., Answer]:
    """Return the script of an agent that uses a tool once."""
    turns: list[ModelCall] = []

    def answer(call: ModelCall) -> Answer:
        turns.append(call)
        if len(turns) > 1:
            return "done" if native else final("done")
        return tool_calls((name, arguments)) if native else use_tool(name, **arguments)

    return answer


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", TOOLS)
def test_an_abort_is_what_the_agents_memory_tool_answers(
    instrumented: Memory, store: Store, name: str, native: bool
) -> None:
    point, tool, arguments = TOOLS[name]
    wanted = next(iter(arguments.values()))
    denied: list[Any] = []

    def deny_the_tool(ctx: Any) -> None:
        if ctx.tool_name is not None:
            denied.append(ctx)
            deny("no secrets")(ctx)

    Asked(point, deny_the_tool)
    crew = remembering(store, with_tool(tool, arguments, native=native), native=native)
    assert str(crews.kickoff(crew)) == "done"
    (ctx,) = denied
    assert [ctx.payload] == wanted
    assert (ctx.agent, ctx.task, ctx.crew) == (crew.agents[0], crew.tasks[0], crew)
    assert (
        f"{ctx.tool_name} was blocked by a hook: no secrets" in crews.llm_of(crew).calls[1].prompt
    )
    assert ("aborted", "blocked") in told(instrumented, point)
    assert store.stored == ["fact one"]


class Remembering(Flow[dict[str, Any]]):
    """A flow that uses its memory."""

    @start()
    def begin(self) -> str:
        """Store, then search."""
        self.remember("fact", scope="/s", **ABOUT)
        self.recall("what", depth="shallow")
        return "done"


def test_a_flow_reads_and_writes(instrumented: Memory, store: Store) -> None:
    read, written = Asked(READ), Asked(WRITE)
    untyped: Any = Remembering
    flow = untyped(memory=store.memory, suppress_flow_events=True)
    assert flow.kickoff() == "done"
    assert (read.payloads, written.payloads) == (["what"], ["fact"])
    assert {(ctx.flow is flow, ctx.crew, ctx.agent) for ctx in (*read, *written)} == {
        (True, None, None)
    }

"""KNOWLEDGE_RETRIEVAL: what is looked up is what the hooks leave."""

from __future__ import annotations

from typing import Any

import pytest
from crewai import Crew
from crewai.knowledge.knowledge import Knowledge
from crewai.knowledge.storage.base_knowledge_storage import BaseKnowledgeStorage

from hookspan import InterceptionPoint, KnowledgeRetrievalContext
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
from tests.integration_crewai.scripted import final
from tests.kit.memory import Memory

POINT = InterceptionPoint.KNOWLEDGE_RETRIEVAL
RUNS = {"sync": crews.kickoff, "async": crews.akickoff}


class Shelf(BaseKnowledgeStorage):
    """Knows one thing, and what it was asked."""

    asked: list[Any] = []  # noqa: RUF012 - a field of pydantic, which copies it

    def search(self, query: Any, *_args: Any, **_settings: Any) -> Any:
        """Return the one thing."""
        self.asked.append(query)
        return [{"content": "THE FACT", "id": "1", "metadata": {}, "score": 0.9}]

    async def asearch(self, query: Any, *args: Any, **settings: Any) -> Any:
        """Return the one thing."""
        return self.search(query, *args, **settings)

    def save(self, documents: Any) -> None:
        """Keep nothing."""

    async def asave(self, documents: Any) -> None:
        """Keep nothing."""

    def reset(self) -> None:
        """Have nothing to forget."""

    async def areset(self) -> None:
        """Have nothing to forget."""


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def knowing_crew(shelf: Shelf, *, whose: str = "agent") -> Crew:
    """Return a crew that asks its model for a query first, then for the answer."""
    crew = crews.simple_crew(script=["the query", final("done")])
    knower: Any = crew.agents[0] if whose == "agent" else crew
    knower.knowledge = Knowledge(collection_name="c", sources=[], storage=shelf)
    return crew


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("whose", ["agent", "crew"])
def test_is_asked_once(instrumented: Memory, shelf: Shelf, whose: str, run: str) -> None:
    asked, crew = Asked(POINT), knowing_crew(shelf, whose=whose)
    assert str(outcome(lambda: RUNS[run](crew))) == "done"
    (ctx,) = asked
    assert type(ctx) is KnowledgeRetrievalContext
    assert (ctx.agent, ctx.task, ctx.crew) == (crew.agents[0], crew.tasks[0], crew)
    assert asked.payloads == shelf.asked == [["the query"]]
    assert "THE FACT" in crews.llm_of(crew).calls[1].prompt
    assert told(instrumented, POINT) == [("proceeded", "continued")]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    "hook", [give(["OTHER"]), give("OTHER"), change(lambda ctx: ctx.query.__setitem__(0, "OTHER"))]
)
def test_the_hooks_query_is_looked_up(
    instrumented: Memory, shelf: Shelf, hook: Any, run: str
) -> None:
    Asked(POINT, hook)
    crew = knowing_crew(shelf)
    outcome(lambda: RUNS[run](crew))
    assert shelf.asked == [["OTHER"]]
    assert told(instrumented, POINT) == [("modified", "replaced")]


@pytest.mark.parametrize("run", RUNS)
def test_an_abort_leaves_the_run(instrumented: Memory, shelf: Shelf, run: str) -> None:
    Asked(POINT, deny())
    crew = knowing_crew(shelf)
    assert is_denied(outcome(lambda: RUNS[run](crew)))
    assert (shelf.asked, len(crews.llm_of(crew).calls)) == ([], 1)
    assert told(instrumented, POINT) == [("aborted", "raised")]

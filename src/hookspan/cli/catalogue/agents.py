"""A manager that delegates, an agent that tries again, one that remembers, one that looks up."""

from __future__ import annotations

from typing import Any

from crewai import Crew, Process, Task
from crewai.knowledge.knowledge import Knowledge
from crewai.knowledge.storage.base_knowledge_storage import BaseKnowledgeStorage
from crewai.memory.unified_memory import Memory

from hookspan.cli.catalogue.crew import ANSWER, kickoff, make_agent, make_crew
from hookspan.cli.catalogue.evidence import MARK, Evidence, Scene, Test, assign, give
from hookspan.cli.catalogue.model import model
from hookspan.cli.catalogue.records import Records
from hookspan.cli.demo.model import final, use_tool
from hookspan.contract.points import InterceptionPoint as Point

_ORDER = {"task": "count the waves", "context": "the sea", "coworker": "Worker"}


def _delegate(evidence: Evidence) -> str:
    """Have a manager delegate once."""
    work = Evidence()
    worker = make_agent(model(work, final("worked")), role="Worker")
    manager = model(evidence, use_tool("delegate_work_to_coworker", **_ORDER), final(ANSWER))
    task = Task(name="lead", description="Look up {topic}.", expected_output="a line")
    crew = Crew(agents=[worker], tasks=[task], process=Process.hierarchical, manager_llm=manager)
    try:
        return kickoff(crew)
    finally:
        evidence.done += work.read


def _retry(evidence: Evidence) -> str:
    """Fail once, then answer."""
    return kickoff(make_crew(make_agent(model(evidence, RuntimeError("flaky"), final(ANSWER)))))


def _remember(evidence: Evidence) -> str:
    """Search memory before the task, store one fact after it."""

    def embed(texts: list[str]) -> list[list[float]]:
        """Give each text a direction of its own, and note it."""
        evidence.read.extend(f"searched {text}" for text in texts)
        places = [sum(text.encode()) % 64 for text in texts]
        return [[float(index == place) for index in range(64)] for place in places]

    records = Records()
    storage: Any = records  # it has what is used of a backend
    finder = model(Evidence(), '{"memories": ["the moon does it"]}')
    memory: Any = Memory(llm=finder, embedder=embed, storage=storage)
    llm = model(evidence, final(ANSWER))
    try:
        return kickoff(make_crew(make_agent(llm, memory=memory)))
    finally:
        memory.close()
        evidence.done += [f"stored {text}" for text in records.texts]


class _Shelf(BaseKnowledgeStorage):
    """Knows one thing, and notes what it was asked."""

    evidence: Any = None

    def search(self, query: Any, *_args: Any, **_settings: Any) -> Any:
        self.evidence.done.append(f"looked up {' '.join(query)}")
        return [{"content": "a fact", "id": "1", "metadata": {}, "score": 0.9}]

    async def asearch(self, query: Any, *args: Any, **settings: Any) -> Any:
        return self.search(query, *args, **settings)

    def save(self, documents: Any) -> None:
        del documents

    async def asave(self, documents: Any) -> None:
        del documents

    def reset(self) -> None:
        pass

    async def areset(self) -> None:
        pass


def _look_up(evidence: Evidence) -> str:
    """Ask knowledge before the task."""
    shelf = _Shelf(evidence=evidence)
    agent = make_agent(model(evidence, "when is high tide", final(ANSWER)))
    agent.knowledge = Knowledge(collection_name="shelf", sources=[], storage=shelf)
    return kickoff(make_crew(agent))


def _has(text: str) -> Test:
    return lambda seen: any(text in line for line in seen.done)


SCENES = (
    Scene(
        Point.PRE_DELEGATION,
        _delegate,
        mutate=assign(MARK),
        replace=give(MARK),
        untouched=_has("count the waves"),
        changed=_has(MARK),
        stopped=lambda seen: seen.done == [] and "blocked by a hook" in seen.read[-1],
        proof="the coworker's prompt",
        blocked=True,
    ),
    Scene(
        Point.RETRY_ATTEMPT,
        _retry,
        mutate=assign(MARK),
        replace=give(MARK),
        untouched=lambda seen: [MARK in prompt for prompt in seen.read] == [False, False],
        changed=lambda seen: [MARK in prompt for prompt in seen.read] == [False, True],
        stopped=lambda seen: len(seen.read) == 1,
        proof="the second prompt",
    ),
    Scene(
        Point.MEMORY_WRITE,
        _remember,
        mutate=lambda ctx: ctx.payload.__setitem__(0, MARK),
        replace=give([MARK]),
        untouched=_has("stored the moon does it"),
        changed=lambda seen: seen.done == [f"stored {MARK}"],
        stopped=lambda seen: seen.done == [],
        proof="the stored records",
    ),
    Scene(
        Point.MEMORY_READ,
        _remember,
        mutate=assign(MARK),
        replace=give(MARK),
        untouched=lambda seen: "searched Look up tides." in seen.read,
        changed=lambda seen: f"searched {MARK}" in seen.read,
        stopped=lambda seen: seen.read == [],
        proof="what was searched for",
    ),
    Scene(
        Point.KNOWLEDGE_RETRIEVAL,
        _look_up,
        mutate=lambda ctx: ctx.payload.__setitem__(0, MARK),
        replace=give([MARK]),
        untouched=_has("looked up when is high tide"),
        changed=lambda seen: seen.done == [f"looked up {MARK}"],
        stopped=lambda seen: seen.done == [],
        proof="what was looked up",
    ),
)

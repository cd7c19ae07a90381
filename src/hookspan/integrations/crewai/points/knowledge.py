"""KNOWLEDGE_RETRIEVAL: an agent's or a crew's knowledge is searched."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from hookspan.contract.contexts import KnowledgeRetrievalContext
from hookspan.contract.points import InterceptionPoint
from hookspan.integrations.crewai.points.at_work import identity
from hookspan.integrations.crewai.points.seam import Gate, Seam, Wiring


def _asked(gate: Gate, call: inspect.BoundArguments) -> inspect.BoundArguments:
    """Return a call with the queries as the hooks have left them."""
    given = call.arguments
    ctx = gate.dispatch(lambda: KnowledgeRetrievalContext(list(given["query"]), **identity()))
    if ctx is not None:
        given["query"] = [ctx.payload] if isinstance(ctx.payload, str) else ctx.payload
    return call


def _query(gate: Gate, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def query(*args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return original(*args, **kwargs)
        call = _asked(gate, signature.bind(*args, **kwargs))
        return original(*call.args, **call.kwargs)

    return query


def _aquery(gate: Gate, original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    async def aquery(*args: Any, **kwargs: Any) -> Any:
        if not gate.wanted():
            return await original(*args, **kwargs)
        call = _asked(gate, signature.bind(*args, **kwargs))
        return await original(*call.args, **call.kwargs)

    return aquery


_MODULE = "crewai.knowledge.knowledge"

WIRING = Wiring(
    InterceptionPoint.KNOWLEDGE_RETRIEVAL,
    (
        Seam(_MODULE, "Knowledge.query", ("query",), _query),
        Seam(_MODULE, "Knowledge.aquery", ("query",), _aquery, is_async=True),
    ),
)

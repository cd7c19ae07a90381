"""Changes in place are found without asking the payload anything."""

# Random structures hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections import OrderedDict, UserDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr

from hookspan.contract.contexts import (
    InputContext,
    LLMCallHookContext,
    MemoryWriteContext,
    ToolCallHookContext,
)
from hookspan.contract.errors import HookAborted
from hookspan.contract.outcomes import Change, HookOutcome, Outcome
from hookspan.engine.api import dispatch, register_hook
from hookspan.engine.change import LIMIT, changed, snapshot
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.probe import Chain
from tests.engine.hostile import ASKED, METACLASS, hostile
from tests.engine.specimens import INPUT, raising

NAN = float("nan")


@dataclasses.dataclass
class Plain:
    """A dataclass."""

    words: list[str] = dataclasses.field(default_factory=list[str])
    number: int = 0


@dataclasses.dataclass(slots=True)
class Slotted:
    """A dataclass without a dict."""

    words: list[str] = dataclasses.field(default_factory=list[str])
    number: int = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A dataclass that can only be changed inside."""

    words: list[str] = dataclasses.field(default_factory=list[str])


@dataclasses.dataclass(slots=True)
class SlottedChild(Slotted):
    """One more field than its parent."""

    more: Any = None


class Model(BaseModel):
    """A pydantic model with every place where one keeps something."""

    model_config = ConfigDict(extra="allow")
    words: list[str] = []
    inner: Plain | None = None
    _hidden: int = PrivateAttr(default=0)


class Words(list[str]):
    """A list of a user's."""


class State(dict[str, Any]):
    """A dict of a user's."""


def differs(value: Any, edit: Callable[[Any], Any]) -> bool:
    """Tell whether an edit of a payload is seen."""
    ctx = InputContext(value)
    before = snapshot(ctx)
    edit(ctx.payload)
    after = snapshot(ctx)
    assert before is not None
    assert after is not None
    return changed(before, after)


def cyclic() -> dict[str, Any]:
    ring: dict[str, Any] = {"items": []}
    ring["items"].append(ring)
    return ring


EDITS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "dict item": ({"a": 1}, lambda v: v.update(a=2)),
    "dict key": ({"a": 1}, lambda v: v.update(b=1)),
    "dict removal": ({"a": 1}, lambda v: v.clear()),
    "dict order": ({"a": 1, "b": 2}, lambda v: v.update(a=v.pop("a"))),
    "another type": ({"a": 1}, lambda v: v.update(a=True)),
    "None": ({"a": None}, lambda v: v.update(a=0)),
    "nested": ({"a": [{"b": ()}]}, lambda v: v["a"][0].update(b=(1,))),
    "list in tuple": (([1],), lambda v: v[0].append(2)),
    "moved": ({"a": [1], "b": []}, lambda v: v["b"].append(v["a"].pop())),
    "list order": ([1, 2], lambda v: v.reverse()),
    "set": ({"a": {1}}, lambda v: v["a"].add(2)),
    "messages": ([{"role": "user", "content": "a"}], lambda v: v[0].update(content="b")),
    "dataclass": (Plain(), lambda v: setattr(v, "number", 1)),
    "in a dataclass": ([Plain(["a"])], lambda v: v[0].words.append("b")),
    "undeclared": (Plain(), lambda v: setattr(v, "extra", 1)),
    "slots": (Slotted(), lambda v: setattr(v, "number", 1)),
    "in slots": (Slotted(["a"]), lambda v: v.words.append("b")),
    "slots of a parent": (SlottedChild(), lambda v: setattr(v, "number", 1)),
    "slot emptied": (Slotted(), lambda v: delattr(v, "number")),
    "frozen": (Frozen(["a"]), lambda v: v.words.append("b")),
    "frozen, by force": (Frozen(), lambda v: object.__setattr__(v, "words", ["b"])),
    "model": (Model(), lambda v: setattr(v, "words", ["b"])),
    "in a model": (Model(inner=Plain()), lambda v: v.inner.words.append("b")),
    "model extra": (Model(), lambda v: setattr(v, "extra", 1)),
    "model private": (Model(), lambda v: setattr(v, "_hidden", 1)),
    "list subclass": (Words(["a"]), lambda v: v.append("b")),
    "dict subclass": (State(a=1), lambda v: v.update(a=2)),
    "ordered dict": (OrderedDict(a=1, b=2), lambda v: v.update(b=3)),
    "cycle": (cyclic(), lambda v: v.update(a=1)),
    "in a cycle": (cyclic(), lambda v: v["items"].append(1)),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_change_in_place_is_seen(name: str) -> None:
    value, edit = EDITS[name]
    assert differs(copy.deepcopy(value), edit)


@pytest.mark.parametrize("name", EDITS)
def test_what_is_only_read_is_unchanged(name: str) -> None:
    assert not differs(copy.deepcopy(EDITS[name][0]), repr)


@pytest.mark.parametrize(
    "leaf", [10**30, 1.5, NAN, complex(NAN, 1), "text" * 9, b"bytes" * 9, True, None]
)
def test_the_same_value_put_again_is_unchanged(leaf: Any) -> None:
    again = pickle.loads(pickle.dumps(leaf))  # noqa: S301 - our own: an equal object, not this one
    assert not differs({"a": leaf}, lambda value: value.update(a=again))


def test_what_is_inside_a_leaf_is_not_looked_for() -> None:
    for leaf in (SimpleNamespace(a=1), UserDict(a=1), Plain):
        assert not differs({"a": leaf}, lambda value: setattr(value["a"], "seen", 1))
    del Plain.seen  # type: ignore[attr-defined]  # set above


FIELDS: list[tuple[Any, Callable[[Any], Any]]] = [
    (LLMCallHookContext([{"content": "a"}]), lambda ctx: ctx.messages[0].update(content="b")),
    (LLMCallHookContext(["a"]), lambda ctx: setattr(ctx, "messages", ["b"])),
    (LLMCallHookContext(["a"], "answer"), lambda ctx: setattr(ctx, "response", "other")),
    (LLMCallHookContext(["a"], "answer"), lambda ctx: ctx.messages.append("b")),
    (ToolCallHookContext("t", {"a": 1}), lambda ctx: ctx.tool_input.update(a=2)),
    (ToolCallHookContext("t", {}, tool_result="r"), lambda ctx: setattr(ctx, "tool_result", "s")),
    (InputContext({"a": 1}), lambda ctx: setattr(ctx, "payload", {"a": 1})),
    (MemoryWriteContext("v", metadata={}), lambda ctx: ctx.metadata.update(a=1)),
]


@pytest.mark.parametrize("index", range(len(FIELDS)))
def test_every_field_that_hooks_change_is_watched(index: int) -> None:
    ctx, edit = copy.deepcopy(FIELDS[index][0]), FIELDS[index][1]
    before, same = snapshot(ctx), snapshot(ctx)
    edit(ctx)
    after = snapshot(ctx)
    assert before is not None
    assert same is not None
    assert after is not None
    assert (changed(before, same), changed(before, after)) == (False, True)


@pytest.mark.parametrize(
    "payload",
    [
        list(range(LIMIT + 1)),
        tuple(range(LIMIT + 1)),
        Words(map(str, range(LIMIT + 1))),
        State.fromkeys(map(str, range(LIMIT))),
        {"a": [[0] * 40 for _ in range(50)]},
        set(range(LIMIT)),
    ],
)
def test_beyond_the_bound_there_is_no_snapshot(payload: Any) -> None:
    assert snapshot(InputContext(payload)) is None


def test_what_is_huge_is_not_even_copied() -> None:
    class Huge(dict[str, int]):
        """A dict that would be walked for ever."""

    payload = Huge.fromkeys(map(str, range(50 * LIMIT)), 1)
    for value in (payload, dict(payload), list(payload)):
        ctx = InputContext({"a": value})
        held = snapshot(ctx, limit=100)
        assert held is None


def test_what_another_thread_changes_is_unknown() -> None:
    """A dict that changes size while it is read makes Python raise."""
    payload: dict[int, int] = dict.fromkeys(range(LIMIT // 3), 0)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            payload[-1] = 1
            payload.pop(-1)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(2000):
            snapshot(InputContext(State(inner=payload)))
    finally:
        stop.set()
        thread.join()


def test_a_property_of_the_context_that_raises_is_left_out() -> None:
    class Context(InputContext):
        @property
        def response(self) -> None:
            message = "not yet"
            raise LookupError(message)

    ctx = Context({"a": 1})
    before = snapshot(ctx)
    ctx.payload["a"] = 2
    after = snapshot(ctx)
    assert before is not None
    assert after is not None
    assert changed(before, after)


Meta = type("Meta", (type,), METACLASS)
BUILTINS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, str, int)


def made(base: Any) -> Callable[[], Any]:
    """Return what makes a hostile value of a subclass."""
    return lambda: base.__new__(hostile(base))


HOSTILE: dict[str, Callable[[], Any]] = {
    "object": lambda: object.__new__(hostile()),
    "with a dict that raises": lambda: object.__new__(
        hostile(__dataclass_fields__={"field": 1}, __dict__=property(lambda _self: 1 / 0))
    ),
    "dataclass": lambda: object.__new__(hostile(__dataclass_fields__={"field": 1})),
    "model": lambda: object.__new__(hostile(__pydantic_fields__={"field": 1})),
    **{f"of {base.__name__}": made(base) for base in BUILTINS},
    "of a class that refuses": lambda: object.__new__(type.__call__(Meta, "M", (), {})),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_payload_is_never_asked_anything(chains: list[Chain], name: str) -> None:
    value = HOSTILE[name]()
    payload: dict[Any, Any] = {"a": [value], "b": value}

    def begin(chain: Chain) -> Callable[[Any], None]:
        chain.watch()
        return lambda _error: None

    undo = DISPATCHES.observe(begin)
    register_hook(INPUT, lambda _ctx: None)
    register_hook(INPUT, lambda _ctx: payload.update(c=1))
    ASKED.clear()
    dispatch(INPUT, InputContext(payload))
    undo()
    assert ASKED == []
    (chain,) = chains
    assert [(result.outcome, result.change) for result in chain.results()] == [
        (HookOutcome.PASSED, None),
        (HookOutcome.MODIFIED, Change.IN_PLACE),
    ]


@pytest.fixture
def watched(chains: list[Chain]) -> Any:
    """Observe as telemetry does; the chain of the dispatch is the list's last."""

    def begin(chain: Chain) -> Callable[[Any], None]:
        chain.watch()
        return lambda _error: None

    undo = DISPATCHES.observe(begin)
    yield chains
    undo()


def edits(ctx: Any) -> None:
    ctx.payload["edited"] = len(ctx.payload)


def edits_and_crashes(ctx: Any) -> None:
    edits(ctx)
    raise EOFError


def test_the_hook_that_edited_is_the_one_that_is_named(watched: list[Chain]) -> None:
    register_hook(INPUT, lambda _ctx: None)
    register_hook(INPUT, edits)
    register_hook(INPUT, lambda ctx: {**ctx.payload, "new": 1})
    register_hook(INPUT, lambda _ctx: None)
    dispatch(INPUT, InputContext({}))
    assert [result.change for result in watched[-1].results()] == [
        None,
        Change.IN_PLACE,
        Change.REPLACED,
        None,
    ]
    assert (watched[-1].outcome, watched[-1].change) == (Outcome.MODIFIED, Change.REPLACED)


def test_an_edit_before_a_crash_or_an_abort_is_an_edit(watched: list[Chain]) -> None:
    register_hook(INPUT, edits_and_crashes)
    dispatch(INPUT, InputContext({}))
    outcomes = [watched[-1].outcome]
    assert watched[-1].results()[0].outcome is HookOutcome.ERRORED
    assert watched[-1].change is Change.IN_PLACE

    register_hook(INPUT, raising(HookAborted("no")))
    with pytest.raises(HookAborted):
        dispatch(INPUT, InputContext({}))
    outcomes.append(watched[-1].outcome)
    assert outcomes == [Outcome.MODIFIED, Outcome.ABORTED]
    assert [result.change for result in watched[-1].results()] == [Change.IN_PLACE, None]


def test_beyond_the_bound_a_hook_has_passed_and_change_is_unknown(watched: list[Chain]) -> None:
    register_hook(INPUT, edits)
    dispatch(INPUT, InputContext({"many": list(range(LIMIT + 1))}))
    chain = watched[-1]
    assert chain.results()[0][1:2] == (HookOutcome.PASSED,)
    assert (chain.outcome, chain.change) == (Outcome.PROCEEDED, Change.UNKNOWN)


# What random structures are made of, and random edits of them.
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.binary(max_size=3)
)


def model_with(value: Any) -> Model:
    """Make a model with one more field than it declares."""
    return Model.model_validate({"thing": value})


trees: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.tuples(inner, inner),
        st.sets(st.integers(), max_size=3),
        st.builds(Plain, st.lists(st.text(max_size=2), max_size=2)),
        st.builds(SlottedChild, more=inner),
        inner.map(model_with),
    ),
    max_leaves=12,
)


def mutable(value: Any) -> list[Any]:
    """Return every container in a value that can be edited."""
    found: list[Any] = []
    pending: list[Any] = [value]
    while pending:
        here = pending.pop()
        if type(here) in (dict, list, tuple):
            found += [here] if type(here) is not tuple else []
            pending += here.values() if type(here) is dict else here
        elif isinstance(here, set | Plain | Slotted):
            found.append(here)
            pending += [getattr(here, "words", None), getattr(here, "more", None)]
        elif isinstance(here, Model):
            found.append(here)
            pending += [here.words, *(here.model_extra or {}).values()]
    return found


def edit_one(container: Any, value: Any) -> None:
    """Change a container by one value that it does not hold."""
    if type(container) is dict:
        container[object()] = value
    elif type(container) is list:
        container.append(value)
    elif type(container) is set:
        container.add("fresh")
    elif isinstance(container, Model):
        container.fresh = value  # type: ignore[attr-defined]  # extra fields are allowed
    else:
        container.number += 1


@given(st.data(), trees)
def test_any_edit_anywhere_is_seen_and_nothing_else(data: st.DataObject, payload: Any) -> None:
    ctx = InputContext({"root": payload})
    before, same = snapshot(ctx), snapshot(ctx)
    assert before is not None
    assert same is not None
    assert not changed(before, same)
    edit_one(data.draw(st.sampled_from(mutable(ctx.payload))), data.draw(leaves))
    after = snapshot(ctx)
    assert after is not None
    assert changed(before, after)


@given(trees, trees)
def test_another_structure_of_new_objects_differs_when_it_is_not_equal(
    first: Any, second: Any
) -> None:
    one, two = snapshot(InputContext([first])), snapshot(InputContext([second]))
    assert one is not None
    assert two is not None
    assert changed(one, two)  # the list around it is another one, whatever is in it

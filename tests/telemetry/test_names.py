"""Values that telemetry shows are bounded, readable and harmless to make."""

# What a lambda is given does not matter, and nothing here is hashed by its own hash.
# pyright: reportUnknownLambdaType=false, reportUnhashable=false

from __future__ import annotations

import functools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookspan import HookAborted, InputContext, InterceptionPoint, dispatch, execution, on
from hookspan.telemetry.names import LONGEST, BoundedNames, bounded_text, hook_label, source_label
from tests.kit.memory import Memory
from tests.telemetry.conftest import Record


@given(st.text() | st.text(st.characters(categories=["Cs"])))
def test_text_is_valid_and_bounded(text: str) -> None:
    shown, cut = bounded_text(text * 100)
    assert len(shown.encode("utf-8")) <= LONGEST
    assert cut == (len((text * 100).encode("utf-8", "replace")) > LONGEST)


def test_text_that_fits_stays_as_it_is() -> None:
    assert bounded_text("grün") == ("grün", False)


class Hostile:
    """Raises at everything."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError

    def __call__(self, ctx: Any) -> None:
        """Do nothing."""


class Policy:
    """A callable object and its method."""

    def __call__(self, ctx: Any) -> None:
        """Do nothing."""

    def check(self, ctx: Any) -> None:
        """Do nothing."""


def test_sources_and_hooks_are_named_by_where_they_are_defined() -> None:
    here = __name__
    assert source_label("access-control") == "access-control"
    assert source_label(Policy) == f"{here}.Policy"
    assert source_label(Policy()) == f"{here}.Policy"
    assert hook_label(Policy().check) == f"{here}.Policy.check"
    assert hook_label(functools.partial(functools.partial(Policy().check))) == (
        f"{here}.Policy.check"
    )
    assert source_label(Hostile()) == f"{here}.Hostile"
    line = test_sources_and_hooks_are_named_by_where_they_are_defined.__code__.co_firstlineno
    assert hook_label(lambda ctx: None).endswith(f"<lambda>:{line + 11}")
    assert source_label(7) == "builtins.int"


def test_the_first_names_keep_their_label() -> None:
    names = BoundedNames(2)
    assert [names(name) for name in "abcab"] == ["a", "b", "_OTHER", "a", "b"]


def test_c25_labels_stay_bounded_whatever_a_process_meets(memory: Memory, record: Record) -> None:
    record()

    @on(InterceptionPoint.INPUT)
    def deny(ctx: Any) -> None:
        number = ctx.payload["number"]
        reason = f"denied user {number}"
        raise HookAborted(reason, f"source {number % 300}")

    for number in range(1000):
        try:
            with execution({"number": number}, name=f"run {number}"):
                pass
        except HookAborted:
            pass
    aborts = memory.points("crewai.hook.aborts")
    assert sum(aborts.values()) == 1000
    assert len(aborts) == 65
    runs = memory.points("crewai.executions")
    assert sum(runs.values()) == 1000
    assert len(runs) == 129
    assert "denied user" not in repr(aborts) + repr(memory.points("crewai.hook.dispatches"))
    assert (
        len({s.attributes["crewai.hook.abort.reason"] for s in memory.spans()[::2] if s.attributes})
        == 1000
    )


def test_a_dispatch_outside_of_every_run_has_no_workflow(memory: Memory, record: Record) -> None:
    record()

    @on(InterceptionPoint.INPUT)
    def hook(_ctx: Any) -> None:
        """Look."""

    dispatch(InterceptionPoint.INPUT, InputContext({}))
    (labels,) = memory.points("crewai.hook.dispatches")
    assert "gen_ai.workflow.name" not in dict(labels)

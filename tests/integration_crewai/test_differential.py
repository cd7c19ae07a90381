"""A dispatch of crewAI's is the same with and without instrumentation, whatever hooks do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hookspan
from hookspan.integrations.crewai.adoption import unify_aborts
from tests.integration_crewai.chains import ABORTS, ACTIONS, FILTERS, SEAMS, Seam, Seen, Spec, World
from tests.integration_crewai.conftest import forget_hooks
from tests.integration_crewai.snapshot import DISPATCH
from tests.kit.memory import Memory

EXAMPLES = 250
LEAST_SHARE = 0.05

# Twice what is no subclass: each class of `classes` is as likely as another.
ACTION = st.sampled_from([*ACTIONS, *(action for action in ACTIONS if "subclass" not in action)])
SPECS = st.builds(Spec, ACTION, st.sampled_from(FILTERS), st.booleans())
SCOPED = st.builds(Spec, ACTION, st.just("no filter"), st.booleans())


def classes(specs: list[Spec]) -> Counter[str]:
    """Count hooks by what they do, by filter, and aborts by whether they name a source."""
    counts: Counter[str] = Counter()
    for spec in specs:
        counts.update([spec.action.partition(" of ")[0], spec.filter])
        if spec.action in ABORTS:
            counts["abort with source" if spec.sourced else "abort without source"] += 1
    return counts


def comparable(seen: Seen) -> Seen:
    """Leave out the one number that may differ: see docs/contract.md."""
    if len(seen.registered) == seen.before:
        return seen
    return replace(seen, events=[(*event[:2], None, *event[3:]) for event in seen.events])


def run(
    seam: Seam, hooks: list[Spec], scoped: list[Spec], *, verbose: bool, adopted: bool
) -> list[Seen]:
    """Dispatch twice with the same hooks: the second time with those that hooks have registered."""
    forget_hooks()
    hookspan.clear_all_hooks()
    world = World(seam, adopted=adopted)
    for spec in hooks:
        world.register(spec)
    return [world.dispatch(scoped, verbose=verbose) for _ in range(2)]


def without_instrumentation(
    seam: Seam, hooks: list[Spec], scoped: list[Spec], *, verbose: bool
) -> list[Seen]:
    """Run on plain crewAI, to which an abort of ours would be any exception: that is levelled."""
    undo, convert = unify_aborts(DISPATCH.HookAborted)
    assert convert is None
    try:
        return run(seam, hooks, scoped, verbose=verbose, adopted=False)
    finally:
        undo()


@pytest.mark.usefixtures("switched_off")
def test_dispatches_are_the_same(memory: Memory) -> None:
    generated: list[Spec] = []
    outcomes: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
    @given(
        seam=st.sampled_from(SEAMS),
        hooks=st.lists(SPECS, min_size=1, max_size=6),
        scoped=st.lists(SCOPED, max_size=2),
        verbose=st.booleans(),
    )
    def compare(seam: Seam, hooks: list[Spec], scoped: list[Spec], verbose: bool) -> None:
        generated.extend([*hooks, *scoped])
        plain = without_instrumentation(seam, hooks, scoped, verbose=verbose)
        hookspan.instrument(**memory.providers)
        try:
            observed = run(seam, hooks, scoped, verbose=verbose, adopted=True)
        finally:
            hookspan.uninstrument()
        assert list(map(comparable, observed)) == list(map(comparable, plain))
        outcomes.update(event[1] for seen in plain for event in seen.events)

    compare()
    counts = classes(generated)
    assert len(counts) == 9 + len(FILTERS) + 2
    assert [name for name in counts if counts[name] < LEAST_SHARE * len(generated)] == []
    dispatched = [span for span in memory.spans() if span.name.startswith("run_hooks ")]
    assert len(dispatched) == outcomes.total()
    assert [name for name in outcomes if outcomes[name] < LEAST_SHARE * outcomes.total()] == []
    assert set(outcomes) == {"proceeded", "modified", "aborted"}

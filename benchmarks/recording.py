"""P4 to P7: what recording a dispatch costs.

The loop is the engine's, so that crewAI's own costs are not in the numbers. The recorder gets what
the crewAI integration gives it, and dispatches run inside a named run, so that spans carry the
identity that they carry in practice.

P5 compares with the floor: the same span by hand, with every attribute known beforehand, made
current, and as many counter and histogram calls with attributes made beforehand: those of the
dispatch, and those of its one hook. P6 is the same dispatch below a parent that was not sampled. P7
is what each further hook adds to that, beyond the two calls for its own metrics. Looking for
changes in place is left out of all three: what that costs depends on the payload and is P7b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, copy_context
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_current
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from benchmarks.dispatching import no_op
from benchmarks.timing import Call, Row, Variant, measure, report, slowed
from hookspan.contract.contexts import ToolCallHookContext
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.dispatcher import Dispatcher
from hookspan.engine.observe import DISPATCHES
from hookspan.engine.probe import Chain
from hookspan.engine.registry import HookRegistry
from hookspan.integrations.crewai.identity import identify, identify_run
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run
from hookspan.telemetry.recorder import Recorder
from hookspan.telemetry.settings import Settings

POINT = InterceptionPoint.PRE_TOOL_CALL
AGENT = SimpleNamespace(role="researcher")
TASK = SimpleNamespace(id="3d9b", name="search the archive")
MORE_HOOKS = 20
UNSAMPLED = NonRecordingSpan(SpanContext(1, 1, is_remote=True, trace_flags=TraceFlags(0)))


class Discard(SpanExporter):
    """Takes spans and keeps only the last one.

    Attributes:
        last: That span.
    """

    last: ReadableSpan

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Forget all but the last one."""
        self.last = spans[-1]
        return SpanExportResult.SUCCESS


class Pipeline:
    """An SDK whose export costs nothing, and a recorder on it.

    Attributes:
        recorder: The recorder.
    """

    def __init__(self) -> None:
        self._exporter = Discard()
        self._tracers = TracerProvider()
        self._tracers.add_span_processor(BatchSpanProcessor(self._exporter))
        self._meters = MeterProvider([InMemoryMetricReader()])  # collects when asked: never here
        self.recorder = recorder(tracer_provider=self._tracers, meter_provider=self._meters)

    def metrics(self, labels: Mapping[str, str]) -> Call:
        """Return what counts one thing and how long it took, in the current context.

        Args:
            labels: What the duration says; the count says one thing more.
        """
        meter = self._meters.get_meter("floor")
        add, record = meter.create_counter("count").add, meter.create_histogram("duration").record
        counted = {**labels, semconv.GEN_AI_WORKFLOW_NAME: "research"}

        def by_hand() -> None:
            current = get_current()
            add(1, counted, current)
            record(0.001, labels, current)

        return by_hand

    def floor(self, dispatch: Call) -> Call:
        """Return what does by hand, and nothing else, what recording a dispatch has to do.

        Args:
            dispatch: Does the dispatch, recorded, in the current context.
        """
        dispatch()
        self._tracers.force_flush()
        name, attributes = self._exporter.last.name, dict(self._exporter.last.attributes or {})
        start_span = self._tracers.get_tracer("floor").start_span
        dispatches = self.metrics({semconv.CREWAI_HOOK_OUTCOME: "proceeded"})
        invocations = self.metrics({semconv.CREWAI_HOOK_NAME: "no_op"})

        def by_hand() -> None:
            current = get_current()
            span = start_span(name, current, attributes=attributes)
            token = attach(trace.set_span_in_context(span, current))
            dispatches()
            invocations()
            detach(token)
            span.end()

        return by_hand


def recorder(**providers: Any) -> Recorder:
    """Make a recorder as the crewAI integration makes it."""
    settings = Settings(hook_spans="never")
    return Recorder("0", settings, identify=identify, identify_run=identify_run, **providers)


def within_run(made: Recorder, *, sampled: bool) -> Context:
    """Return a context inside a named run, below a parent that was sampled or not."""
    context = copy_context()

    def enter() -> None:
        if not sampled:
            attach(trace.set_span_in_context(UNSAMPLED))
        made.begin_execution(Run(semconv.CREWAI_EXECUTION_KIND_CREW, "research"))

    context.run(enter)
    return context


def dispatching(hooks: int, slow: float) -> Call:
    """Return what dispatches a tool call to as many hooks."""
    registry = HookRegistry()
    for _ in range(hooks):
        registry.register(POINT, no_op)
    dispatch = slowed(Dispatcher(registry).dispatch, slow)
    ctx = ToolCallHookContext("search", agent=AGENT, task=TASK)
    return lambda: dispatch(POINT, ctx)


def observing(made: Recorder) -> Callable[[], Callable[[], None]]:
    """Return what lets a recorder observe, without looking for changes; that returns the end."""

    def enter() -> Callable[[], None]:
        stop = DISPATCHES.observe(made.begin_dispatch, made.wanted)
        unwatched = patch.object(Chain, "watch", lambda _chain: None)
        unwatched.start()

        def leave() -> None:
            unwatched.stop()
            stop()

        return leave

    return enter


def without_sdk(rounds: int, slow: float) -> list[Row]:
    """Measure P4: what it costs an application that has set no provider."""
    call = dispatching(1, 0)
    found = measure(
        {
            "plain": Variant(call),
            "no SDK": Variant(dispatching(1, slow), observing(recorder())),
        },
        rounds,
    )
    return [
        Row(
            "P4",
            "engine, hit, recorder but no SDK, over P3's hit",
            found.total("no SDK", minus=["plain"]),
            3.0,
            "us",
            found.times("no SDK", "plain"),
        )
    ]


def with_sdk(rounds: int, slow: float) -> list[Row]:
    """Measure P5 to P7: what it costs an application that exports."""
    pipeline = Pipeline()
    observe = observing(pipeline.recorder)
    sampled = within_run(pipeline.recorder, sampled=True)
    unsampled = within_run(pipeline.recorder, sampled=False)
    one, many = dispatching(1, slow), dispatching(1 + MORE_HOOKS, slow)
    stop = observe()
    by_hand = sampled.run(pipeline.floor, dispatching(1, 0))
    stop()
    metrics = pipeline.metrics({semconv.CREWAI_HOOK_NAME: "no_op"})
    found = measure(
        {
            "floor": Variant(by_hand, context=sampled),
            "sampled": Variant(one, observe, sampled),
            "unsampled": Variant(one, observe, unsampled),
            "many": Variant(many, observe, sampled),
            "plain": Variant(one),
            "many plain": Variant(many),
            "its metrics": Variant(metrics, context=within_run(pipeline.recorder, sampled=True)),
        },
        rounds,
    )
    shares = ["its metrics"] * MORE_HOOKS
    added = found.total("many", "plain", minus=["sampled", "many plain", *shares])
    return [
        Row(
            "P5",
            "engine, hit, SDK and metrics / the same span and metrics by hand",
            found.ratio("sampled", "floor"),
            1.25,
            detail=found.times("sampled", "floor"),
        ),
        Row(
            "P6",
            "the same, trace not sampled / sampled",
            found.ratio("unsampled", "sampled"),
            0.6,
            detail=found.times("unsampled", "sampled"),
        ),
        Row(
            "P7",
            f"recording, per further hook (of {MORE_HOOKS}), beyond its metrics",
            added / MORE_HOOKS,
            1.5,
            "us",
            found.times("many", "sampled", "many plain", "plain", "its metrics"),
        ),
    ]


def rows(rounds: int, slow: float) -> list[Row]:
    """Measure all of it."""
    return without_sdk(rounds, slow) + with_sdk(rounds, slow)


if __name__ == "__main__":
    report(rows)

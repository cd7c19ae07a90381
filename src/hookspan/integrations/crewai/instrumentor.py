"""Switching the instrumentation of crewAI on and off."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Collection
from typing import Any

# BaseInstrumentor is exported, but mypy cannot see it.
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined]

from hookspan.contract.errors import InstrumentationError
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import REGISTRY
from hookspan.engine.execution import EXECUTIONS, Execution
from hookspan.engine.guard import GUARD
from hookspan.engine.hooks import BEHIND
from hookspan.engine.observe import DISPATCHES, Finish
from hookspan.engine.policy import POLICIES
from hookspan.engine.probe import Chain
from hookspan.integrations.crewai import pauses, versions
from hookspan.integrations.crewai.adoption import adopt, unify_aborts
from hookspan.integrations.crewai.coverage import report_guards, report_lost, report_missing
from hookspan.integrations.crewai.executions import Frames
from hookspan.integrations.crewai.filters import hook_behind
from hookspan.integrations.crewai.identity import identify, identify_run
from hookspan.integrations.crewai.native import watch_loop
from hookspan.integrations.crewai.operations import count_operations
from hookspan.integrations.crewai.patching import Patches
from hookspan.integrations.crewai.points.wiring import wire
from hookspan.integrations.crewai.roles import remember_roles
from hookspan.telemetry import semconv
from hookspan.telemetry.execution_span import Run
from hookspan.telemetry.recorder import LIVE, Recorder
from hookspan.telemetry.settings import Settings
from hookspan.version import __version__

logger = logging.getLogger("hookspan")

_PROVIDERS = ("tracer_provider", "meter_provider", "logger_provider")


class CrewAIHooksInstrumentor(BaseInstrumentor):  # type: ignore[misc]  # its package is untyped
    """Records every hook dispatch and every run of crewAI, and of runtimes on hookspan's engine.

    ``opentelemetry-instrument`` finds it as ``crewai_hooks``. Its arguments are those of
    `hookspan.instrument`.
    """

    under_way = False
    """Whether it is being switched on: that imports crewAI, and whoever waits for that may ask."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return nothing: what is there is probed, and one message tells what is missing."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        self._patches = patches = Patches()
        self.under_way = True
        try:
            _instrument(patches, kwargs)
        except BaseException:
            patches.undo()
            raise
        finally:
            self.under_way = False

    def _uninstrument(self, **_kwargs: Any) -> None:
        self._patches.undo()


def _instrument(patches: Patches, arguments: dict[str, Any]) -> None:
    """Do everything that instrumenting is, remembering how to undo each thing."""
    providers = {name: arguments.pop(name, None) for name in _PROVIDERS}
    arguments.pop("skip_dep_check", None)
    arguments.pop("raise_exception_on_conflict", None)
    settings = Settings.load(arguments)
    installed = versions.find()
    _require(settings, installed)
    recorder = Recorder(
        __version__,
        settings,
        identify=identify,
        identify_run=identify_run,
        execution_uuid=_execution_uuid(installed),
        blocked=_blocked(installed),
        **providers,
    )
    REGISTRY.attended = True
    patches.then(GUARD.on_failure(recorder.failed))
    patches.then(
        POLICIES.configure(
            fail_closed=settings.fail_closed,
            shadow=settings.shadow,
            budget=None if settings.hook_budget_ms is None else settings.hook_budget_ms / 1000,
        )
    )
    patches.then(DISPATCHES.observe(recorder.begin_dispatch, recorder.wanted))
    if settings.fail_closed or settings.shadow:
        patches.then(DISPATCHES.observe(_enforce))
    patches.then(EXECUTIONS.observe(_engine_frame(recorder)))
    LIVE.points = {point.value: point.value in installed.points for point in InterceptionPoint}
    LIVE.crewai_version = installed.version
    patches.then(_clear_live)
    if installed.usable:
        _instrument_crewai(patches, installed, recorder)
    if installed.version is not None:
        patches.then(report_guards(installed))
    if installed.added.missing:
        report_missing(installed)
    for problem in installed.problems:
        logger.warning("%s; only dispatches of hookspan's own engine are traced", problem)


def _instrument_crewai(patches: Patches, installed: versions.Installed, recorder: Recorder) -> None:
    dispatch = installed.dispatch
    undo_aborts, convert = unify_aborts(dispatch.HookAborted)
    patches.then(undo_aborts)
    BEHIND["filtered"] = hook_behind
    patches.then(lambda: BEHIND.__delitem__("filtered"))
    give_back = adopt(REGISTRY, dispatch)
    patches.then(lambda: _warn_of_guards(give_back()))
    patches.apply(watch_loop(dispatch, convert))
    if convert is not None:
        patches.then(DISPATCHES.observe(_enforce))
    patches.then(count_operations(recorder.operation))
    patches.apply(remember_roles())
    wire(patches, dispatch, installed.added, report_lost)
    frames = Frames(recorder)
    patches.then(lambda: setattr(frames, "recorder", None))
    for patch in (*frames.patches(), *pauses.patches(lambda: frames.recorder is not None)):
        patches.apply(patch)


def _require(settings: Settings, installed: versions.Installed) -> None:
    missing = sorted(settings.require_points - installed.points)
    if missing:
        lacks = f"crewAI {installed.version} lacks {', '.join(installed.added.missing)}"
        why = "; ".join(installed.problems) or lacks
        message = f"require_points: {', '.join(missing)} cannot be instrumented ({why})"
        raise InstrumentationError(message)


def _warn_of_guards(count: int) -> None:
    if count:
        logger.warning("%d hooks registered through hookspan no longer run in crewAI", count)


def _enforce(_chain: Chain) -> Finish:
    """Keep hooks in their probes also where nobody listens: a policy does not depend on that."""
    return lambda _error: None


def _clear_live() -> None:
    LIVE.points = {}
    LIVE.crewai_version = None


def _engine_frame(recorder: Recorder) -> Callable[[Execution], Finish]:
    """Make what opens the span of a run of the engine's own."""

    def begin(execution: Execution) -> Finish:
        run = Run(semconv.CREWAI_EXECUTION_KIND_RUNTIME, execution.name)
        frame = recorder.begin_execution(run)
        return (lambda _error: None) if frame is None else frame.finish

    return begin


def _execution_uuid(installed: versions.Installed) -> Callable[[], str | None]:
    """Return what reads crewAI's id of the current run."""
    if not installed.usable:
        return lambda: None
    module = importlib.import_module("crewai.execution")
    read: Callable[[], str | None] = module.get_execution_uuid
    return read


def _blocked(installed: versions.Installed) -> tuple[type[BaseException], ...]:
    """Return what leaves a run when a legacy hook returned False at the model."""
    if not installed.usable:
        return ()
    module = importlib.import_module("crewai.llms.base_llm")
    blocked: type[BaseException] = module.LLMCallBlockedError
    return (installed.dispatch.HookAborted, blocked)


def instrument(**kwargs: Any) -> None:
    """Record every hook dispatch and every run from now on.

    A second call, without `uninstrument` in between, changes nothing. The application's providers
    are used, whenever it sets them; none are made here (`hookspan.configure` does that).

    Args:
        **kwargs: ``tracer_provider``, ``meter_provider`` and ``logger_provider``, each the global
            one by default; and the settings of `hookspan.telemetry.settings.Settings` by name.

    Raises:
        InstrumentationError: A setting is unknown or invalid, or a point of ``require_points``
            cannot be instrumented. Nothing is changed then.
    """
    instrumentor = CrewAIHooksInstrumentor()
    if not (instrumentor.is_instrumented_by_opentelemetry or instrumentor.under_way):
        instrumentor.instrument(skip_dep_check=True, **kwargs)


def uninstrument() -> None:
    """Put back everything that `instrument` has changed; without it, do nothing."""
    instrumentor = CrewAIHooksInstrumentor()
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()

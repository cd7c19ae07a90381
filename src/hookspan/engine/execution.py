"""The execution boundary, for runtimes that have none of their own.

::

    with execution(inputs, before=[add_defaults]) as run:
        run.output = my_runtime(run.inputs)
    return run.output

dispatches EXECUTION_START, calls the ``before`` callbacks, dispatches INPUT, runs the body,
dispatches OUTPUT and EXECUTION_END. The body may be synchronous or await.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hookspan.contract.contexts import (
    ExecutionEndContext,
    ExecutionStartContext,
    InputContext,
    OutputContext,
)
from hookspan.contract.errors import ExecutionStateError
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import DISPATCHER
from hookspan.engine.observe import Finish, Observation

if TYPE_CHECKING:
    from typing_extensions import Self

Before = Callable[[dict[str, Any]], "dict[str, Any] | None"]
"""Changes the inputs in place or returns others."""


class Execution:
    """One run, between its EXECUTION_START and its EXECUTION_END.

    Entering raises what a hook at EXECUTION_START or INPUT aborts with; leaving raises what a hook
    at OUTPUT or, after success, at EXECUTION_END aborts with. EXECUTION_END is dispatched exactly
    once for each EXECUTION_START that went through, whichever exception ends the body
    (cancellation and Ctrl-C included); an abort at EXECUTION_START leaves nothing to end, and an
    abort in the EXECUTION_END of a run that has already failed is ignored.

    Args:
        inputs: The inputs; copied, so that the caller's own mapping is never changed.
        before: Called in order between EXECUTION_START and INPUT.
        name: What the run is called in telemetry.
        crew: The crew, for ``ctx.crew``.
        flow: The flow, for ``ctx.flow``.

    Attributes:
        inputs: The inputs as hooks and callbacks have left them.
        output: Set it in the body; afterwards it is what the run returns.
    """

    def __init__(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        before: Iterable[Before] = (),
        name: str | None = None,
        crew: Any = None,
        flow: Any = None,
    ) -> None:
        self.inputs: dict[str, Any] = dict(inputs or {})
        self.output: Any = None
        self.name = name
        self.crew = crew
        self.flow = flow
        self._before = tuple(before)
        self._finish: Finish | None = None

    def __enter__(self) -> Self:
        """Begin the run.

        Raises:
            HookAborted: A hook at EXECUTION_START or INPUT stopped it.
            ExecutionStateError: It was begun before.
        """
        if self._finish is not None:
            message = "an execution is entered once; make a new one for each run"
            raise ExecutionStateError(message)
        self._finish = EXECUTIONS.begin(self)
        try:
            start = ExecutionStartContext(self.inputs, crew=self.crew, flow=self.flow)
            DISPATCHER.dispatch(InterceptionPoint.EXECUTION_START, start)
        except BaseException as error:
            self._close(error)
            raise
        try:
            self._resolve_inputs(start.payload)
        except BaseException as error:
            self._fail(error)
            raise
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """End the run.

        Raises:
            HookAborted: A hook at OUTPUT or EXECUTION_END stopped a run that had not failed.
        """
        if error is not None:
            self._fail(error)
            return
        try:
            output = self._identified(OutputContext, self.output)
            DISPATCHER.dispatch(InterceptionPoint.OUTPUT, output)
        except BaseException as failure:
            self._fail(failure)
            raise
        self._complete(output.payload)

    def _resolve_inputs(self, inputs: Any) -> None:
        for callback in self._before:
            changed = callback(inputs)
            inputs = inputs if changed is None else changed
        ctx = self._identified(InputContext, inputs)
        DISPATCHER.dispatch(InterceptionPoint.INPUT, ctx)
        self.inputs = ctx.payload

    def _complete(self, output: Any) -> None:
        """Dispatch EXECUTION_END of a run that has an output, which it may replace."""
        end = self._identified(ExecutionEndContext, output)
        error: BaseException | None = None
        try:
            DISPATCHER.dispatch(InterceptionPoint.EXECUTION_END, end)
            self.output = end.payload
        except BaseException as failure:
            error = failure
            raise
        finally:
            self._close(error)

    def _fail(self, error: BaseException) -> None:
        """Dispatch EXECUTION_END of a run that has failed; the error that failed it wins."""
        end = self._identified(ExecutionEndContext, None)
        end.status, end.error = "failed", error
        try:
            DISPATCHER.dispatch(InterceptionPoint.EXECUTION_END, end)
        except Exception:  # noqa: BLE001, S110 - nothing is left to abort: the contract says ignore
            pass
        finally:
            self._close(error)

    def _close(self, error: BaseException | None) -> None:
        if self._finish is not None:
            EXECUTIONS.end(self._finish, error)

    def _identified(self, context: type[Any], payload: Any) -> Any:
        return context(payload, crew=self.crew, flow=self.flow)


EXECUTIONS: Observation[Execution] = Observation("execution")
"""Who observes the executions of runtimes that use `execution`."""

execution = Execution

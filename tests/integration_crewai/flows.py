"""Real flows of every shape; crews inside them have a scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from crewai.flow.async_feedback import HumanFeedbackPending, PendingFeedbackContext
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from crewai.flow.persistence.sqlite import SQLiteFlowPersistence

from tests.integration_crewai.crews import ask, echo_crew, failing_crew, kickoff, solo_agent


class TwoSteps(Flow[dict[str, Any]]):
    """Has two methods, the second one asynchronous."""

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @listen(begin)
    async def finish(self, before: str) -> str:
        """Run second."""
        return f"{before}, finished"


class OfCrew(Flow[dict[str, Any]]):
    """Runs a crew in its one method."""

    @start()
    def research(self) -> str:
        """Run the crew."""
        return str(kickoff(echo_crew()))


class OfFailingCrew(Flow[dict[str, Any]]):
    """Runs a crew that fails in its second method, and goes on."""

    @start()
    def begin(self) -> str:
        """Run first."""
        return "begun"

    @listen(begin)
    def research(self) -> str:
        """Run the crew and catch what it raises."""
        try:
            return str(kickoff(failing_crew()))
        except RuntimeError as error:
            return f"caught: {error}"


class OfFlowCrewAndAgent(Flow[dict[str, Any]]):
    """Runs another flow, then a crew, then an agent of its own."""

    @start()
    def inner(self) -> str:
        """Run the other flow."""
        return str(TwoSteps(suppress_flow_events=True).kickoff())

    @listen(inner)
    def research(self, before: str) -> str:
        """Run the crew."""
        return f"{before}; {kickoff(echo_crew())}"

    @listen(research)
    def alone(self, before: str) -> str:
        """Run the agent."""
        return f"{before}; {ask(solo_agent())}"


class Failing(Flow[dict[str, Any]]):
    """Raises in its one method."""

    @start()
    def begin(self) -> str:
        """Fail."""
        message = "flow down"
        raise ValueError(message)


class _AskLater:
    """Leaves the question open: the flow pauses."""

    def request_feedback(self, context: PendingFeedbackContext, flow: Flow[Any]) -> str:
        raise HumanFeedbackPending(context=context)


class Reviewed(Flow[dict[str, Any]]):
    """Pauses after its first method until a human has answered."""

    @start()
    @human_feedback(message="good?", provider=_AskLater())
    def draft(self) -> str:
        """Make what is asked about."""
        return "draft"

    @listen(draft)
    def publish(self, feedback: Any) -> str:
        """Go on with the answer."""
        return f"{feedback.output} published: {feedback.feedback}"


class ReviewedTwice(Flow[dict[str, Any]]):
    """Pauses after each of its first two methods until a human has answered."""

    @start()
    @human_feedback(message="good?", provider=_AskLater())
    def draft(self) -> str:
        """Make what is asked about."""
        return "draft"

    @listen(draft)
    @human_feedback(message="and now?", provider=_AskLater())
    def improve(self, feedback: Any) -> str:
        """Go on with the answer, and ask again."""
        return f"{feedback.output} improved: {feedback.feedback}"

    @listen(improve)
    def publish(self, feedback: Any) -> str:
        """Go on with the second answer."""
        return f"{feedback.output}, published: {feedback.feedback}"


def flow(kind: type[Flow[dict[str, Any]]]) -> Flow[dict[str, Any]]:
    """Return a flow that prints nothing."""
    return kind(suppress_flow_events=True)


def pausing_flow(folder: Path, kind: type[Flow[dict[str, Any]]] = Reviewed) -> Flow[dict[str, Any]]:
    """Return a flow that pauses when it is kicked off, and keeps its state in a folder."""
    return kind(suppress_flow_events=True, persistence=_persistence(folder))


def paused_flow(
    folder: Path, flow_id: str, kind: type[Flow[dict[str, Any]]] = Reviewed
) -> Flow[dict[str, Any]]:
    """Return a flow that has paused, ready for `resume(feedback)`."""
    flow = kind.from_pending(flow_id, _persistence(folder), suppress_flow_events=True)
    return cast("Flow[dict[str, Any]]", flow)


def _persistence(folder: Path) -> SQLiteFlowPersistence:
    return SQLiteFlowPersistence(str(folder / "flows.db"))

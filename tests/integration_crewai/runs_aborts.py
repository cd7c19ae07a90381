"""Runs that hooks abort, at each point."""

from __future__ import annotations

from tests.integration_crewai import crews, flows
from tests.integration_crewai.crews import kickoff
from tests.integration_crewai.runs import Situation, aborting

ABORTS = (
    Situation(
        "abort at execution_start",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted
          execution_start: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_start": aborting},
    ),
    Situation(
        "abort at input",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          input: aborted
          execution_end: proceeded
        """,
        hooks={"input": aborting},
    ),
    Situation(
        "abort at pre_step",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          pre_step: aborted
          execution_end: proceeded
        """,
        hooks={"pre_step": aborting},
    ),
    Situation(
        "abort at pre_model_call",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          pre_model_call: aborted
          execution_end: proceeded
        """,
        hooks={"pre_model_call": aborting},
    ),
    Situation(
        "abort at post_model_call",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          post_model_call: aborted
          execution_end: proceeded
        """,
        hooks={"post_model_call": aborting},
    ),
    Situation(
        "abort at pre_tool_call",
        lambda: str(kickoff(crews.tool_crew())),
        "both",
        """
        crew research: completed denied END completed
          execution_start: proceeded
          pre_tool_call: aborted
          pre_tool_call: aborted
          execution_end: proceeded
        """,
        hooks={"pre_tool_call": aborting},
    ),
    Situation(
        "abort at post_tool_call",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          post_tool_call: aborted
          execution_end: proceeded
        """,
        hooks={"post_tool_call": aborting},
    ),
    Situation(
        "abort at post_step",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          post_step: aborted
          execution_end: proceeded
        """,
        hooks={"post_step": aborting},
    ),
    Situation(
        "abort at output",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END failed
          execution_start: proceeded
          output: aborted
          execution_end: proceeded
        """,
        hooks={"output": aborting},
    ),
    Situation(
        "abort at execution_end",
        lambda: str(kickoff(crews.tool_crew())),
        "HookAborted('no')",
        """
        crew research: aborted by HookAborted END completed
          execution_start: proceeded
          execution_end: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_end": aborting},
    ),
    Situation(
        "abort of a flow at execution_start",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted
          execution_start: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_start": aborting},
    ),
    Situation(
        "abort of a flow at input",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted END failed
          execution_start: proceeded
          input: aborted
          execution_end: proceeded
        """,
        hooks={"input": aborting},
    ),
    Situation(
        "abort of a flow at pre_step",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted END failed
          execution_start: proceeded
          pre_step: aborted
          execution_end: proceeded
        """,
        hooks={"pre_step": aborting},
    ),
    Situation(
        "abort of a flow at post_step",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted END failed
          execution_start: proceeded
          post_step: aborted
          execution_end: proceeded
        """,
        hooks={"post_step": aborting},
    ),
    Situation(
        "abort of a flow at output",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted END failed
          execution_start: proceeded
          output: aborted
          execution_end: proceeded
        """,
        hooks={"output": aborting},
    ),
    Situation(
        "abort of a flow at execution_end",
        lambda: flows.flow(flows.TwoSteps).kickoff(),
        "HookAborted('no')",
        """
        flow TwoSteps: aborted by HookAborted END completed
          execution_start: proceeded
          execution_end: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_end": aborting},
    ),
    Situation(
        "abort at the end of a failing crew",
        lambda: kickoff(crews.failing_crew()),
        "RuntimeError('model down')",
        """
        crew research: failed denied by RuntimeError END failed
          execution_start: proceeded
          execution_end: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_end": aborting},
    ),
    Situation(
        "abort at the end of a failing flow",
        lambda: flows.flow(flows.Failing).kickoff(),
        "ValueError('flow down')",
        """
        flow Failing: failed denied by ValueError END failed
          execution_start: proceeded
          execution_end: aborted
            - watch: passed
            - aborting: aborted
        """,
        hooks={"execution_end": aborting},
    ),
)

"""Whole processes: an application with providers of its own, and endpoints that are dead."""

from __future__ import annotations

import json

from hookspan.pipeline.providers import EXIT_GRACE, EXIT_TIMEOUT
from tests.integration_crewai.processes import Program, run_all
from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - a fixture
from tests.kit.receiver import Receiver, refusing_endpoint

SLACK = 1.0
"""How much longer than it may the end of telemetry may take on a busy machine, in seconds."""

SLACK_OF_OTHERS = 10.0
"""How long the end of crewAI and of Python may take there, in seconds."""

LAST_LINE = "the process ends before all traces, metrics, logs were delivered, see the lines above"
METRICS = [
    "crewai.execution.active",
    "crewai.executions",
    "crewai.hook.aborts",
    "crewai.hook.dispatch.active",
    "crewai.hook.dispatch.duration",
    "crewai.hook.dispatches",
    "crewai.hook.invocation.duration",
    "crewai.hook.invocations",
    "crewai.hook.registration.count",
    "crewai.operations",
    "gen_ai.invoke_workflow.duration",
    "hookspan.point.instrumented",
]


def test_only_the_applications_providers_are_used(receiver: Receiver) -> None:
    """C19, with crewAI's own telemetry on and off."""
    sink = receiver.endpoint_http
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": sink}
    programs = [Program("own_providers", (sink, how), environment) for how in ("on", "off")]
    for ended in run_all(*programs):
        # It has set no provider for logs: the standard logger takes the audit record, once.
        (audited,) = ended.lines_of_hookspan
        assert (ended.code, audited.partition(" ")[0]) == (0, "crewai.hook.aborted")
        assert json.loads(ended.out) == {
            "result": "both deny_hull",
            "kept": True,
            "spans": ["invoke_workflow research", *["run_hooks pre_tool_call"] * 2],
            "services": ["app"],
            "metrics": METRICS,
        }
    scopes = {(span.scope.name, span.scope.resource["service.name"]) for span in receiver.spans()}
    assert scopes == {("crewai.telemetry", "crewAI-telemetry")}
    assert {request.path for request in receiver.requests()} == {"/v1/traces"}


def test_a_dead_endpoint_costs_a_bounded_time_and_one_line() -> None:
    with refusing_endpoint() as endpoint:
        programs = [
            Program(
                "configured",
                environment={
                    "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
                    "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
                },
            )
            for protocol in ("http/protobuf", "grpc")
        ]
        for ended in run_all(*programs):
            result, *times = ended.out.splitlines()
            assert (ended.code, result) == (0, "both deny_hull")
            end_began, close_began, closed = map(float, times)
            assert closed - close_began < EXIT_TIMEOUT + EXIT_GRACE + SLACK
            assert ended.at - end_began < EXIT_TIMEOUT + EXIT_GRACE + SLACK_OF_OTHERS
            assert ended.lines_of_hookspan == [LAST_LINE]

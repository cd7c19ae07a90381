"""`opentelemetry-instrument` alone traces a crew whose program knows nothing of it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.integration_crewai.processes import Program, run_all
from tests.kit.fixtures import receiver as receiver  # noqa: PLC0414 - a fixture
from tests.kit.receiver import Receiver
from tests.kit.tree import assert_tree

INSTRUMENT = Path(sys.executable).with_name("opentelemetry-instrument")


def test_an_unchanged_crew_is_traced(receiver: Receiver) -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint_http,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_SERVICE_NAME": "shop",
    }
    (ended,) = run_all(Program("unchanged_crew", (), environment, (str(INSTRUMENT),)))
    assert (ended.code, ended.out, ended.lines_of_hookspan) == (0, "both\n", [])
    assert_tree(
        receiver.spans(),
        """
        invoke_workflow research [UNSET] crewai.execution.outcome='completed'
          run_hooks pre_tool_call [UNSET] crewai.hook.outcome='proceeded'
          run_hooks pre_tool_call [UNSET] crewai.hook.abort.source='policy' \
crewai.hook.outcome='aborted'
        """,
        only={"crewai.execution.outcome", "crewai.hook.outcome", "crewai.hook.abort.source"},
    )
    assert {
        (span.scope.name, span.scope.resource["service.name"]) for span in receiver.spans()
    } == {("hookspan", "shop")}
    assert [record.event_name for record in receiver.logs()] == ["crewai.hook.aborted"]
    assert [point.value for point in receiver.metrics("crewai.hook.aborts")] == [1]

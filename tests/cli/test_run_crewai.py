"""Programs that run a real crew."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.processes import Ended, hookspan
from tests.kit.receiver import Receiver

pytestmark = pytest.mark.xdist_group("cli")

CREW = """\
import os, sys

os.environ["CREWAI_STORAGE_DIR"] = os.getcwd()
assert "crewai" not in sys.modules, "a program sets its environment before it imports crewAI"
if "configure" in sys.argv:
    import hookspan

    hookspan.configure(abort_status="error")

from crewai import Agent, Crew, Task
from crewai.hooks import HookAborted, InterceptionPoint, on
from crewai.llms.base_llm import BaseLLM


class Model(BaseLLM):
    def call(self, messages, *args, **kwargs):
        return "Thought: I now can give a great answer\\nFinal Answer: yes"

    def get_input_tokens_count(self, *args, **kwargs):
        return 0


@on(InterceptionPoint.EXECUTION_START)
def crashing(ctx):
    return ctx.payload["topic"]


@on(InterceptionPoint.OUTPUT)
def deny(ctx):
    raise HookAborted(reason="not today", source="policy")


agent = Agent(role="Writer", goal="g", backstory="b", llm=Model(model="m"))
task = Task(name="t", description="d", expected_output="e", agent=agent)
crew = Crew(name="crew_of_one", agents=[agent], tasks=[task])
print("begin")
crew.kickoff()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(CREW, encoding="utf-8")
    return tmp_path


def test_an_abort_that_nobody_takes(folder: Path) -> None:
    ended = hookspan("run", "--json", "out.json", "script.py", cwd=folder)

    assert ended.code == 1
    assert ended.stdout.startswith("begin\n")
    lines = ended.stderr.splitlines()
    begin = lines.index("Traceback (most recent call last):")
    assert lines[begin + 1] == f'  File "{folder}/script.py", line 37, in <module>'
    assert "hookspan/cli" not in ended.stderr
    assert lines[begin:].count("crewai.hooks.dispatch.HookAborted: not today") == 1
    tree = lines[lines.index("crewai.hooks.dispatch.HookAborted: not today") + 1 :]
    assert [line.split()[:4] for line in tree[:6]] == [
        ["◆", "crew_of_one", "crew", "aborted"],
        ["│", "✗", "raised", "crewai.hooks.dispatch.HookAborted"],
        ["├─", "execution_start", "proceeded", tree[2].split()[3]],
        ["│", "!", "crashing", "crashed:"],
        ["└─", "output", "aborted", tree[4].split()[3]],
        ["✗", "not", "today", "(source:"],
    ]
    assert tree[2].endswith("crashing=errored")
    assert tree[4].endswith("deny=aborted")
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [tree["name"] for tree in document["runs"]] == ["invoke_workflow crew_of_one"]
    assert document["summary"]["total"]["aborted"] == 1
    assert document["summary"]["total"]["crashed"] == 1


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_telemetry_is_delivered_once_also_where_the_program_configures_it_too(
    folder: Path, receiver: Receiver
) -> None:
    endpoint = receiver.endpoint_http
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}

    ended = hookspan("run", "script.py", "configure", cwd=folder, environ=environ)

    assert ended.stderr.splitlines()[-1] == (
        f"hookspan: telemetry was delivered: traces, metrics and logs to {endpoint}"
    )
    spans = {span.name: span for span in receiver.spans()}
    assert sorted(span.name for span in receiver.spans()) == [
        "invoke_workflow crew_of_one",
        "run_hooks execution_start",
        "run_hooks output",
    ]
    output = spans["run_hooks output"]
    assert output.scope.resource["service.name"] == "script"
    assert output.status == "ERROR"  # as the program's own configure() asks


def test_a_dead_endpoint_costs_a_bounded_time_and_one_line(folder: Path) -> None:
    alive = hookspan("run", "script.py", cwd=folder)
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}

    ended = hookspan("run", "script.py", cwd=folder, environ=environ)

    assert (ended.code, ended.stdout) == (alive.code, alive.stdout)
    assert ended.seconds < alive.seconds + 3.8 + 5  # and what a busy machine takes more
    assert _without_last_line(ended) == _without_last_line(alive)
    assert ended.stderr.splitlines()[-1] == (
        "hookspan: telemetry was NOT all delivered within 3.8 s: traces, metrics and logs to"
        " http://127.0.0.1:9; is it listening?"
    )


def _without_last_line(ended: Ended) -> int:
    """Count the lines: durations in them differ, noise would be more of them."""
    return len(ended.stderr.splitlines()[:-1])


OLD = """\
import importlib.metadata
version = importlib.metadata.version
importlib.metadata.version = lambda name: "1.15.2" if name == "crewai" else version(name)
import crewai
print("not reached")
"""


def test_points_that_are_required_and_cannot_be_seen_stop_the_program(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(OLD, encoding="utf-8")
    required = {"OTEL_INSTRUMENTATION_CREWAI_HOOKS_REQUIRE_POINTS": "mcp_connect"}

    ended = hookspan("run", "script.py", cwd=tmp_path, environ=required)

    assert (ended.code, ended.stdout) == (1, "")
    assert ended.stderr.startswith(
        "hookspan: require_points: mcp_connect cannot be instrumented (crewAI 1.15.2 is older"
    )

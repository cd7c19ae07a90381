"""The committed rules, in promtool: each alert fires where it must, and nothing else does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookspan.mixin import MixinSettings
from hookspan.mixin.dashboards import all_dashboards
from hookspan.mixin.rules import text
from tests.operations.debian import program
from tests.operations.situations import (
    Expected,
    crashed,
    dispatches,
    hook,
    point,
    runs,
    series,
    situation,
)

RULES = Path(__file__).parents[2] / "dashboards" / "prometheus" / "hookspan.rules.yaml"
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    for rule in group["rules"]
    if "alert" in rule
}
CREW = {
    "job": "shop",
    "crewai_hook_point": "pre_tool_call",
    "gen_ai_workflow_name": "support",
}
HOOK = {"job": "shop", "crewai_hook_point": "pre_tool_call", "crewai_hook_name": "guards.pii"}
AT = {"job": "shop", "crewai_hook_point": "pre_tool_call"}
SHARE, CRASH, QUIET = "HookspanAbortShareHigh", "HookspanGuardCrashed", "HookspanGuardWentQuiet"
SPIKE = "HookspanAbortShareSpike"
FAST, SLOW = "HookspanAbortBudgetBurnFast", "HookspanAbortBudgetBurnSlow"
CRASHED = {**HOOK, "error_type": "KeyError"}
DOWN, COLLECTOR = "HookspanCollectorDown", {"job": "otel-collector", "collector": "a"}
LOST = "otelcol_exporter_send_failed_spans"

SITUATIONS: list[dict[str, Any]] = [
    situation(
        "zero for ten minutes, then aborts",
        {dispatches("aborted"): "0x10 20x30", dispatches("proceeded"): "0+10x40"},
        {"10m": {}, "13m30s": {SHARE: [CREW]}},
    ),
    situation(
        "born with its first aborts",
        {dispatches("aborted"): "_x10 20x30", dispatches("proceeded"): "0+10x40"},
        {"10m": {}, "13m30s": {SHARE: [CREW]}},
    ),
    situation(
        "no traffic",
        {dispatches("aborted"): "20x100", dispatches("proceeded"): "10x100", runs("true"): "9x100"},
        {"60m": {}, "90m": {}},
    ),
    situation(
        "restart, then aborts",
        {
            dispatches("aborted"): "500x10 0x10 30x30",
            dispatches("proceeded"): "9000x10 0+10x40",
        },
        {"18m": {}, "25m": {SHARE: [CREW]}},
    ),
    situation(
        "two crews, one aborting",
        {
            dispatches("aborted"): "0+5x60",
            dispatches("proceeded"): "0+5x60",
            dispatches("aborted", "sales"): "0x60",
            dispatches("proceeded", "sales"): "0+10x60",
        },
        {"20m": {SHARE: [CREW]}},
    ),
    situation(
        "one abort of two at night",
        {dispatches("aborted"): "0x10 1x30", dispatches("proceeded"): "0x10 1x30"},
        {"12m": {}, "16m": {}},
    ),
    situation(
        "a gap in scraping, then the old totals",
        {
            dispatches("aborted"): "900x10 _x15 900x30",
            dispatches("proceeded"): "100x10 _x15 100x30",
            crashed(): "7x10 _x15 7x30",
        },
        {
            "26m": {"HookspanCollectorDown": [{"job": "otel-collector", "collector": "a"}]},
            "34m": {DOWN: [COLLECTOR]},
            "45m": {},
        },
        up="1x10 0x14 1x30",
    ),
    situation(
        "two processes that overlap",
        {
            dispatches("aborted"): "_x10 6x2 _x20",
            dispatches("aborted", instance="p2"): "_x11 6x2 _x20",
            dispatches("proceeded"): "_x10 6x2 _x20",
            dispatches("proceeded", instance="p2"): "_x11 6x2 _x20",
        },
        {"13m30s": {SHARE: [CREW]}},
    ),
    situation(
        "a guard crashes once", {crashed(): "_x10 1x30"}, {"9m": {}, "12m": {CRASH: [CRASHED]}}
    ),
    situation(
        "a guard that had never crashed does",
        {crashed(): "0x10 1x40"},
        {"10m": {}, "12m": {CRASH: [CRASHED]}, "40m": {}},
    ),
    situation(
        "a hook that is no guard crashes",
        {crashed().replace("pre_tool", "post_tool"): "0x10 1x30"},
        {"11m": {}},
    ),
    situation(
        "one Collector of two had a gap",
        {
            'up{job="otel-collector",collector="b"}': "1x60",
            crashed(): "7x10 _x15 7x30",
            crashed(collector="b", instance="p2"): "7x60",
        },
        {"34m": {DOWN: [COLLECTOR]}},
        up="1x10 0x14 1x30",
    ),
    situation(
        "the abort share drops to nothing, the traffic stays",
        {
            dispatches("aborted"): "0+2x500 1000x200",
            dispatches("proceeded"): "0+50x500 25050+52x200",
        },
        {"2460m": {}, "3100m": {QUIET: [CREW]}},
        every="5m",
    ),
    situation(
        "the abort share grows fourfold",
        {
            dispatches("aborted"): "0+2x500 1008+8x200",
            dispatches("proceeded"): "0+98x500 49092+92x200",
        },
        {"2460m": {}, "3100m": {SPIKE: [CREW]}},
        every="5m",
    ),
    situation(
        "runs are denied fast",
        {runs("true"): "0+1x200", runs("false"): "0+1x200"},
        {
            "100m": {
                FAST: [{"job": "shop", "gen_ai_workflow_name": "support"}],
                SLOW: [{"job": "shop", "gen_ai_workflow_name": "support"}],
            }
        },
    ),
    situation(
        "runs are denied slowly",
        {runs("true"): "0+1x500", runs("false"): "0+5x500"},
        {"480m": {SLOW: [{"job": "shop", "gen_ai_workflow_name": "support"}]}},
    ),
    situation(
        "model calls go past the hook",
        {
            point("crewai_operations_total"): "0+2x200",
            hook("crewai_hook_registration_count", crewai_hook_scope="global"): "1x200",
        },
        {"90m": {"HookspanGuardNotAsked": [AT]}},
    ),
    situation(
        "every call asks the hook",
        {
            point("crewai_operations_total"): "0+2x200",
            dispatches("proceeded"): "0+2x200",
            hook("crewai_hook_registration_count", crewai_hook_scope="global"): "1x200",
        },
        {"90m": {}},
    ),
    situation(
        "a slow hook",
        {
            hook("crewai_hook_invocation_duration_seconds_bucket", le="1"): "0x60",
            hook("crewai_hook_invocation_duration_seconds_bucket", le="2.5"): "0+10x60",
            hook("crewai_hook_invocation_duration_seconds_bucket", le="+Inf"): "0+10x60",
            hook("crewai_hook_invocation_duration_seconds_count"): "0+10x60",
        },
        {"20m": {"HookspanHookSlow": [HOOK]}},
    ),
    situation(
        "a hook over its budget",
        {hook("crewai_hook_budget_exceeded_total"): "_x10 1x30"},
        {"14m": {"HookspanHookOverBudget": [HOOK]}},
    ),
    situation(
        "a hook hangs, ends, and its age is still shown",
        {
            point("crewai_hook_dispatch_oldest_seconds"): "0x10 90 150x30",
            point("crewai_hook_dispatch_active"): "0x10 1x9 0x30",
        },
        {"11m": {}, "14m": {"HookspanHookStuck": [AT]}, "40m": {}},
    ),
    situation(
        "hooks pile up in a process",
        {hook("crewai_hook_registration_count", crewai_hook_scope="global"): "1+1x300"},
        {"200m": {"HookspanRegistrationsGrowing": [{**HOOK, "crewai_hook_scope": "global"}]}},
    ),
    situation(
        "two open runs in two processes, neither ends",
        {
            series("crewai_execution_active", crewai_execution_kind="crew"): "1x200",
            series("crewai_execution_active", crewai_execution_kind="crew", instance="p2"): "1x200",
        },
        {
            "50m": {},
            "90m": {"HookspanExecutionsStuck": [{"job": "shop", "crewai_execution_kind": "crew"}]},
        },
    ),
    situation(
        "a busy process: runs are always open, and end",
        {
            series("crewai_execution_active", crewai_execution_kind="crew"): "3x200",
            runs("false"): "0+1x200",
        },
        {"90m": {}},
    ),
    situation(
        "no Collector",
        {},
        {"10m": {"HookspanCollectorDown": [{"job": "otel-collector"}]}},
        up="_x20",
    ),
    situation(
        "a service is gone for a day",
        {point("hookspan_point_instrumented", crewai_version="1.15.30"): "1x150 _x400"},
        {"1600m": {}, "2500m": {"HookspanTelemetryAbsent": [{"job": "shop"}]}},
        every="5m",
    ),
    situation(
        "the Collector cannot deliver",
        {
            LOST + '{job="otel-collector-internal",exporter="otlp_grpc"}': "0+5x60",
            'otelcol_receiver_accepted_spans{job="otel-collector-internal"}': "0+5x60",
        },
        {
            "20m": {
                "HookspanTelemetryDropping": [
                    {"job": "otel-collector-internal", "exporter": "otlp_grpc"}
                ]
            }
        },
    ),
    situation(
        "hookspan fails",
        {
            series(
                "hookspan_errors_total", hookspan_operation="end_dispatch", error_type="KeyError"
            ): "_x10 1x30"
        },
        {
            "11m": {
                "HookspanOwnErrors": [
                    {
                        "job": "shop",
                        "hookspan_operation": "end_dispatch",
                        "error_type": "KeyError",
                    }
                ]
            }
        },
    ),
    situation(
        "a hook at a point that nothing dispatches",
        {
            point("hookspan_point_instrumented", crewai_version="1.15.30"): "0x60",
            point("hookspan_point_instrumented", "mcp_connect", crewai_version="1.15.30"): "0x60",
            hook("crewai_hook_registration_count", crewai_hook_scope="global"): "1x60",
        },
        {"20m": {"HookspanNotInstrumented": [AT]}},
    ),
]


def promtool(folder: Path, given: dict[str, Any], settings: MixinSettings) -> tuple[int, str]:
    """Run one of promtool's tests, which wants exactly its alerts of all that there are."""
    rules = folder / "rules.yaml"
    rules.write_text(text(settings), encoding="utf-8")
    made = {key: given[key] for key in ("name", "interval", "input_series")}
    made["promql_expr_test"] = [check(at, fires) for at, fires in given["times"].items()]
    file = folder / "situations.yaml"
    content = {"rule_files": [str(rules)], "evaluation_interval": settings.tick}
    file.write_text(json.dumps({**content, "tests": [made]}), encoding="utf-8")
    command = [program("promtool"), "test", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check(at: str, fires: Expected) -> dict[str, Any]:
    """Return a check of everything that fires at a time."""
    samples: list[dict[str, Any]] = []
    for name, alerts in fires.items():
        fixed = {"alertname": name, "alertstate": "firing", **ALERTS[name]["labels"]}
        for alert in alerts:
            pairs = (f"{key}={json.dumps(said)}" for key, said in {**fixed, **alert}.items())
            samples.append({"labels": f"ALERTS{{{','.join(pairs)}}}", "value": 1})
    return {"expr": 'ALERTS{alertstate="firing"}', "eval_time": at, "exp_samples": samples}


def test_rules_are_valid() -> None:
    command = [program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", str(RULES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("given", SITUATIONS, ids=[given["name"] for given in SITUATIONS])
def test_exactly_the_alerts_of_the_situation_fire(given: dict[str, Any], tmp_path: Path) -> None:
    # What takes days has shorter ones, and is looked at less often, or it would take minutes here.
    days = MixinSettings(tick="5m", base_window="2d")
    code, said = promtool(tmp_path, given, days if given["interval"] == "5m" else MixinSettings())

    assert code == 0, said


def test_every_alert_has_fired_somewhere() -> None:
    fired = {name for given in SITUATIONS for at in given["times"].values() for name in at}

    assert fired == set(ALERTS)


def test_every_expression_of_the_dashboards_is_promql(tmp_path: Path) -> None:
    asked = [
        target["expr"].replace("$__range", "1h")
        for made in all_dashboards(MixinSettings())
        for panel in made["panels"]
        if panel["datasource"]["type"] == "prometheus"
        for target in panel["targets"]
    ]
    rules = [{"record": f"test:asked:{number}", "expr": expr} for number, expr in enumerate(asked)]
    file = tmp_path / "asked.yaml"
    file.write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}), encoding="utf-8")
    command = [program("promtool"), "check", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(asked)} rules found" in done.stdout

"""What is shipped to run everything: its parts refer to each other, and to what there is."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookspan.mixin import outputs
from hookspan.mixin.settings import load

ROOT = Path(__file__).parents[2]
COMPOSE = [ROOT / "docker-compose.yml", ROOT / "deploy" / "lgtm" / "docker-compose.yml"]
COLLECTORS = [
    "otel-collector/config.yaml",
    "jaeger/config.yaml",
    "kubernetes/agent-config.yaml",
    "kubernetes/gateway-config.yaml",
]
KINDS = ("receivers", "processors", "exporters")


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file."""
    content: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return content


def mounts() -> list[tuple[Path, str]]:
    """Return each mounted path with what it is mounted as."""
    found: list[tuple[Path, str]] = []
    for compose in COMPOSE:
        for service in read(compose)["services"].values():
            for mount in service.get("volumes", []):
                source, target = mount.split(":")[:2]
                if source.startswith("."):
                    found.append(((compose.parent / source).resolve(), target))
    return found


@pytest.mark.parametrize("path", COMPOSE, ids=str)
def test_images_are_pinned_and_ports_are_local(path: Path) -> None:
    for name, service in read(path)["services"].items():
        assert re.fullmatch(r"[a-z/-]+:v?\d[\w.-]+", service["image"]), name
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), (name, port)


@pytest.mark.parametrize(("path", "target"), mounts(), ids=str)
def test_mounted_files_can_be_read_by_anybody(path: Path, target: str) -> None:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    if path == ROOT:
        files = [path / "pyproject.toml"]

    assert files, target
    assert [file for file in files if not file.stat().st_mode & stat.S_IROTH] == []


@pytest.mark.parametrize("name", COLLECTORS)
def test_pipelines_use_what_is_defined_and_all_of_it(name: str) -> None:
    config = read(ROOT / "deploy" / name)
    pipelines = config["service"]["pipelines"].values()

    for kind in KINDS:
        used = {component for pipeline in pipelines for component in pipeline[kind]}
        assert used == set(config[kind])
    assert set(config["service"]["extensions"]) == set(config["extensions"])


def test_tail_sampling_adds_to_the_shipped_pipeline() -> None:
    base = read(ROOT / "deploy" / "otel-collector" / "config.yaml")
    extra = read(ROOT / "deploy" / "otel-collector" / "tail-sampling.yaml")
    used = extra["service"]["pipelines"]["traces"]["processors"]

    assert set(used) == {*base["processors"], *extra["processors"]}


def test_prometheus_scrapes_what_the_collector_opens() -> None:
    collector = read(ROOT / "deploy" / "otel-collector" / "config.yaml")
    jobs = {
        job["job_name"]: job
        for job in read(ROOT / "deploy" / "prometheus" / "prometheus.yaml")["scrape_configs"]
    }
    port = re.findall(r"(\d+)}?$", collector["exporters"]["prometheus"]["endpoint"])
    reader = collector["service"]["telemetry"]["metrics"]["readers"][0]["pull"]["exporter"]

    assert jobs["otel-collector"]["static_configs"][0]["targets"] == [f"otel-collector:{port[0]}"]
    assert jobs["otel-collector"]["honor_labels"] is True
    internal = jobs["otel-collector-internal"]["static_configs"][0]["targets"]
    assert internal == [f"otel-collector:{reader['prometheus']['port']}"]


def test_hosts_are_services() -> None:
    services = set(read(COMPOSE[0])["services"])
    files = [
        file
        for file in (ROOT / "deploy").rglob("*.yaml")
        if not {"lgtm", "kubernetes"} & {*file.parts}
    ]
    hosts = {
        host
        for file in files
        for host in re.findall(r"(?:https?://|\"|:-)([a-z-]+):\d{4}", file.read_text("utf-8"))
    }

    assert hosts
    assert hosts - services == set()


def test_sources_that_link_to_each_other_exist() -> None:
    file = ROOT / "deploy" / "grafana" / "provisioning" / "datasources" / "hookspan.yaml"
    uids = {source["uid"] for source in read(file)["datasources"]}
    linked = set(re.findall(r"datasourceUid: (\w+)", file.read_text("utf-8")))

    assert linked <= uids
    assert {source["type"] for source in read(file)["datasources"]} == {
        "prometheus",
        "jaeger",
        "loki",
    }


def test_rules_of_the_variant_are_those_of_its_settings() -> None:
    folder = ROOT / "deploy" / "lgtm"
    made = outputs.outputs(load(folder / "settings.json"))[outputs.RULES]

    assert (folder / "hookspan.rules.yaml").read_text("utf-8") == made
    assert "up{" not in made

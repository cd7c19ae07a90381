from __future__ import annotations

import logging

import pytest

from hookspan.cli import delivery
from hookspan.cli.delivery import Delivery, deliver, find_targets, silence_exporters
from hookspan.cli.service import name_service


@pytest.fixture(autouse=True)
def own_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the providers of all signals made here, and no variable set."""
    monkeypatch.setattr(delivery, "own_signals", lambda: ["traces", "metrics", "logs"])
    for name in (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        "OTEL_METRICS_EXPORTER",
        "OTEL_RESOURCE_ATTRIBUTES",
        "OTEL_SDK_DISABLED",
        "OTEL_SERVICE_NAME",
    ):
        monkeypatch.delenv(name, raising=False)


def test_nowhere() -> None:
    assert find_targets() == {}
    assert deliver({}) == Delivery(disabled=False, targets={}, delivered=True)
    assert deliver({}).line == (
        "no OTLP endpoint is set: nothing left this process;"
        " set OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 to send it"
    )


def test_each_signal_to_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://jaeger:4318/v1/traces")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "console")

    targets = find_targets()
    assert targets == {
        "traces": "http://jaeger:4318/v1/traces",
        "metrics": "console",
        "logs": "http://collector:4318",
    }
    assert Delivery(disabled=False, targets=targets, delivered=True).line == (
        "telemetry was delivered: traces to http://jaeger:4318/v1/traces; metrics to console;"
        " logs to http://collector:4318"
    )


def test_one_place_for_all_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:pass@host:443/otlp?key=secret")

    assert Delivery(disabled=False, targets=find_targets(), delivered=False).line == (
        "telemetry was NOT all delivered within 3.8 s: traces, metrics and logs to"
        " https://host:443/otlp; is it listening?"
    )


def test_the_loggers_of_exporters_are_quiet_unless_somebody_set_their_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporters, sdk = (logging.getLogger(f"opentelemetry.{name}") for name in ("exporter", "sdk"))
    monkeypatch.setattr(exporters, "level", logging.NOTSET)
    monkeypatch.setattr(sdk, "level", logging.DEBUG)

    silence_exporters()

    assert not exporters.isEnabledFor(logging.CRITICAL)
    assert sdk.level == logging.DEBUG
    assert logging.getLogger("opentelemetry.trace").isEnabledFor(logging.WARNING)
    exporters.setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        (None, None, "mine"),
        (None, "team=a,service.namespace=b", "mine"),
        (None, "team=a, service.name=theirs", None),
        ("theirs", None, "theirs"),
    ],
)
def test_the_name_of_the_service_is_the_users_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, name: str | None, attributes: str | None, expected: str | None
) -> None:
    environ = {"OTEL_SERVICE_NAME": name, "OTEL_RESOURCE_ATTRIBUTES": attributes}
    fake = {key: value for key, value in environ.items() if value is not None}
    monkeypatch.setattr("os.environ", fake)

    name_service("mine")

    assert fake.get("OTEL_SERVICE_NAME") == expected

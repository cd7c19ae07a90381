"""How the signals are called in Prometheus, made from their names in `telemetry/semconv.py`.

The same on every route: the Collector's Prometheus exporter, an OTLP receiver of Prometheus, and
Python's own Prometheus exporter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hookspan.mixin.settings import MixinSettings
from hookspan.telemetry import semconv
from hookspan.telemetry.semconv import Metric


def label(key: str) -> str:
    """Return the label of an attribute: what is no letter, digit or underscore is one."""
    return re.sub(r"\W", "_", key)


POINT = label(semconv.CREWAI_HOOK_POINT)
OUTCOME = label(semconv.CREWAI_HOOK_OUTCOME)
HOOK = label(semconv.CREWAI_HOOK_NAME)
RESULT = label(semconv.CREWAI_HOOK_RESULT)
SOURCE = label(semconv.CREWAI_HOOK_ABORT_SOURCE)
SCOPE = label(semconv.CREWAI_HOOK_SCOPE)
CREW = label(semconv.GEN_AI_WORKFLOW_NAME)
KIND = label(semconv.CREWAI_EXECUTION_KIND)
RUN_OUTCOME = label(semconv.CREWAI_EXECUTION_OUTCOME)
DENIED = label(semconv.CREWAI_EXECUTION_DENIED)
NESTED = label(semconv.CREWAI_EXECUTION_NESTED)
ERROR = label(semconv.ERROR_TYPE)
OPERATION = label(semconv.HOOKSPAN_OPERATION)
VERSION = label(semconv.CREWAI_VERSION)
OVERFLOW = label("otel.metric.overflow")
BUCKET = "le"


def gauge(metric: Metric) -> str:
    """Return the name of a gauge or an up-down counter."""
    name = label(metric.name)
    return f"{name}_seconds" if metric.unit == "s" else name


def counter(metric: Metric) -> str:
    """Return the name of a counter."""
    return f"{gauge(metric)}_total"


def histogram(metric: Metric, part: str) -> str:
    """Return the name of one of a histogram's series.

    Args:
        metric: The histogram.
        part: bucket, count or sum.
    """
    return f"{gauge(metric)}_{part}"


def select(name: str, *matchers: str) -> str:
    """Return a selector of series.

    Args:
        name: Of the metric.
        *matchers: Such as `job="a"`; empty ones are left out.
    """
    inside = ",".join(filter(None, matchers))
    return f"{name}{{{inside}}}" if inside else name


def by(settings: MixinSettings, *labels: str) -> str:
    """Return the labels that an aggregation keeps: those of the target and the given ones."""
    return comma(dict.fromkeys((*settings.group_labels, *labels)))


def comma(labels: Iterable[str]) -> str:
    """Return labels as they stand between parentheses."""
    return ", ".join(labels)

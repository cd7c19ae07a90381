"""Check emitted telemetry, given as plain data, against the registry.

Every function returns its findings as sentences, an empty list for what is as declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from semconv.registry import Attribute, Enumeration, Event, Metric, Reference, Registry, Span

AttributeValues: TypeAlias = Mapping[str, object]
OVERFLOW = {"otel.metric.overflow": True}
"""The attributes of what lies beyond the cap of an instrument, the same on any metric."""


class Point(NamedTuple):
    """One point of a metric.

    Attributes:
        name: Name of the metric.
        instrument: counter, gauge, histogram or updowncounter.
        unit: Unit in UCUM notation.
        value: The value, of a histogram the sum, in `unit`.
        attributes: The attributes by key.
        boundaries: The bucket bounds of a histogram, in `unit`; None for all else.
    """

    name: str
    instrument: str
    unit: str
    value: float
    attributes: AttributeValues
    boundaries: Sequence[float] | None = None


_TYPES = {"string": str, "int": int, "double": float, "boolean": bool}


def check_span(
    registry: Registry,
    name: str,
    kind: str,
    attributes: AttributeValues,
    events: Sequence[tuple[str, AttributeValues]] = (),
) -> list[str]:
    """Return what is wrong with a span.

    Args:
        registry: What is declared.
        name: Name of the span; its first word says which span it is.
        kind: Kind of the span, such as `internal`, in any case.
        attributes: The attributes by key.
        events: Name and attributes of each of its events.
    """
    span = find_span(registry, name)
    if span is None:
        return [f"{name}: undeclared span"]
    findings = [] if _named(span, name, attributes) else [f"{name}: name does not fit attributes"]
    if kind.lower() != span.kind:
        findings.append(f"{name}: kind is {kind.lower()}, not {span.kind}")
    findings += _check_attributes(registry, name, span.references, attributes)
    for event, values in events:
        if event in span.annotations.hookspan.events:
            uses = find_event(registry, event).references
            findings += _check_attributes(registry, f"{name}: {event}", uses, values)
        else:
            findings.append(f"{name}: undeclared span event {event}")
    return findings


def check_point(registry: Registry, point: Point) -> list[str]:
    """Return what is wrong with one point of a metric.

    Args:
        registry: What is declared.
        point: The point.
    """
    metric = {metric.name: metric for metric in registry.metrics}.get(point.name)
    if metric is None:
        return [f"{point.name}: undeclared metric"]
    bounds = metric.annotations.hookspan.boundaries
    findings = [
        f"{point.name}: {what} is {actual}, not {declared}"
        for what, actual, declared in (
            ("instrument", point.instrument, metric.instrument),
            ("unit", point.unit, metric.unit),
            ("value type", _number(point.value), _value_type(metric)),
            ("boundaries", _floats(point.boundaries), _floats(bounds)),
        )
        if actual != declared
    ]
    if point.attributes == OVERFLOW:
        return findings
    return findings + _check_attributes(registry, point.name, metric.references, point.attributes)


def check_record(
    registry: Registry, name: str, severity: str, attributes: AttributeValues
) -> list[str]:
    """Return what is wrong with a log record.

    Args:
        registry: What is declared.
        name: Event name of the record.
        severity: Severity, such as `WARN`.
        attributes: The attributes by key.
    """
    events = {event.name: event for event in registry.events}
    if name not in events or events[name].annotations.hookspan.severity is None:
        return [f"{name}: undeclared log record"]
    declared = events[name].annotations.hookspan
    allowed = [known for known in (declared.severity, declared.also) if known]
    wrong = f"{name}: severity is {severity}, not {' or '.join(allowed)}"
    findings = [] if severity in allowed else [wrong]
    return findings + _check_attributes(registry, name, events[name].references, attributes)


def find_span(registry: Registry, name: str) -> Span | None:
    """Return the definition of the span that is named so, None where there is none."""
    word = name.partition(" ")[0]
    for span in registry.spans:
        if any(shape.partition(" ")[0] == word for shape in span.annotations.hookspan.names):
            return span
    return None


def find_event(registry: Registry, name: str) -> Event:
    """Return the definition of an event.

    Raises:
        KeyError: The registry has none of that name.
    """
    return {event.name: event for event in registry.events}[name]


def _named(span: Span, name: str, attributes: AttributeValues) -> bool:
    for shape in span.annotations.hookspan.names:
        operation, _, placeholder = shape.partition(" ")
        value = attributes.get(placeholder.strip("{}"))
        if name == (operation if value is None else f"{operation} {value}"):
            return True
    return False


def _check_attributes(
    registry: Registry, where: str, uses: Mapping[str, Reference], values: AttributeValues
) -> list[str]:
    findings = [f"{where}: undeclared attribute {key}" for key in sorted(set(values) - set(uses))]
    for key, use in uses.items():
        if key not in values:
            findings += [f"{where}: {key} is missing"] if _required(use, values) else []
        elif not typed(registry.by_key[key], values[key]):
            findings.append(f"{where}: {key} is {values[key]!r}, not {_name(registry.by_key[key])}")
        elif not _member(registry.by_key[key], values[key]):
            findings.append(f"{where}: {key} is {values[key]!r}, not one of its members")
    return findings


def _required(use: Reference, values: AttributeValues) -> bool:
    return use.requirement_level == "required" or any(
        type(values.get(key)) is type(value) and values[key] == value
        for key, wanted in use.annotations.hookspan.required_when.items()
        for value in wanted
    )


def _name(attribute: Attribute) -> str:
    return "string" if isinstance(attribute.type, Enumeration) else attribute.type


def typed(attribute: Attribute, value: object) -> bool:
    """Return whether a value has exactly the type of an attribute.

    A bool is no int, and a str that is an Enum is no str, for it prints as its class and name.

    Args:
        attribute: What is declared.
        value: What was emitted.
    """
    name = _name(attribute)
    if name == "string[]":
        items = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [None]
        return {type(item) for item in items} <= {str}
    return type(value) is _TYPES[name]


def _member(attribute: Attribute, value: object) -> bool:
    if not isinstance(attribute.type, Enumeration) or attribute.annotations.hookspan.open:
        return True
    return value in {member.value for member in attribute.type.members}


def _number(value: float) -> str:
    return "double" if type(value) is float else "int"


def _value_type(metric: Metric) -> str | None:
    code = metric.annotations.code_generation
    return code.metric_value_type if code else None


def _floats(values: Sequence[float] | None) -> list[float] | None:
    return None if values is None else [float(value) for value in values]

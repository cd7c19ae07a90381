"""The registry of hookspan's signals: the YAML files as checked, immutable objects.

The files are written in the `definition/2` syntax of OpenTelemetry Weaver. What Weaver has no word
for stands under `annotations.hookspan`.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DIRECTORY = Path(__file__).parent / "registry"
"""Where the files of the registry are."""

SCOPE = "hookspan"
"""Name of the instrumentation scope of every signal."""

Level = (
    Literal["required", "recommended", "opt_in"]
    | dict[Literal["conditionally_required", "recommended"], str]
)
Primitive = Literal["string", "int", "double", "boolean", "string[]"]
Stability = Literal["development", "stable"]
T = TypeVar("T")


def _frozen(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


Many = Annotated[tuple[T, ...], BeforeValidator(_frozen)]


class Strict(BaseModel):
    """A part of the registry: no unknown key, no coercion, no change."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Extension(Strict):
    """What hookspan says about a part beyond Weaver's syntax.

    Attributes:
        open: Whether an enumeration may carry values beyond its members.
        required_when: Other attributes, with those of their values that require this one.
        names: The shapes of a span's name.
        events: The events that a span may carry.
        boundaries: The bucket bounds of a histogram, in its unit.
        observable: Whether an instrument is read by a callback.
        severity: The severity of a log record; None for an event of a span.
        also: A severity that it may have instead.
    """

    open: bool = False
    required_when: dict[str, Many[str | int]] = {}
    names: Many[str] = ()
    events: Many[str] = ()
    boundaries: Many[float] | None = None
    observable: bool = False
    severity: Literal["INFO", "WARN", "ERROR"] | None = None
    also: Literal["ERROR"] | None = None


class CodeGeneration(Strict):
    """Upstream's own annotation: the type of the values of a metric."""

    metric_value_type: Literal["int", "double"]


class Annotations(Strict):
    """The annotations of a part."""

    hookspan: Extension = Extension()
    code_generation: CodeGeneration | None = None


class Part(Strict):
    """What attributes and signals have in common."""

    brief: str
    note: str = ""
    stability: Stability
    annotations: Annotations = Annotations()


class Member(Strict):
    """One value of an enumeration."""

    id: str
    value: str
    brief: str
    stability: Stability


class Enumeration(Strict):
    """The type of a text attribute with a known set of values."""

    members: Many[Member]


class Attribute(Part):
    """An attribute, defined once for all signals."""

    key: str
    type: Primitive | Enumeration
    examples: Many[str | int | float | list[str]] = ()


class Reference(Strict):
    """The use of an attribute by a signal."""

    ref: str
    requirement_level: Level = "recommended"
    sampling_relevant: bool = False
    annotations: Annotations = Annotations()


class GroupReference(Strict):
    """The use of all attributes of a group by a signal."""

    ref_group: str


class Group(Strict):
    """References that several signals share."""

    id: str
    visibility: Literal["internal"]
    attributes: Many[Reference]


class Signal(Part):
    """What spans, metrics and events have in common; `load` leaves no group reference."""

    attributes: Many[Reference | GroupReference]

    @property
    def references(self) -> dict[str, Reference]:
        """The attributes of the signal by key, in the order of the file."""
        return {use.ref: use for use in self.attributes if isinstance(use, Reference)}


S = TypeVar("S", bound=Signal)


class SpanName(Strict):
    """How a span is named, in words."""

    note: str


class Span(Signal):
    """A kind of span."""

    type: str
    kind: Literal["internal"]
    name: SpanName


class Metric(Signal):
    """A metric instrument."""

    name: str
    instrument: Literal["counter", "gauge", "histogram", "updowncounter"]
    unit: str


class Event(Signal):
    """A log record, or an event of a span."""

    name: str


class Registry(Strict):
    """One file of the registry, or all of them together."""

    file_format: Literal["definition/2"] = "definition/2"
    attributes: Many[Attribute] = ()
    attribute_groups: Many[Group] = ()
    spans: Many[Span] = ()
    metrics: Many[Metric] = ()
    events: Many[Event] = ()

    @cached_property
    def by_key(self) -> dict[str, Attribute]:
        """The attributes by key, sorted."""
        return {attribute.key: attribute for attribute in sorted(self.attributes, key=_key)}


def load(directory: Path = DIRECTORY) -> Registry:
    """Read all files of the registry and resolve what refers to something.

    Args:
        directory: Where the YAML files are; the manifest among them is left to Weaver.

    Raises:
        pydantic.ValidationError: A file has an unknown key, a wrong type or lacks something.
        ValueError: Something is defined twice or not at all.
    """
    paths = sorted(path for path in directory.glob("*.yaml") if path.name != "manifest.yaml")
    files = [Registry.model_validate(yaml.safe_load(path.read_text("utf-8"))) for path in paths]
    groups = {group.id: group for file in files for group in file.attribute_groups}
    registry = Registry(
        attributes=tuple(chain.from_iterable(file.attributes for file in files)),
        attribute_groups=tuple(groups.values()),
        spans=tuple(_resolved(span, groups) for file in files for span in file.spans),
        metrics=tuple(_resolved(metric, groups) for file in files for metric in file.metrics),
        events=tuple(_resolved(event, groups) for file in files for event in file.events),
    )
    _reject_duplicates([attribute.key for attribute in registry.attributes])
    _reject_duplicates([span.type for span in registry.spans])
    _reject_duplicates([metric.name for metric in registry.metrics])
    _reject_duplicates([event.name for event in registry.events])
    _reject_unknown(registry)
    return registry


def _key(attribute: Attribute) -> str:
    return attribute.key


def _resolved(signal: S, groups: Mapping[str, Group]) -> S:
    uses: list[Reference] = []
    for use in signal.attributes:
        if isinstance(use, Reference):
            uses.append(use)
        elif use.ref_group in groups:
            uses.extend(groups[use.ref_group].attributes)
        else:
            message = f"no group {use.ref_group}"
            raise ValueError(message)
    _reject_duplicates([use.ref for use in uses])
    return signal.model_copy(update={"attributes": tuple(uses)})


def _reject_duplicates(names: Iterable[str]) -> None:
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        message = f"defined twice: {', '.join(twice)}"
        raise ValueError(message)


def _reject_unknown(registry: Registry) -> None:
    signals = (*registry.spans, *registry.metrics, *registry.events)
    used = {key for signal in signals for key in signal.references}
    unknown = sorted(used ^ set(registry.by_key))
    if unknown:
        message = f"used but not defined, or defined but not used: {', '.join(unknown)}"
        raise ValueError(message)

"""Where crewAI's memory keeps its records in the catalogue run: a dict, not a database."""

from __future__ import annotations

from typing import Any

from crewai.memory.types import ScopeInfo


class Records:
    """A storage backend of crewAI's memory.

    Attributes:
        kept: The records by id.
    """

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    @property
    def texts(self) -> list[str]:
        """The content of every record, sorted."""
        return sorted(record.content for record in self.kept.values())

    def save(self, records: list[Any]) -> None:
        """Keep records."""
        self.kept.update({record.id: record for record in records})

    def update(self, record: Any) -> None:
        """Keep a record in the place of the one of that id."""
        self.kept[record.id] = record

    def search(self, query_embedding: list[float], **_filters: Any) -> list[tuple[Any, float]]:
        """Return the records of the very same embedding."""
        return [
            (record, 1.0)
            for record in self.kept.values()
            if list(record.embedding or ()) == list(query_embedding)
        ]

    def get_record(self, record_id: str) -> Any:
        """Return a record, or None."""
        return self.kept.get(record_id)

    def list_records(self, *_place: Any, **_page: Any) -> list[Any]:
        """Return all records."""
        return list(self.kept.values())

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Tell nothing of a scope but how many records there are."""
        return ScopeInfo(path=scope, record_count=len(self.kept))

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return no scope."""
        del parent
        return []

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return no category."""
        del scope_prefix
        return {}

    def delete(self, *, record_ids: list[str] | None = None, **_filters: Any) -> int:
        """Forget records by their ids; return how many."""
        return sum(self.kept.pop(name, None) is not None for name in record_ids or ())

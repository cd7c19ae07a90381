"""The trees and their summary as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from hookspan.cli.delivery import Delivery
from hookspan.cli.summary import Summary, summarize
from hookspan.cli.tree import Node
from hookspan.version import __version__


def document(roots: Sequence[Node], delivery: Delivery, not_kept: int = 0) -> str:
    """Return the JSON document, two spaces of indent, without a line end.

    Args:
        roots: The trees.
        delivery: What became of the telemetry.
        not_kept: How many spans are missing from the trees.
    """
    content = {
        "hookspan": __version__,
        "runs": [_node(root) for root in roots],
        "spans_not_kept": not_kept,
        "summary": _summary(summarize(roots)),
        "telemetry": {"line": delivery.line, **asdict(delivery)},
    }
    return json.dumps(content, indent=2)


def _node(node: Node) -> dict[str, Any]:
    start = datetime.fromtimestamp(node.start / 1e9, tz=timezone.utc)
    return {
        "type": "dispatch" if node.is_dispatch else "run",
        "name": node.name,
        "trace_id": node.trace_id,
        "span_id": node.span_id,
        "start": start.isoformat(timespec="microseconds"),
        "duration": node.duration,
        "status": node.status,
        "attributes": dict(node.attributes),
        "crashes": [{"hook": hook, "exception": exception} for hook, exception in node.crashes],
        "children": [_node(child) for child in node.children],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "points": [asdict(point) for point in summary.points],
        "total": asdict(summary.total),
        "aborts": [{**abort._asdict(), "count": n} for abort, n in summary.aborts.items()],
        "crashes": [{**crash._asdict(), "count": n} for crash, n in summary.crashes.items()],
        "runs": [{**ending._asdict(), "count": n} for ending, n in summary.runs.items()],
    }

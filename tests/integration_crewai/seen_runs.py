"""The spans of runs as a tree of one line each."""

from __future__ import annotations

from tests.kit.memory import Memory, Node


def tree_text(memory: Memory, *, concurrent: bool = False) -> str:
    """Return what was recorded, a line a span, as `runs` has it."""
    blocks = ["\n".join(_lines(root, concurrent=concurrent)) for root in memory.trees()]
    return "\n".join(sorted(blocks) if concurrent else blocks)


def _lines(node: Node, *, concurrent: bool) -> list[str]:
    below = [_lines(child, concurrent=concurrent) for child in node.children]
    if concurrent:
        below.sort()
    return [_line(node), *(f"  {line}" for lines in below for line in lines)]


def _line(node: Node) -> str:
    said = node.attributes
    if node.name.startswith("run_hook "):
        return f"- {said['crewai.hook.name'].rpartition('.')[2]}: {said['crewai.hook.result']}"
    if "crewai.hook.point" in said:
        return f"{said['crewai.hook.point']}: {said['crewai.hook.outcome']}"
    return _run_line(node) if "crewai.execution.outcome" in said else node.name


def _run_line(node: Node) -> str:
    said = node.attributes
    kind, outcome = said["crewai.execution.kind"], said["crewai.execution.outcome"]
    name = said.get("gen_ai.agent.name" if kind == "agent" else "gen_ai.workflow.name")
    error, status = said.get("error.type"), said.get("crewai.execution.status")
    assert (node.status == "ERROR") == (error is not None)
    parts = {
        f"{kind} {name}: {outcome}": True,
        "denied": said["crewai.execution.denied"] and outcome != "aborted",
        f"by {str(error).rpartition('.')[2]}": error is not None,
        f"END {status}": status is not None,
        "linked": bool(node.span.links),
    }
    return " ".join(part for part, there in parts.items() if there)


def runs_of(memory: Memory) -> list[Node]:
    """Return every run that was recorded, at whatever depth."""
    found: list[Node] = []
    rest = memory.trees()
    while rest:
        node = rest.pop(0)
        rest[:0] = node.children
        if "crewai.execution.outcome" in node.attributes:
            found.append(node)
    return found

"""The trees that the runs of `exported_runs` are expected to give, in the notation of the kit.

Each function states every attribute of its span: one more or one less is a difference.
"""

from __future__ import annotations

from typing import Any

Attributes = dict[str, Any]

MODULE = "tests.integration_crewai.exported_runs"


class Mark(str):
    """What is another in each run: shown as the kit shows it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


ID, UUID, SECONDS = Mark("<id>"), Mark("<uuid>"), Mark("<s>")


def crew(name: str) -> Attributes:
    """The identity of a crew."""
    return {
        "crewai.crew.id": UUID,
        "crewai.crew.key": ID,
        "crewai.crew.name": name,
        "crewai.execution.kind": "crew",
        "crewai.execution_uuid": UUID,
        "gen_ai.workflow.name": name,
    }


def flow(name: str) -> Attributes:
    """The identity of a flow."""
    return {
        "crewai.execution.kind": "flow",
        "crewai.execution_uuid": UUID,
        "crewai.flow.id": UUID,
        "crewai.flow.name": name,
        "gen_ai.workflow.name": name,
    }


def task(name: str = "task_0", agent: str = "Researcher") -> Attributes:
    """The identity of a task and the agent that does it."""
    return {"crewai.task.id": UUID, "crewai.task.name": name, "gen_ai.agent.name": agent}


def step(name: str, kind: str = "task") -> Attributes:
    """The identity of a step."""
    return {"crewai.step.kind": kind, "crewai.step.name": name}


def run(identity: Attributes, *children: str, **further: Any) -> str:
    """The span of a run; ERROR when `error_type` is given. `__` stands for a dot."""
    attributes = {
        **identity,
        "crewai.execution.abort.count": 0,
        "crewai.execution.closed_by": "frame",
        "crewai.execution.denied": False,
        "crewai.execution.exception.count": 0,
        "crewai.execution.nested": False,
        "crewai.execution.outcome": "completed",
        "gen_ai.operation.name": "invoke_workflow",
        **{key.replace("__", "."): value for key, value in further.items()},
    }
    status = "ERROR" if "error.type" in attributes else "UNSET"
    name = f"invoke_workflow {identity['gen_ai.workflow.name']} [{status}]"
    return node(name + shown(attributes), *children)


def dispatch(
    point: str,
    *about: Attributes,
    results: tuple[str, ...] = ("watch=passed",),
    **further: Any,
) -> str:
    """The span of a dispatch that changed nothing, unless `further` says otherwise."""
    chain = [f"{MODULE}.{result}" for result in results]
    attributes: Attributes = {
        "crewai.hook.chain": chain,
        "crewai.hook.count": len(chain),
        "crewai.hook.duration": SECONDS,
        "crewai.hook.effect": "continued",
        "crewai.hook.outcome": "proceeded",
        "crewai.hook.point": point,
    }
    if len(chain) == 1:
        attributes["crewai.hook.name"], _, attributes["crewai.hook.result"] = chain[0].partition(
            "="
        )
        attributes["crewai.hook.mode"] = "enforce"
    for part in about:
        attributes.update(part)
    attributes.update((key.replace("__", "."), value) for key, value in further.items())
    return f"run_hooks {point} [UNSET]{shown(attributes)}"


def hook(point: str, result: str, error: str = "") -> str:
    """The span of one hook of several; ERROR when it crashed with `error`."""
    name, _, came_to = f"{MODULE}.{result}".partition("=")
    attributes: Attributes = {
        "code.function.name": name,
        "crewai.hook.mode": "enforce",
        "crewai.hook.name": name,
        "crewai.hook.point": point,
        "crewai.hook.result": came_to,
        **({"error.type": error} if error else {}),
    }
    return f"run_hook {name} [{'ERROR' if error else 'UNSET'}]{shown(attributes)}"


def shown(attributes: Attributes) -> str:
    """Attributes as the kit shows them."""
    return "".join(f" {key}={attributes[key]!r}" for key in sorted(attributes))


def node(head: str, *children: str) -> str:
    """A span and those below it, in this order."""
    lines = [line for child in children for line in child.splitlines()]
    return "\n".join([head, *(f"  {line}" for line in lines)])


def unordered(*children: str) -> str:
    """Spans side by side of which nobody knows which starts first."""
    blocks = sorted(child.splitlines() for child in children)
    return "\n".join(line for block in blocks for line in block)

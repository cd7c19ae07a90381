"""All scenes, in the order of the catalogue."""

from __future__ import annotations

from hookspan.cli.catalogue import agents, crew_scenes, flows
from hookspan.cli.catalogue.evidence import Scene
from hookspan.contract.points import InterceptionPoint

_BY_POINT = {scene.point: scene for scene in (*crew_scenes.SCENES, *agents.SCENES, *flows.SCENES)}

SCENES: tuple[Scene, ...] = tuple(_BY_POINT[point] for point in InterceptionPoint)

"""What hangs below each feeder: the walk up the tree, and the loads of all jobs added up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twin.scenario.placement import ROOT, ways
from twin.scenario.power import FeederSection, Power

if TYPE_CHECKING:
    from twin.scenario.models import Scenario


@dataclass(frozen=True, slots=True)
class FeederLoad:
    """All jobs of the scenario that have nodes below a feeder, as if they ran at once; those of a launch log left out.

    Args:
        jobs, nodes: how many, and their nodes below the feeder.
        idle_w: draw if all of them stood at speed 0 [W]; of the root, with the site's fixed draw and PUE.
        demand_w: the same at full speed, or in a write that draws more.
    """

    jobs: int = 0
    nodes: int = 0
    idle_w: float = 0.0
    demand_w: float = 0.0


def feeder_loads(scenario: Scenario) -> dict[str, FeederLoad]:
    """The load of each feeder by its name, the root's first."""
    power = scenario.power
    loads = {name: FeederLoad() for name in (ROOT, *power.feeders)}
    for group in scenario.jobs:
        node_w = max(group.power.compute_w, group.power.write_w)
        for places, count in ways(group.feeders, group.nodes, group.count):
            for feeder, nodes in nodes_below(places, power).items():
                load = loads[feeder]
                loads[feeder] = FeederLoad(
                    load.jobs + count,
                    load.nodes + count * nodes,
                    load.idle_w + count * nodes * group.power.idle_w,
                    load.demand_w + count * nodes * node_w,
                )
    site = loads[ROOT]
    idle_w, demand_w = (power.site_w(watts) for watts in (site.idle_w, site.demand_w))
    return loads | {ROOT: FeederLoad(site.jobs, site.nodes, idle_w, demand_w)}


def sections(power: Power) -> dict[str, tuple[str, Power | FeederSection]]:
    """Key and section of each feeder by its name, the root's first."""
    below = {name: (f"power.feeders.{name}", section) for name, section in power.feeders.items()}
    return {ROOT: ("power", power), **below}


def path_up(name: str, power: Power) -> Iterator[str]:
    """The feeder and all above it, up to the root; without end in a tree with a ring."""
    yield name
    while name != ROOT:
        name = power.feeders[name].parent
        yield name


def nodes_below(places: tuple[tuple[str, int], ...], power: Power) -> dict[str, int]:
    """Nodes of one job on or below each feeder."""
    found: dict[str, int] = {}
    for name, nodes in places:
        for feeder in path_up(name, power):
            found[feeder] = found.get(feeder, 0) + nodes
    return found

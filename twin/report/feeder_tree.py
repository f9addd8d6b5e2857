"""The tree of feeders as text: what hangs below each, and what its controller is asked to hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from twin.report.run_summary import Line
from twin.scenario import (
    ROOT,
    FeederLoad,
    FeederSection,
    Power,
    Replay,
    Scenario,
    feeder_loads,
    feeders_named,
    lowest_cap,
    path_up,
    steps_of,
)
from twin.units import scaled

_MOST_WARNED = 10  # feeders
_EDGE = 4  # characters that networkx puts before the root, and indents all below it


class FeederRow(NamedTuple):
    """A feeder as ``twin validate`` shows it.

    Args:
        cap_w: the lowest it ever is [W]; None without a cap.
        steps: changes of the cap, of one day if they are daily; 0 for one that stays.
        jobs, nodes: what hangs below it, the jobs of a launch log left out.
        demand_w: the draw if all of these ran at once at full speed [W].
        has_log: jobs of the launch log may hang below it too.
    """

    feeder: str
    parent: str | None
    cap_w: float | None
    steps: int
    jobs: int
    nodes: int
    demand_w: float
    policy: str
    has_log: bool


def feeder_rows(scenario: Scenario) -> list[FeederRow]:
    """Every feeder, the root first; empty for a scenario with neither a cap nor feeders."""
    power = scenario.power
    if power.cap is None and not power.feeders:
        return []
    loads, with_log = feeder_loads(scenario), _with_log(scenario.replay, power)
    root = _row(ROOT, None, power, loads[ROOT], with_log)
    below = (_row(name, section.parent, section, loads[name], with_log) for name, section in power.feeders.items())
    return [root, *below]


def feeder_lines(rows: list[FeederRow]) -> list[Line]:
    """A line for each feeder, drawn as a tree."""
    by_name = {row.feeder: row for row in rows}
    return [Line(text, _said(by_name[name])) for name, text in _drawn(rows)]


def oversubscribed(rows: list[FeederRow]) -> list[str]:
    """A warning for each feeder whose jobs can ask for more than its cap, at most so many."""
    found = []
    for row in rows:
        if row.cap_w is not None and row.demand_w > row.cap_w:
            lowest = "lowest " if row.steps else ""
            found.append(
                f"{row.feeder} is oversubscribed: at full speed its jobs draw {scaled(row.demand_w, 'W')} at once, "
                f"{row.demand_w / row.cap_w:.3g} x its {lowest}cap of {scaled(row.cap_w, 'W')}"
            )
    if len(found) > _MOST_WARNED:
        found[_MOST_WARNED:] = [f"{len(found) - _MOST_WARNED:,} more feeders are oversubscribed"]
    return found


def _row(
    name: str, parent: str | None, section: Power | FeederSection, load: FeederLoad, with_log: set[str]
) -> FeederRow:
    cap_w = None if section.cap is None else lowest_cap(section.cap)[1]
    steps, policy = len(steps_of(section.cap)), section.controller.policy
    return FeederRow(name, parent, cap_w, steps, load.jobs, load.nodes, load.demand_w, policy, name in with_log)


def _with_log(replay: Replay | None, power: Power) -> set[str]:
    if replay is None:
        return set()
    return {feeder for name in feeders_named(replay.place).values() for feeder in path_up(name, power)}


def _drawn(rows: list[FeederRow]) -> Iterator[tuple[str, str]]:
    """Name and drawing of each feeder, from the root down."""
    if len(rows) == 1:  # networkx takes a tenth of a second to load
        yield ROOT, ROOT
        return
    import networkx as nx

    tree = nx.Graph()
    tree.add_node(ROOT)
    tree.add_edges_from((row.parent, row.feeder) for row in rows if row.parent is not None)
    drawn = nx.generate_network_text(tree, sources=[ROOT])
    for name, line in zip(nx.dfs_preorder_nodes(tree, ROOT), drawn, strict=True):
        yield name, line[_EDGE:]


def _said(row: FeederRow) -> str:
    parts = [_cap(row), f"jobs: {row.jobs:,} on {row.nodes:,} nodes{' and those of the launch log' * row.has_log}"]
    at_most = f"{scaled(row.demand_w, 'W')} at full speed"
    if row.cap_w is not None and row.demand_w > row.cap_w:
        at_most += f", {row.demand_w / row.cap_w:.3g} x the cap"
    return "; ".join([*parts, at_most, f"controller: {row.policy}"])


def _cap(row: FeederRow) -> str:
    if row.cap_w is None:
        return "no cap"
    return f"cap {scaled(row.cap_w, 'W')}" + (f" at the lowest of {row.steps} steps" if row.steps else "")

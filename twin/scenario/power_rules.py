"""Rules of the power section: its tree, its caps, its controllers."""

from __future__ import annotations

from collections.abc import Iterator

from twin.errors import Fault
from twin.scenario.feeder_loads import sections
from twin.scenario.placement import ROOT
from twin.scenario.power import Cap, CapStep, Controller, DailyCap, Power
from twin.units import DAY_S, nearest

_NEED_A_CAP = ("delayed", "lagged", "sampled", "three_band")
_PARAMETERS = {
    "delayed": ("delay",),
    "lagged": ("tau",),
    "sampled": ("period", "offset", "latency"),
    "fixed_limit": ("limit",),
    "three_band": ("period", "offset", "settle", "high", "target", "low", "floor"),
}
_MOST_NAMED = 10  # feeders, in a message
_MOST_LEVELS = 1000  # of feeders below the root; a site has a handful


def power_faults(power: Power) -> Iterator[Fault]:
    """Everything that is wrong with the tree, its caps and controllers, whatever hangs on it."""
    yield from _names(power)
    rings = list(_rings(power))
    yield from rings or _too_deep(power)
    yield from _cap("power.limit", power.limit)
    for key, section in sections(power).values():
        yield from _cap(f"{key}.cap", section.cap)
        yield from _controller(f"{key}.controller", section.controller)
        policy = section.controller.policy
        if policy in _NEED_A_CAP and section.cap is None:
            rule = f"is missing: policy {policy} has nothing to hold"
            remedy = "add a cap, as in cap: 15 MW, or remove the controller"
            yield Fault(f"{key}.cap", "", rule, remedy, reads=(f"{key}.controller.policy",))


def unknown_feeder(key: str, name: str, power: Power, *, is_value: bool = True) -> Fault:
    """The fault of a name that no feeder has.

    Args:
        is_value: the name is what the key is set to, not the end of the key.
    """
    known = [ROOT, *power.feeders]
    meant = nearest(name, known)
    named = ", ".join(known[:_MOST_NAMED]) + (
        f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    )
    remedy = f"write {meant}" if meant else "name one of them, or add it to power.feeders"
    reads = (f"power.feeders.{name}",)
    return Fault(key, name if is_value else "", f"is no feeder; there are {named}", remedy, reads=reads)


def _names(power: Power) -> Iterator[Fault]:
    for name, section in power.feeders.items():
        key = f"power.feeders.{name}"
        if name == ROOT:
            yield Fault(key, "", "is the root, whose cap and controller stand in power itself", "rename it")
        elif name == "rotate":
            yield Fault(key, "", "is the word that lets jobs take feeders in turn", "rename it")
        elif section.parent != ROOT and section.parent not in power.feeders:
            yield unknown_feeder(f"{key}.parent", section.parent, power)


def _rings(power: Power) -> Iterator[Fault]:
    """Each ring of feeders that hang on each other, once, at the feeder of it that comes first."""
    walked: set[str] = set()
    for name in power.feeders:
        path: dict[str, None] = {}
        above = name
        while above in power.feeders and above != ROOT and above not in walked and above not in path:
            path[above] = None
            above = power.feeders[above].parent
        walked |= path.keys()
        if above in path:
            names = list(path)
            ring = names[names.index(above) :]
            start = min(map(list(power.feeders).index, ring))
            yield _ring(ring, list(power.feeders)[start], power)


def _too_deep(power: Power) -> Iterator[Fault]:
    """The first feeder that is too far below the site, in a tree without rings."""
    depths = {ROOT: 0}
    for name in power.feeders:
        path = []
        above = name
        while above not in depths and above in power.feeders:
            path.append(above)
            above = power.feeders[above].parent
        for feeder in reversed(path):
            depths[feeder] = depths.get(power.feeders[feeder].parent, 0) + 1
    deepest = max(power.feeders, key=depths.__getitem__, default=None)
    if deepest is not None and depths[deepest] > _MOST_LEVELS:
        rule = f"puts it {depths[deepest]:,} levels below {ROOT}; {_MOST_LEVELS} are allowed"
        yield Fault(f"power.feeders.{deepest}.parent", power.feeders[deepest].parent, rule, "make the tree flatter")


def _ring(ring: list[str], first: str, power: Power) -> Fault:
    turned = ring[ring.index(first) :] + ring[: ring.index(first)]
    shown = turned if len(ring) <= _MOST_NAMED else [*turned[:_MOST_NAMED], f"{len(ring) - _MOST_NAMED:,} more"]
    rule = "hangs it on itself" if len(ring) == 1 else f"closes a ring: {' -> '.join([*shown, first])}"
    remedy = f"write {ROOT}, or another feeder" if len(ring) == 1 else f"hang one of them on {ROOT}"
    reads = tuple(f"power.feeders.{name}.parent" for name in turned[1:])
    return Fault(f"power.feeders.{first}.parent", power.feeders[first].parent, rule, remedy, reads=reads)


def _cap(key: str, cap: Cap | None) -> Iterator[Fault]:
    if isinstance(cap, tuple):
        if cap[0].at_s != 0.0:
            rule = "must be 0 s, for a cap that is known from the start"
            yield Fault(f"{key}[0].at", f"{cap[0].at_s:g} s", rule, "write 0 s, or begin with another step")
        yield from _in_order(key, cap)
    elif isinstance(cap, DailyCap):
        yield from _in_order(f"{key}.daily", cap.daily)
        for index, step in enumerate(cap.daily):
            if step.at_s >= DAY_S:
                rule = "must be less than 24 h after midnight"
                yield Fault(f"{key}.daily[{index}].at", f"{step.at_s:g} s", rule, "give a time of day, as in 17 h")


def _in_order(key: str, steps: tuple[CapStep, ...]) -> Iterator[Fault]:
    for index in range(1, len(steps)):
        before_s, at_s = steps[index - 1].at_s, steps[index].at_s
        if at_s <= before_s:
            rule = f"must come after the one before it, {before_s:g} s"
            remedy = "put the caps in order of time, each time once"
            yield Fault(f"{key}[{index}].at", f"{at_s:g} s", rule, remedy, reads=(f"{key}[{index - 1}].at",))


def _controller(key: str, controller: Controller) -> Iterator[Fault]:
    policy = controller.policy
    own = _PARAMETERS.get(policy, ())
    for name, field in type(controller).model_fields.items():
        alias = field.alias or name
        value = getattr(controller, name)
        if alias == "policy" or alias in own or name not in controller.model_fields_set or value is None:
            continue
        owners = [owner for owner, names in _PARAMETERS.items() if alias in names]
        rule = f"has no meaning with policy: {policy}"
        remedy = f"remove it, or use policy: {' or '.join(owners)}"
        yield Fault(f"{key}.{alias}", f"{value:g}", rule, remedy, reads=(f"{key}.policy",))
    if policy == "fixed_limit" and controller.limit_w is None:
        rule = "is missing: fixed_limit holds every node to it"
        yield Fault(f"{key}.limit", "", rule, "add it, as in limit: 6 kW", reads=(f"{key}.policy",))
    yield from _bands(key, controller)


def _bands(key: str, controller: Controller) -> Iterator[Fault]:
    if controller.floor == 1.0:
        rule = "leaves every job at full speed, so that nothing can be cut"
        yield Fault(f"{key}.floor", "1", rule, "lower it, as in 0.2", reads=(f"{key}.policy",))
    low, target, high = controller.low, controller.target, controller.high
    if low is None or target is None or high is None or low < target < high:
        return
    given = [name for name in ("target", "high", "low") if name in controller.model_fields_set]
    name = given[0] if given else "target"
    rule = f"breaks the order low < target < high: they are {low:g}, {target:g} and {high:g}"
    reads = tuple(f"{key}.{other}" for other in ("policy", "low", "target", "high"))
    yield Fault(
        f"{key}.{name}", f"{getattr(controller, name):g}", rule, "order them as in 0.90, 0.95, 0.99", reads=reads
    )

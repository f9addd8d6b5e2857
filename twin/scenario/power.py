"""The power section of a scenario: caps, the policies that enforce them, and the tree of feeders."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Discriminator, Field, Tag

from twin.scenario.fields import (
    LEAST,
    LIST,
    MAX_TIME_S,
    MAX_WATTS,
    SECTION,
    WORD,
    FeederName,
    Name,
    PositiveWatts,
    Quantity,
    Time,
    Watts,
    form,
)
from twin.scenario.section import Model, default, optional, required
from twin.units import RefusedValue


class Policy(NamedTuple):
    """A control policy: what it does, and where it comes from."""

    definition: str
    source: str


POLICIES: dict[str, Policy] = {
    "none": Policy(
        "Every computing job runs at full speed; a cap is not enforced, and time over it is counted.", "the baseline"
    ),
    "anonymous": Policy(
        "At every change the speed of all computing jobs is set at once to the one at which the draw meets the cap: 1 "
        "if fixed + dynamic draw <= cap, 0 if the fixed draw alone reaches it, else ((cap - fixed) / dynamic)^(1 / a), "
        "a the power exponent. It asks how many compute, never which.",
        "idealised equal share; the reference law min(1, C / n) is the case of a = 1 and no idle or write power",
    ),
    "delayed": Policy(
        "The speed that `anonymous` would have commanded `delay` ago; full speed before the first observation arrives.",
        "telemetry and actuation take time: 0 to 60 s are reported",
    ),
    "lagged": Policy(
        "The speed follows the one that `anonymous` would command with a time constant, ds/dt = (target - s) / tau, "
        "from full speed on.",
        "first-order lag of a control loop",
    ),
    "sampled": Policy(
        "At offset + k x period the speed that `anonymous` would command is read, and commanded `latency` later; full "
        "speed before the first command arrives.",
        "polling loops of power managers: periods of 1 to 30 s, latencies of up to 40 s",
    ),
    "fixed_limit": Policy(
        "Every node draws `limit` watts at most, always: a computing job runs at the speed that this leaves it.",
        "static power limits, the baseline of planners",
    ),
    "three_band": Policy(
        "Every `period` the draw is read. Above `high` of the cap it is cut to `target` of it: the jobs that compute "
        "with the most watts per node get lower limits first, evenly, down to the speed `floor`, then the next. A "
        "limit takes effect after `settle` and stays until a reading below `low` of the cap removes all.",
        "Q. Wu et al., Dynamo, ISCA 2016, without priorities",
    ),
}

PolicyName = Literal["none", "anonymous", "delayed", "lagged", "sampled", "fixed_limit", "three_band"]


class ByPolicy:
    """The default of a parameter by policy; None for a policy that has no such parameter."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values

    def __call__(self, data: dict[str, Any]) -> float | None:
        return self.values.get(data.get("policy", ""))


_NO_MEMORY = "raise it, or use policy: anonymous, which acts at once"
Share = Annotated[float, Quantity("fraction", above=0.0, at_least=LEAST, at_most=1.0)]
_Lag = Annotated[float, Quantity("time", above=0.0, at_least=LEAST, at_most=MAX_TIME_S, instead_of_0=_NO_MEMORY)]
Period = Annotated[float, Quantity("time", at_least=1e-6, at_most=MAX_TIME_S, instead_of_0=_NO_MEMORY)]


class Controller(Model):
    """What commands the speed of the jobs under a feeder; each policy has parameters of its own."""

    policy: PolicyName = default(
        "policy", "anonymous", "choice", "instantaneous, idealised", "How the speed follows the draw and the cap."
    )
    delay_s: _Lag | None = default(
        "delay", ByPolicy({"delayed": 2.0}), "guess", "range 0-60 s", "delayed: age of the target that is commanded."
    )
    tau_s: _Lag | None = default(
        "tau", ByPolicy({"lagged": 5.0}), "guess", "range 1-60 s", "lagged: time constant of the speed."
    )
    period_s: Period | None = default(
        "period",
        ByPolicy({"sampled": 3.0, "three_band": 3.0}),
        "source",
        "Dynamo: 3 s for a leaf, 9 s above",
        "sampled, three_band: time from one reading to the next.",
    )
    offset_s: Time | None = default(
        "offset",
        ByPolicy({"sampled": 0.0, "three_band": 0.0}),
        "choice",
        "the start of the run",
        "sampled, three_band: time of the first reading.",
    )
    latency_s: Time | None = default(
        "latency", ByPolicy({"sampled": 2.0}), "guess", "range 0-40 s", "sampled: time from a reading to its command."
    )
    limit_w: PositiveWatts | None = optional(
        "limit", "fixed_limit: draw of one node at most; required with that policy, as in 6 kW."
    )
    settle_s: Time | None = default(
        "settle",
        ByPolicy({"three_band": 2.0}),
        "source",
        "Dynamo: about 2 s",
        "three_band: time from a reading to the effect of its limits.",
    )
    high: Share | None = default(
        "high", ByPolicy({"three_band": 0.99}), "source", "Dynamo", "three_band: share of the cap above which it cuts."
    )
    target: Share | None = default(
        "target", ByPolicy({"three_band": 0.95}), "source", "Dynamo", "three_band: share of the cap that it cuts to."
    )
    low: Share | None = default(
        "low",
        ByPolicy({"three_band": 0.90}),
        "guess",
        "below target",
        "three_band: share of the cap that ends all limits.",
    )
    floor: Share | None = default(
        "floor",
        ByPolicy({"three_band": 0.2}),
        "source",
        "brake at 288 of 1,410 MHz",
        "three_band: lowest speed that its limits leave a job.",
    )


class CapStep(Model):
    """A cap from a time on, until the next one of the list."""

    at_s: Time = required("at", "17 h", "When the cap begins to hold: after t = 0, or in a daily list after midnight.")
    value_w: PositiveWatts = required("value", "15 MW", "The cap.")


class DailyCap(Model):
    """A cap that changes at the same times of every day; t = 0 is at the time of `epoch`, else at midnight."""

    daily: Annotated[tuple[CapStep, ...], Field(min_length=1)] = required(
        "daily", "[{at: 0 h, value: 15 MW}]", "Times after midnight and the cap from then on, around the clock."
    )


Cap = float | tuple[CapStep, ...] | DailyCap


def _daily(value: object) -> object:
    if isinstance(value, dict) and "daily" not in value:
        rule = "must be one value, a list of {at, value}, or a section with the key daily"
        raise RefusedValue(
            rule, "write it as in 15 MW, [{at: 0 s, value: 15 MW}] or {daily: [{at: 0 h, value: 15 MW}]}"
        )
    return value


_CapField = Annotated[
    Annotated[float, Quantity("power", above=0.0, at_least=LEAST, at_most=MAX_WATTS), Tag(WORD)]
    | Annotated[DailyCap, BeforeValidator(_daily), Tag(SECTION)]
    | Annotated[tuple[CapStep, ...], Field(min_length=1), Tag(LIST)],
    Discriminator(form),
]


class FeederSection(Model):
    """A feeder below the site: a row, a hall, a busway, with a cap and a controller of its own."""

    parent: Name = default("parent", "site", "choice", "the root", "The feeder above it.")
    cap: _CapField | None = default(
        "cap",
        None,
        "choice",
        "no cap",
        "Limit of what is drawn below the feeder: one value, a list of {at, value}, or {daily: [...]}.",
    )
    controller: Controller = Field(default_factory=Controller)

    @property
    def limit_of_excursions(self) -> Cap | None:
        """What the draw is counted against."""
        return self.cap


class Power(Model):
    """The root feeder, the site: its cap and its controller; and the feeders below it."""

    cap: _CapField | None = default(
        "cap",
        None,
        "choice",
        "no cap",
        "Draw of the site that the controller holds, or tries to: one value, a list of {at, value}, or {daily: [...]}.",
    )
    limit: _CapField | None = optional(
        "limit",
        "What excursions of the site are counted against: the contract, or the breaker, where the controller holds a "
        "lower cap to keep clear of it; written like a cap. Without it, the cap.",
    )
    controller: Controller = Field(default_factory=Controller)
    fixed_w: Watts = default("fixed", 0.0, "choice", "jobs only", "Constant draw of the site beside its jobs.")
    pue: Annotated[float, Quantity("number", at_least=1.0, at_most=10.0)] = default(
        "pue",
        1.0,
        "choice",
        "the cap is on the equipment",
        "The site draws this many times what its jobs and `fixed` draw; not more power for a feeder below.",
    )
    feeders: dict[FeederName, FeederSection] = default(
        "feeders", dict, "choice", "the site alone", "The feeders below the site by name, as in {row-1: {cap: 8 MW}}."
    )

    @property
    def cap_w(self) -> float | None:
        """The lowest cap the site ever has [W]; None without a cap."""
        return None if self.cap is None else lowest_cap(self.cap)[1]

    @property
    def limit_of_excursions(self) -> Cap | None:
        """What the draw of the site is counted against: `limit`, or the cap."""
        return self.cap if self.limit is None else self.limit

    def site_w(self, jobs_w: float) -> float:
        """Draw of the site whose jobs draw so much [W]."""
        return self.pue * (jobs_w + self.fixed_w)


def steps_of(cap: Cap | None) -> tuple[CapStep, ...]:
    """The changes of a cap over time or over the day; none of one that stays."""
    if isinstance(cap, DailyCap):
        return cap.daily
    return cap if isinstance(cap, tuple) else ()


def lowest_cap(cap: Cap | None) -> tuple[str, float]:
    """The place of the lowest value of a cap, below its key, and that value [W]; inf without a cap."""
    if steps := steps_of(cap):
        index = min(range(len(steps)), key=lambda i: steps[i].value_w)
        return f"{'.daily' if isinstance(cap, DailyCap) else ''}[{index}].value", steps[index].value_w
    return "", cap if isinstance(cap, float) else inf

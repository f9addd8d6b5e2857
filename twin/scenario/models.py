"""What to run: frozen models, checked when built; field aliases are the keys of a scenario file."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    model_validator,
)

from twin.errors import ScenarioError
from twin.scenario import rules
from twin.scenario.fields import (
    LEAST,
    Duration,
    GpusPerNode,
    Name,
    Nodes,
    PositiveWatts,
    Quantity,
    Rate,
    Text,
    Time,
    WholeNumber,
)
from twin.scenario.job_groups import JobGroup
from twin.scenario.launch_log import Replay
from twin.scenario.section import Model, default, optional, required
from twin.units import RefusedValue

MAX_CYCLES = 1_000_000_000


def _this_version(version: object) -> object:
    if version != 1 or isinstance(version, bool | float):
        raise RefusedValue("must be 1, the version of the format", "write twin: 1")
    return version


class Stop(Model):
    """When a run ends: at the first limit reached, or when all jobs are done."""

    cycles: Annotated[int, WholeNumber(1, MAX_CYCLES)] | None = optional(
        "cycles", "Ends the run when every job has ended so many checkpoints or is done."
    )
    time_s: Duration | None = optional("time", "Ends the run at this time, counted from t = 0.")


class FleetSize(Model):
    """What the site owns; a run that uses more nodes at once warns."""

    nodes: Nodes = required("nodes", "2048", "Nodes of the site.")
    gpus_per_node: GpusPerNode = default("gpus_per_node", 8, "source", "DGX H100", "GPUs in a node of the site.")


class Storage(Model):
    """The shared store: W writers get F(W) = min(W c, B) / (1 + k max(0, W c / B - 1)) in equal shares."""

    bandwidth_b_s: Rate = default(
        "bandwidth", 100e9, "guess", "per cluster", "B, the total write rate of the store at most."
    )
    share: Literal["job"] = default(
        "share", "job", "choice", "anonymous", "What an equal share is for: job, each job that writes."
    )
    client_bandwidth_b_s: Rate | None = default(
        "client_bandwidth", None, "choice", "no limit per job", "c, the write rate of one job at most."
    )
    degradation: Annotated[float, Quantity("fraction", at_least=0.0, at_most=1e6)] = default(
        "degradation",
        0.0,
        "guess",
        "the clean case",
        "k, how much of its rate the store loses with more writers than fill it; needs client_bandwidth.",
    )


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
}


class Controller(Model):
    """What commands the speed of the jobs under a feeder."""

    policy: Literal["none", "anonymous"] = default(
        "policy", "anonymous", "choice", "instantaneous, idealised", "How the speed follows the draw and the cap."
    )


class Failures(Model):
    """Interruptions of a job, at the rate nodes x per_node_day: not simulated, but counted in the summary."""

    per_node_day: Annotated[float, Quantity("number", above=0.0, at_least=LEAST, at_most=1e4)] = default(
        "per_node_day",
        3.8e-3,
        "derived",
        "Llama 3: 419 interruptions in 54 days on 2,048 nodes",
        "Interruptions of a job per node and day.",
    )
    downtime_s: Time = default(
        "downtime", 720.0, "guess", "10-20 min are common", "Time from an interruption until the job computes again."
    )


class Power(Model):
    """The root feeder, the site: its cap and its controller."""

    cap_w: PositiveWatts | None = default(
        "cap", None, "choice", "no cap", "Draw of all jobs together that the controller holds, or tries to."
    )
    controller: Controller = Field(default_factory=Controller)

    @property
    def enforced_cap_w(self) -> float:
        """The cap that the controller holds [W]; inf without a cap or without control."""
        return inf if self.cap_w is None or self.controller.policy == "none" else self.cap_w


class Scenario(Model):
    """One question: a fleet, a store, power, a seed and a stop.

    Raises:
        ScenarioError: values that are each valid, but not together.
        pydantic.ValidationError: values that are invalid alone; ``twin.load`` turns both into one ScenarioError.
    """

    twin: Annotated[Literal[1], BeforeValidator(_this_version)] = required(
        "twin", "1", "Version of the format of scenario files."
    )
    name: Name = required("name", "mid-fleet", "Name of the scenario; a run goes to runs/NAME by default.")
    question: Text | None = optional("question", "What the scenario is to find out; printed with its summary.")
    answer: Text | None = optional("answer", "What is expected, or what was found; printed with its summary.")
    seed: Annotated[int, WholeNumber(0, 2**63 - 1)] = default(
        "seed", 0, "choice", "any", "Seed of all chance: the same scenario and seed give the same run, bit for bit."
    )
    stop: Stop = Field(default_factory=Stop)
    fleet: FleetSize | None = None
    jobs: tuple[JobGroup, ...] = ()
    replay: Replay | None = None
    storage: Storage = Field(default_factory=Storage)
    power: Power = Field(default_factory=Power)
    failures: Failures | None = None
    _folder: Path = PrivateAttr(default=Path())  # relative paths inside start here
    _overrides: tuple[dict[str, Any], ...] = PrivateAttr(default=())  # what was set on top of the file

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if faults := list(rules.faults(self)):
            raise ScenarioError(faults)
        return self

    def warnings(self) -> list[str]:
        """What is legal, but perhaps not meant; one sentence each."""
        return list(rules.warnings(self))

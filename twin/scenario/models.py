"""What to run: frozen models, checked when built; field aliases are the keys of a scenario file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)

from twin.errors import ScenarioError
from twin.scenario import rules
from twin.scenario.fields import (
    LEAST,
    Duration,
    Epoch,
    GpusPerNode,
    Name,
    Nodes,
    Quantity,
    Rate,
    Text,
    Time,
    WholeNumber,
)
from twin.scenario.job_groups import JobGroup
from twin.scenario.launch_log import Replay
from twin.scenario.power import Power
from twin.scenario.section import Model, default, optional, required
from twin.units import RefusedValue, whole_number

MAX_CYCLES = 1_000_000_000


def _this_version(version: object) -> object:
    if version != 1 or isinstance(version, bool | float):
        raise RefusedValue("must be 1, the version of the format", "write twin: 1")
    return version


def _lanes(value: object) -> object:
    if value is None or value == "none":
        return "none"
    try:
        return whole_number(value, at_least=1, at_most=rules.MAX_JOBS)
    except RefusedValue as refusal:
        raise RefusedValue(refusal.rule, f"{refusal.remedy}, or none for all at once") from refusal


def time_of_day_s(epoch: str | None) -> float:
    """Time since midnight of a date and time as a scenario has it [s]; 0 for none."""
    if epoch is None:
        return 0.0
    start = datetime.fromisoformat(epoch)
    return 3600.0 * start.hour + 60.0 * start.minute + start.second + 1e-6 * start.microsecond


_LANES_SCHEMA = {"anyOf": [{"const": "none"}, {"type": "integer", "minimum": 1}]}


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
    share: Literal["job", "node"] = default(
        "share", "job", "choice", "anonymous", "What an equal share is for: each job that writes, or each node of it."
    )
    client_bandwidth_b_s: Rate | None = default(
        "client_bandwidth",
        None,
        "choice",
        "no limit",
        "c, the write rate at most of one job; of one node with share: node.",
    )
    degradation: Annotated[float, Quantity("fraction", at_least=0.0, at_most=1e6)] = default(
        "degradation",
        0.0,
        "guess",
        "the clean case",
        "k, how much of its rate the store loses with more writers than fill it; needs client_bandwidth.",
    )
    lanes: Annotated[Literal["none"] | int, PlainValidator(_lanes), WithJsonSchema(_LANES_SCHEMA)] = default(
        "lanes",
        "none",
        "choice",
        "all write at once",
        "Transfers that the store takes at once, at most; the others wait, first due first served. none: all at once.",
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
    epoch: Epoch | None = default(
        "epoch",
        None,
        "choice",
        "midnight",
        "Date and time of t = 0, as in 2026-01-05T08:00; daily caps follow its clock.",
    )
    stop: Stop = Field(default_factory=Stop)
    fleet: FleetSize | None = None
    jobs: tuple[JobGroup, ...] = ()
    replay: Replay | None = None
    storage: Storage = Field(default_factory=Storage)
    power: Power = Field(default_factory=Power)
    failures: Failures | None = None
    variants: dict[Name, dict[str, Any]] = Field(
        default_factory=dict,
        description="Overrides by the name of each variant, as in delayed: {power.controller.policy: delayed}.",
    )
    _folder: Path = PrivateAttr(default=Path())  # relative paths inside start here
    _overrides: tuple[dict[str, Any], ...] = PrivateAttr(default=())  # what was set on top of the file

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if faults := list(rules.faults(self)):
            raise ScenarioError(faults)
        return self

    @property
    def start_s(self) -> float:
        """Time of day of t = 0 [s]."""
        return time_of_day_s(self.epoch)

    def warnings(self) -> list[str]:
        """What is legal, but perhaps not meant; one sentence each."""
        return list(rules.warnings(self))

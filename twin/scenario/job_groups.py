"""The jobs of a scenario: groups of identical ones, what they compute, write and draw, and when they start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
)

from twin.scenario import rules
from twin.scenario.fields import (
    MAX_TIME_S,
    SECTION,
    WORD,
    Duration,
    Name,
    Nodes,
    PositiveWatts,
    Quantity,
    Size,
    Time,
    Watts,
    WholeNumber,
    form,
)
from twin.scenario.placement import ROOT, PlacementField
from twin.scenario.section import Model, default, optional, required
from twin.units import RefusedValue


def _word_trigger(word: object) -> object:
    if word != "work":
        raise RefusedValue("must be work, or a clock such as {every: 30 min}", "write work")
    return word


class Jitter(Model):
    """Chance on the compute work of each cycle, drawn anew for each job and cycle."""

    law: Literal["normal", "lognormal", "uniform"] = default(
        "law",
        "normal",
        "guess",
        "training steps vary by many small causes",
        "Law of the compute work; each has the mean jobs[].compute and the standard deviation sigma.",
    )
    sigma_s: Duration = required("sigma", "10 s", "Standard deviation of the compute work of a cycle.")


class WallClock(Model):
    """Checkpoints at offset + k * every on the wall clock."""

    every_s: Annotated[float, Quantity("time", at_least=1e-3, at_most=MAX_TIME_S)] = required(
        "every", "30 min", "Time from one trigger to the next; one that falls in a stall is skipped and recorded."
    )
    offset_s: Time = default(
        "offset",
        0.0,
        "choice",
        "the start of the run",
        "The triggers are at offset + k x every, for every whole number k, below 0 too.",
    )


Trigger = Annotated[
    Annotated[Literal["work"], BeforeValidator(_word_trigger), Tag(WORD)] | Annotated[WallClock, Tag(SECTION)],
    Discriminator(form),
]


def _if_async(value: float) -> Callable[[dict[str, Any]], float | None]:
    return lambda data: value if data.get("mode") == "async" else None


class Checkpoint(Model):
    """What a job writes, and when."""

    size_b: Size = default(
        "size", 912e9, "source", "MLPerf Storage: 70 B parameters", "Bytes of one checkpoint of the whole job."
    )
    mode: Literal["blocking", "async"] = default(
        "mode",
        "blocking",
        "choice",
        "the reference case",
        "blocking: the job does not compute while it writes. async: a snapshot stalls it, then it computes on while "
        "the snapshot drains into the store.",
    )
    snapshot_s: Time | None = default(
        "snapshot", _if_async(2.0), "guess", "0.1-5 s", "async: time that a snapshot stalls the job."
    )
    interference: Annotated[float, Quantity("fraction", at_least=0.0, at_most=0.99)] | None = default(
        "interference",
        _if_async(0.03),
        "source",
        "users aim at 2-5 %",
        "async: share of the speed lost while at least one drain runs.",
    )
    in_flight: Annotated[int, WholeNumber(1, 1000)] | None = default(
        "in_flight",
        _if_async(1),
        "choice",
        "the next waits for the last",
        "async: drains pending at once at most; a job due with that many waits for one to end.",
    )
    trigger: Trigger = default(
        "trigger",
        "work",
        "choice",
        "the reference case",
        "When a checkpoint is due. work: after jobs[].compute of full-speed work. Or a wall clock, as in "
        "{every: 30 min, offset: 0 s}, and then jobs[].compute is left out.",
    )


class NodePower(Model):
    """Electrical power of one node in each phase; computing at speed s draws idle + (compute - idle) s^exponent."""

    compute_w: PositiveWatts = default(
        "compute",
        7750.0,
        "source",
        "H100 node measurements 2025: 76 % of nameplate",
        "Draw of one node that computes at full speed.",
    )
    idle_w: Watts = default(
        "idle", 1800.0, "guess", "range 1.2-2.5 kW", "Draw of one node at speed 0: the part that no throttle saves."
    )
    write_w: Watts = default(
        "write",
        lambda data: 0.35 * data.get("compute_w", 0.0),
        "guess",
        "0.35 of compute; POLCA iteration dips",
        "Draw of one node while its job writes a checkpoint.",
    )
    exponent: Annotated[float, Quantity("number", at_least=1.0, at_most=10.0)] = default(
        "exponent",
        2.5,
        "derived",
        "fitted to V100, A100, H100, GB300 points",
        "How the dynamic draw grows with the speed; 1 is proportional.",
    )


class Launch(Model):
    """When the jobs of a group start; exactly one form."""

    at_s: Annotated[tuple[Time, ...], Field(min_length=1)] | None = optional(
        "at", "A list of launch times, one for each job."
    )
    together_s: Time | None = optional("together", "All jobs start at this time.")
    every_s: Duration | None = optional("every", "Job k starts at k times this, k = 0, 1, 2, ...: a stagger.")
    uniform_s: Duration | None = optional(
        "uniform", "Each job starts at a time of its own, drawn evenly between 0 and this."
    )
    poisson_s: Duration | None = optional(
        "poisson", "Mean gap between launches, gaps drawn from the exponential law: a Poisson process."
    )


def _usual_compute_s(data: dict[str, Any]) -> float | None:
    checkpoint = data.get("checkpoint")  # absent if it is at fault itself
    return 1800.0 if checkpoint is not None and checkpoint.trigger == "work" else None


def _at_the_start() -> Launch:
    return Launch.model_validate({"together": 0.0})


class JobGroup(Model):
    """Identical jobs, each of which computes, writes a checkpoint, and repeats.

    ``compute_s`` is None with a wall-clock trigger, which sets the interval instead.
    """

    keeps_nulls = True  # compute: null says that there is none

    name: Name = required("name", "llm", "Name of the group, as --set jobs.NAME.nodes=64 and the tables say it.")
    count: Annotated[int, WholeNumber(1, rules.MAX_JOBS)] = default(
        "count", 1, "choice", "one job", "Jobs of the group."
    )
    nodes: Nodes = default("nodes", 1, "choice", "one node", "Nodes of each job, which it holds while it runs.")
    checkpoint: Checkpoint = Field(default_factory=Checkpoint)
    compute_s: Duration | None = default(
        "compute",
        _usual_compute_s,
        "source",
        "10-60 min between checkpoints are published for large runs",
        "Full-speed work between two checkpoints, by default 30 min; left out with a wall-clock trigger.",
    )
    work_s: Duration | None = default(
        "work", None, "choice", "endless", "Full-speed work of a job in all; it is done when the last is written."
    )
    jitter: Jitter | None = default("jitter", None, "choice", "every cycle alike", Jitter.meaning())
    feeders: PlacementField = default(
        "feeders",
        ROOT,
        "choice",
        "the site itself",
        "Where the nodes hang: a feeder, nodes by feeder, a list to share them evenly, or {rotate: [...]}.",
    )
    power: NodePower = Field(default_factory=NodePower)
    launch: Launch = default("launch", _at_the_start, "choice", "all at the start of the run", Launch.meaning())

    @property
    def interval_s(self) -> float:
        """Mean full-speed work between checkpoints, or the interval of the wall-clock trigger [s]."""
        trigger = self.checkpoint.trigger
        if isinstance(trigger, WallClock):
            return trigger.every_s
        assert self.compute_s is not None  # checked when the scenario was built
        return self.compute_s

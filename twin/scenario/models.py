"""What to run: frozen models, checked when built; field aliases are the keys of a scenario file."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    model_validator,
)
from pydantic.config import JsonDict

from twin.errors import ScenarioError
from twin.scenario import rules
from twin.scenario.fields import (
    LEAST,
    MAX_NODES,
    SECTION,
    WORD,
    Duration,
    GpusPerNode,
    Name,
    Nodes,
    PositiveWatts,
    Quantity,
    Rate,
    Size,
    Text,
    Time,
    Watts,
    WholeNumber,
    WindowEdges,
    form,
)
from twin.units import RefusedValue, nearest

MAX_CYCLES = 1_000_000_000

Mark = Literal["source", "derived", "guess", "choice"]


def _known_profile(name: str) -> str:
    if name not in PROFILES:
        meant = nearest(name, list(PROFILES)) or next(iter(PROFILES))
        raise RefusedValue(
            f"must be a known profile ({', '.join(PROFILES)}) or a section of its values", f"write {meant}"
        )
    return name


def _word_trigger(word: object) -> object:
    if word != "work":
        raise RefusedValue("must be work, or a clock such as {every: 30 min}", "write work")
    return word


def _this_version(version: object) -> object:
    if version != 1 or isinstance(version, bool | float):
        raise RefusedValue("must be 1, the version of the format", "write twin: 1")
    return version


def _default(alias: str, value: Any, mark: Mark, source: str) -> Any:
    """A field with a default and the origin of it, for ``run.json`` and the schema."""
    origin: JsonDict = {"mark": mark, "source": source}
    if callable(value):
        return Field(alias=alias, default_factory=value, json_schema_extra=origin)
    return Field(alias=alias, default=value, json_schema_extra=origin)


def _required(alias: str, example: str) -> Any:
    """A field without a default; the example helps who forgot it."""
    return Field(alias=alias, examples=[example])


class Model(BaseModel):
    """Strict and frozen: an unknown key is a fault, a built scenario never changes."""

    # Sections are built with the scenario that holds them, not one by one: half the time of `twin validate`.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)


class Stop(Model):
    """When a run ends: the first limit reached, or when all jobs are done."""

    cycles: Annotated[int, WholeNumber(1, MAX_CYCLES)] | None = None
    time_s: Duration | None = Field(alias="time", default=None)


class FleetSize(Model):
    """What the site owns; a run that uses more nodes at once warns."""

    nodes: Nodes = _required("nodes", "2048")
    gpus_per_node: GpusPerNode = _default("gpus_per_node", 8, "source", "DGX H100")


class Jitter(Model):
    """Chance on the compute work of each cycle; every law has the mean ``compute`` and the standard deviation sigma."""

    law: Literal["normal", "lognormal", "uniform"] = _default(
        "law", "normal", "guess", "training steps vary by many small causes"
    )
    sigma_s: Duration = _required("sigma", "10 s")


class WallClock(Model):
    """Checkpoints at offset + k * every on the wall clock."""

    every_s: Duration = _required("every", "30 min")
    offset_s: Time = _default("offset", 0.0, "choice", "the start of the run")


Trigger = Annotated[
    Annotated[Literal["work"], BeforeValidator(_word_trigger), Tag(WORD)] | Annotated[WallClock, Tag(SECTION)],
    Discriminator(form),
]


class Checkpoint(Model):
    """What a job writes, and when."""

    size_b: Size = _default("size", 912e9, "source", "MLPerf Storage: 70 B parameters")
    mode: Literal["blocking"] = _default("mode", "blocking", "choice", "the reference case")
    trigger: Trigger = _default("trigger", "work", "choice", "the reference case")


class NodePower(Model):
    """Electrical power of one node in each phase [W]; computing at speed s draws idle + (compute - idle) s^exponent."""

    compute_w: PositiveWatts = _default("compute", 7750.0, "source", "H100 node measurements 2025: 76 % of nameplate")
    idle_w: Watts = _default("idle", 1800.0, "guess", "range 1.2-2.5 kW")
    write_w: Watts = _default(
        "write", lambda data: 0.35 * data.get("compute_w", 0.0), "guess", "0.35 of compute; POLCA iteration dips"
    )
    exponent: Annotated[float, Quantity("number", at_least=1.0, at_most=10.0)] = _default(
        "exponent", 2.5, "derived", "fitted to V100, A100, H100, GB300 points"
    )


class Launch(Model):
    """When the jobs of a group start; exactly one form."""

    at_s: Annotated[tuple[Time, ...], Field(min_length=1)] | None = Field(alias="at", default=None)
    together_s: Time | None = Field(alias="together", default=None)
    every_s: Duration | None = Field(alias="every", default=None)
    uniform_s: Duration | None = Field(alias="uniform", default=None)
    poisson_s: Duration | None = Field(alias="poisson", default=None)


def _default_compute_s(data: dict[str, Any]) -> float | None:
    checkpoint = data.get("checkpoint")  # absent if it is at fault itself
    return 1800.0 if checkpoint is not None and checkpoint.trigger == "work" else None


class JobGroup(Model):
    """Identical jobs; ``compute_s`` is None with a wall-clock trigger, which sets the interval instead."""

    name: Name = _required("name", "llm")
    count: Annotated[int, WholeNumber(1, rules.MAX_JOBS)] = _default("count", 1, "choice", "one job")
    nodes: Nodes = _default("nodes", 1, "choice", "one node")
    checkpoint: Checkpoint = Field(default_factory=Checkpoint)
    compute_s: Duration | None = _default(
        "compute", _default_compute_s, "source", "10-60 min between checkpoints are published for large runs"
    )
    work_s: Duration | None = _default("work", None, "choice", "endless")
    jitter: Jitter | None = _default("jitter", None, "choice", "every cycle alike")
    power: NodePower = Field(default_factory=NodePower)
    launch: Launch = _default("launch", lambda: Launch(together=0.0), "choice", "all at the start of the run")

    @property
    def interval_s(self) -> float:
        """Mean full-speed work between checkpoints, or the interval of the wall-clock trigger [s]."""
        trigger = self.checkpoint.trigger
        if isinstance(trigger, WallClock):
            return trigger.every_s
        assert self.compute_s is not None  # checked when the scenario was built
        return self.compute_s


class Profile(Model):
    """What a launch log does not say: how GPUs and a duration become nodes, checkpoints and power."""

    gpus_per_node: GpusPerNode = _default("gpus_per_node", 8, "source", "DGX H100")
    compute_s: Duration = _default(
        "compute", 1800.0, "source", "10-60 min between checkpoints are published for large runs"
    )
    size_per_gpu_b: Size = _default("size_per_gpu", 1.78e9, "derived", "912 GB on 512 GPUs")
    jitter: Annotated[float, Quantity("fraction", at_least=0.0, at_most=1.0)] = _default(
        "jitter", 0.01, "guess", "standard deviation, share of the interval"
    )
    power: NodePower = Field(default_factory=NodePower)


class A100Power(NodePower):
    """The same of a node of 8 A100."""

    compute_w: PositiveWatts = _default("compute", 5040.0, "source", "Acme's GPU servers, August 2023: 95th percentile")
    idle_w: Watts = _default("idle", 1512.0, "source", "Acme's GPU servers, August 2023: 5th percentile")


class A100Profile(Profile):
    """Nodes of 8 A100."""

    gpus_per_node: GpusPerNode = _default("gpus_per_node", 8, "source", "DGX A100")
    power: NodePower = Field(default_factory=A100Power)


PROFILES: dict[str, Profile] = {"h100": Profile(), "a100": A100Profile()}


class Replay(Model):
    """A launch log as the source of jobs."""

    file: Name = _required("file", "schedule.csv")
    format: Literal["schedule", "kalos", "philly-csv"] = _default("format", "schedule", "choice", "canonical schedule")
    profile: Annotated[
        Annotated[str, AfterValidator(_known_profile), Tag(WORD)] | Annotated[Profile, Tag(SECTION)],
        Discriminator(form),
    ] = _default("profile", "h100", "choice", "an 8-GPU H100 node")
    starts: Literal["submit", "start"] = _default("starts", "submit", "choice", "every format has it")
    window: WindowEdges | None = _default("window", None, "choice", "the whole log")
    min_gpus: Annotated[int, WholeNumber(1, MAX_NODES)] = _default("min_gpus", 1, "choice", "keep every job")
    time_scale: Annotated[float, Quantity("number", above=0.0, at_least=LEAST, at_most=1e6)] = _default(
        "time_scale", 1.0, "choice", "as logged"
    )
    copies: Annotated[int, WholeNumber(1, 10_000)] = _default("copies", 1, "choice", "as logged")

    @property
    def job_profile(self) -> Profile:
        """The profile, named or written out."""
        return self.profile if isinstance(self.profile, Profile) else PROFILES[self.profile]


class Storage(Model):
    """The shared store: W writers get F(W) = min(W c, B) / (1 + k max(0, W c / B - 1)) in equal shares."""

    bandwidth_b_s: Rate = _default("bandwidth", 100e9, "guess", "per cluster")
    share: Literal["job"] = _default("share", "job", "choice", "anonymous")
    client_bandwidth_b_s: Rate | None = _default("client_bandwidth", None, "choice", "no limit per job")
    degradation: Annotated[float, Quantity("fraction", at_least=0.0, at_most=1e6)] = _default(
        "degradation", 0.0, "guess", "the clean case"
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

    policy: Literal["none", "anonymous"] = _default("policy", "anonymous", "choice", "instantaneous, idealised")


class Failures(Model):
    """Interruptions of a job, at the rate nodes x per_node_day: not simulated, but counted in the summary."""

    per_node_day: Annotated[float, Quantity("number", above=0.0, at_least=LEAST, at_most=1e4)] = _default(
        "per_node_day", 3.8e-3, "derived", "Llama 3: 419 interruptions in 54 days on 2,048 nodes"
    )
    downtime_s: Time = _default("downtime", 720.0, "guess", "10-20 min are common")


class Power(Model):
    """The root feeder ``site``: its cap and its controller."""

    cap_w: PositiveWatts | None = _default("cap", None, "choice", "no cap")
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

    twin: Annotated[Literal[1], BeforeValidator(_this_version)] = _required("twin", "1")
    name: Name = _required("name", "mid-fleet")
    question: Text | None = None
    answer: Text | None = None
    seed: Annotated[int, WholeNumber(0, 2**63 - 1)] = _default("seed", 0, "choice", "any")
    stop: Stop = Field(default_factory=Stop)
    fleet: FleetSize | None = None
    jobs: tuple[JobGroup, ...] = ()
    replay: Replay | None = None
    storage: Storage = Field(default_factory=Storage)
    power: Power = Field(default_factory=Power)
    failures: Failures | None = None
    _folder: Path = PrivateAttr(default=Path())  # relative paths inside start here

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if faults := list(rules.faults(self)):
            raise ScenarioError(faults)
        return self

    def warnings(self) -> list[str]:
        """What is legal, but perhaps not meant; one sentence each."""
        return list(rules.warnings(self))

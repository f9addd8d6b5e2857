"""What to run: frozen models, checked when built; field aliases are the keys of a scenario file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from twin.units import quantity_reader

MAX_TIME_S = 1e12
MAX_BYTES = 1e21
MAX_WATTS = 1e12
MAX_NODES = 10_000_000
MAX_JOBS = 1_000_000
MAX_CYCLES = 1_000_000_000


def _quantity(dimension: str) -> BeforeValidator:
    return BeforeValidator(quantity_reader(dimension), json_schema_input_type=float | str)


Time = Annotated[float, _quantity("time"), Field(ge=0, le=MAX_TIME_S, allow_inf_nan=False)]
Duration = Annotated[float, _quantity("time"), Field(gt=0, le=MAX_TIME_S, allow_inf_nan=False)]
Size = Annotated[float, _quantity("data"), Field(gt=0, le=MAX_BYTES, allow_inf_nan=False)]
Rate = Annotated[float, _quantity("data rate"), Field(gt=0, le=MAX_BYTES, allow_inf_nan=False)]
Watts = Annotated[float, _quantity("power"), Field(ge=0, le=MAX_WATTS, allow_inf_nan=False)]
PositiveWatts = Annotated[float, _quantity("power"), Field(gt=0, le=MAX_WATTS, allow_inf_nan=False)]
Fraction = Annotated[float, _quantity("fraction"), Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, _quantity("number"), Field(allow_inf_nan=False)]
Nodes = Annotated[int, Field(strict=True, ge=1, le=MAX_NODES)]

Mark = Literal["source", "derived", "guess", "choice"]


class Default(NamedTuple):
    """Where a default comes from: its mark and its source, for ``run.json`` and the schema."""

    mark: Mark
    source: str


def _default(alias: str, value: Any, mark: Mark, source: str) -> Any:
    """A field with a default and the origin of it."""
    origin = {"mark": mark, "source": source}
    if callable(value):
        return Field(alias=alias, default_factory=value, json_schema_extra=origin)
    return Field(alias=alias, default=value, json_schema_extra=origin)


class Model(BaseModel):
    """Strict and frozen: an unknown key is a fault, a built scenario never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Stop(Model):
    """When a run ends: the first limit reached, or when all jobs are done."""

    cycles: Annotated[int, Field(strict=True, ge=1, le=MAX_CYCLES)] | None = None
    time_s: Duration | None = Field(alias="time", default=None)


class FleetSize(Model):
    """What the site owns; a run that uses more nodes at once warns."""

    nodes: Nodes
    gpus_per_node: Annotated[int, Field(strict=True, ge=1, le=1024)] = _default(
        "gpus_per_node", 8, "source", "DGX H100"
    )


class Jitter(Model):
    """Chance on the compute work of each cycle; every law has the mean ``compute`` and the standard deviation sigma."""

    law: Literal["normal", "lognormal", "uniform"] = _default("law", "normal", "guess", "domain notes 5")
    sigma_s: Duration = Field(alias="sigma")


class WallClock(Model):
    """Checkpoints at offset + k * every on the wall clock."""

    every_s: Duration = Field(alias="every")
    offset_s: Time = _default("offset", 0.0, "choice", "the start of the run")


class Checkpoint(Model):
    """What a job writes, and when."""

    size_b: Size = _default("size", 912e9, "source", "MLPerf Storage: 70 B parameters")
    mode: Literal["blocking"] = _default("mode", "blocking", "choice", "the reference case")
    trigger: Literal["work"] | WallClock = _default("trigger", "work", "choice", "the reference case")


class NodePower(Model):
    """Electrical power of one node in each phase [W]; computing at speed s draws idle + (compute - idle) s^exponent."""

    compute_w: PositiveWatts = _default("compute", 7750.0, "source", "H100 node measurements 2025: 76 % of nameplate")
    idle_w: Watts = _default("idle", 1800.0, "guess", "range 1.2-2.5 kW")
    write_w: Watts = _default(
        "write", lambda data: 0.35 * data.get("compute_w", 0.0), "guess", "0.35 of compute; POLCA iteration dips"
    )
    exponent: Annotated[float, _quantity("number"), Field(ge=1, le=10, allow_inf_nan=False)] = _default(
        "exponent", 2.5, "derived", "fitted to V100, A100, H100, GB300 points"
    )


class Launch(Model):
    """When the jobs of a group start; exactly one form."""

    at_s: Annotated[tuple[Time, ...], Field(min_length=1)] | None = Field(alias="at", default=None)
    together_s: Time | None = Field(alias="together", default=None)
    every_s: Duration | None = Field(alias="every", default=None)
    uniform_s: Duration | None = Field(alias="uniform", default=None)
    poisson_s: Duration | None = Field(alias="poisson", default=None)


class JobGroup(Model):
    """Identical jobs."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_JOBS)] = _default("count", 1, "choice", "one job")
    nodes: Nodes = _default("nodes", 1, "choice", "one node")
    compute_s: Duration = _default("compute", 1800.0, "source", "10-60 min; domain notes 5")  # unused with a clock
    work_s: Duration | None = Field(alias="work", default=None)
    jitter: Jitter | None = None
    checkpoint: Checkpoint = Field(default_factory=Checkpoint)
    power: NodePower = Field(default_factory=NodePower)
    launch: Launch = Field(default_factory=lambda: Launch(together=0.0))


class Profile(Model):
    """What a launch log does not say: how GPUs and a duration become nodes, checkpoints and power."""

    gpus_per_node: Annotated[int, Field(strict=True, ge=1, le=1024)] = _default(
        "gpus_per_node", 8, "source", "DGX H100"
    )
    compute_s: Duration = _default("compute", 1800.0, "source", "10-60 min")
    size_per_gpu_b: Size = _default("size_per_gpu", 1.78e9, "derived", "912 GB on 512 GPUs")
    jitter: Fraction = _default("jitter", 0.01, "guess", "standard deviation, share of the interval")
    power: NodePower = Field(default_factory=NodePower)


PROFILES: dict[str, Profile] = {"h100": Profile()}


class Replay(Model):
    """A launch log as the source of jobs."""

    file: Annotated[str, Field(min_length=1)]
    format: Literal["schedule", "kalos", "philly-csv"] = _default("format", "schedule", "choice", "canonical schedule")
    profile: str | Profile = _default("profile", "h100", "choice", "the node of the domain notes")
    starts: Literal["submit", "start"] = _default("starts", "submit", "choice", "every format has it")
    window: tuple[Time | str, Time | str] | None = None
    min_gpus: Annotated[int, Field(strict=True, ge=1)] = _default("min_gpus", 1, "choice", "keep every job")
    time_scale: Annotated[float, _quantity("number"), Field(gt=0, le=1e6, allow_inf_nan=False)] = _default(
        "time_scale", 1.0, "choice", "as logged"
    )
    copies: Annotated[int, Field(strict=True, ge=1, le=10_000)] = _default("copies", 1, "choice", "as logged")


class Storage(Model):
    """The shared store: W writers get F(W) = min(W c, B) / (1 + k max(0, W c / B - 1)) in equal shares."""

    bandwidth_b_s: Rate = _default("bandwidth", 100e9, "guess", "per cluster")
    share: Literal["job"] = _default("share", "job", "choice", "anonymous")
    client_bandwidth_b_s: Rate | None = Field(alias="client_bandwidth", default=None)
    degradation: Annotated[float, _quantity("fraction"), Field(ge=0, le=1e6, allow_inf_nan=False)] = _default(
        "degradation", 0.0, "guess", "the clean case"
    )


class Controller(Model):
    """What commands the speed of the jobs under a feeder."""

    policy: Literal["none", "anonymous"] = _default("policy", "anonymous", "choice", "instantaneous, idealised")


class Power(Model):
    """The root feeder ``site``: its cap and its controller."""

    cap_w: PositiveWatts | None = Field(alias="cap", default=None)
    controller: Controller = Field(default_factory=Controller)


class Scenario(Model):
    """One question: a fleet, a store, power, a seed and a stop."""

    twin: Literal[1]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    question: str | None = None
    answer: str | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = _default("seed", 0, "choice", "any")
    stop: Stop = Field(default_factory=Stop)
    fleet: FleetSize | None = None
    jobs: tuple[JobGroup, ...] = ()
    replay: Replay | None = None
    storage: Storage = Field(default_factory=Storage)
    power: Power = Field(default_factory=Power)
    _folder: Path = PrivateAttr(default=Path())  # relative paths inside start here

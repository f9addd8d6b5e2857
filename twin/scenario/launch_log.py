"""A launch log as the source of jobs: which part of it, and the profile that turns GPUs and durations into jobs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
)

from twin.scenario.fields import (
    LEAST,
    MAX_NODES,
    SECTION,
    WORD,
    Duration,
    GpusPerNode,
    Name,
    PositiveWatts,
    Quantity,
    Size,
    Watts,
    WholeNumber,
    WindowEdges,
    form,
)
from twin.scenario.job_groups import NodePower
from twin.scenario.placement import ROOT, PlacementField
from twin.scenario.section import Model, default, required
from twin.units import RefusedValue, nearest


def _known_profile(name: str) -> str:
    if name not in PROFILES:
        meant = nearest(name, list(PROFILES)) or next(iter(PROFILES))
        raise RefusedValue(
            f"must be a known profile ({', '.join(PROFILES)}) or a section of its values", f"write {meant}"
        )
    return name


class Profile(Model):
    """What a launch log does not say: how GPUs and a duration become nodes, checkpoints and power."""

    gpus_per_node: GpusPerNode = default(
        "gpus_per_node", 8, "source", "DGX H100", "GPUs in a node: a job takes as many whole nodes as its GPUs need."
    )
    compute_s: Duration = default(
        "compute",
        1800.0,
        "source",
        "10-60 min between checkpoints are published for large runs",
        "Full-speed work between two checkpoints.",
    )
    size_per_gpu_b: Size = default(
        "size_per_gpu", 1.78e9, "derived", "912 GB on 512 GPUs", "Bytes of a checkpoint for each GPU of the job."
    )
    jitter: Annotated[float, Quantity("fraction", at_least=0.0, at_most=1.0)] = default(
        "jitter",
        0.01,
        "guess",
        "training steps vary by many small causes",
        "Standard deviation of the compute work of a cycle, as a share of its mean.",
    )
    power: NodePower = Field(default_factory=NodePower)


class A100Power(NodePower):
    """The same of a node of 8 A100."""

    compute_w: PositiveWatts = default(
        "compute", 5040.0, "source", "Acme's GPU servers, August 2023: 95th percentile", "Draw at full speed."
    )
    idle_w: Watts = default(
        "idle", 1512.0, "source", "Acme's GPU servers, August 2023: 5th percentile", "Draw at speed 0."
    )


class A100Profile(Profile):
    """Nodes of 8 A100."""

    gpus_per_node: GpusPerNode = default("gpus_per_node", 8, "source", "DGX A100", "GPUs in a node.")
    power: NodePower = Field(default_factory=A100Power)


PROFILES: dict[str, Profile] = {"h100": Profile(), "a100": A100Profile()}


class Replay(Model):
    """A launch log as the source of jobs."""

    file: Name = required("file", "schedule.csv", "The log, looked for from the folder of the scenario file.")
    format: Literal["schedule", "kalos", "philly-csv"] = default(
        "format",
        "schedule",
        "choice",
        "canonical schedule",
        "Columns of the log: schedule (job_id, submit_s, nodes, work_s or duration_s, group), or as a public log has.",
    )
    profile: Annotated[
        Annotated[str, AfterValidator(_known_profile), Tag(WORD)] | Annotated[Profile, Tag(SECTION)],
        Discriminator(form),
    ] = default("profile", "h100", "choice", "an 8-GPU H100 node", Profile.meaning())
    starts: Literal["submit", "start"] = default(
        "starts", "submit", "choice", "every format has it", "Which time of the log launches a job."
    )
    window: WindowEdges | None = default(
        "window",
        None,
        "choice",
        "the whole log",
        "Keeps the jobs submitted from one time to another, counted from the first row as in [0 d, 30 d], or dates.",
    )
    min_gpus: Annotated[int, WholeNumber(1, MAX_NODES)] = default(
        "min_gpus", 1, "choice", "keep every job", "Drops jobs of fewer GPUs."
    )
    time_scale: Annotated[float, Quantity("number", above=0.0, at_least=LEAST, at_most=1e6)] = default(
        "time_scale", 1.0, "choice", "as logged", "Multiplies the times between launches; 0.5 launches twice as fast."
    )
    copies: Annotated[int, WholeNumber(1, 10_000)] = default(
        "copies", 1, "choice", "as logged", "How many times each job of the log is launched."
    )
    place: PlacementField = default(
        "place", ROOT, "choice", "the site itself", "Where the nodes of the jobs hang, as jobs[].feeders says it."
    )

    @property
    def job_profile(self) -> Profile:
        """The profile, named or written out."""
        return self.profile if isinstance(self.profile, Profile) else PROFILES[self.profile]

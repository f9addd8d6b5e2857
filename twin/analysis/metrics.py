"""The summary numbers of a run: name, label, unit and definition, once for the summary, the report and `explain`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from twin.errors import TwinError
from twin.units import nearest

Value = float | int | list[float] | Mapping[str, float | None] | None
Section = Literal["fleet", "checkpoints", "work", "storage", "power", "failures"]


class Metric(NamedTuple):
    """One summary number.

    Args:
        name: its key in ``run.json``.
        label: a few words for a table or an axis.
        unit: of the stored value; ``1`` for a ratio or a count.
        definition: how it is computed; None stands for a value that the recorded tables or the run cannot give.
        source: where the definition comes from; empty for one that needs none.
        section: the part of the summary it belongs to.
    """

    name: str
    label: str
    unit: str
    definition: str
    source: str
    section: Section

    @property
    def is_by_group(self) -> bool:
        """Its value holds a number for each group, by the group's name."""
        return "_by_group" in self.name

    @property
    def is_by_feeder(self) -> bool:
        """Its value holds a number for each feeder, by the feeder's name."""
        return "_by_feeder" in self.name


LISTS = ("writers_share_at_least", "writers_share_at_least_independent")  # a number for each k = 1, 2, ...
_MOST_SHOWN = 60

_QUEUES = "processor-sharing queues: sojourn and slowdown"
_LOGS = "practice of batch schedulers' logs"
_QUANTILE = "Linear between order statistics of the checkpoints ended within the run; exact at any length."
_STRETCH = (
    "Time from compute start to the end of the stall / the same alone: the work drawn at full speed + the lone write, "
    "size / F(own weight), or the snapshot of a checkpoint in the background. "
    "For a wall-clock trigger the lone compute time is the time from compute start to the trigger. "
)
_JOB_STRETCH = (
    "Launch to end of a job / its nominal duration, which is its work at full speed + the lone write of each of its "
    "checkpoints, size / F(own weight); with checkpoints in the background the snapshots and the last lone write. Of "
    "the jobs done within the run. "
)
_SPLIT = "Sum over jobs, from launch to end of the job or of the run; the shares of the split sum to 1. "
_RAMP = (
    "Largest |P(t + w) - P(t)| / w of the site's draw over 0 <= t, t + w <= end of run, exact; 0 if w exceeds the run. "
    "Under lagged control a draw that moves is taken to go straight from draw_w to draw_end_w"
)
_FAILURES = "reliability practice of large training clusters"
_RATE = "The failure rate of a job is failures.per_node_day x nodes."
_BEST = "C is the mean time that a checkpoint of the run stopped its job, M the mean time between failures of the job."
_OVER = (
    "An excursion is a time with a draw above the cap in force (of the site: above power.limit, if it is set) by more "
    "than 1e-9 of it, as the events tell it. "
)
_SITE = f"{_OVER}Of the site: "
_FEEDERS = "of each feeder with a cap, by its name."

_ALL: tuple[Metric, ...] = (
    Metric("horizon_s", "simulated time", "s", "End of the run, from t = 0.", "", "fleet"),
    Metric("jobs", "jobs", "1", "Jobs of the fleet, launched or not.", "", "fleet"),
    Metric("jobs_done", "jobs done", "1", "Jobs that wrote their last checkpoint within the run.", "", "fleet"),
    Metric(
        "makespan_s",
        "makespan",
        "s",
        "First submission to last completion; not known unless every job is done.",
        "scheduling theory",
        "fleet",
    ),
    Metric(
        "peak_nodes", "peak nodes in use", "1", "Most nodes held at once by jobs launched and not done.", _LOGS, "fleet"
    ),
    Metric(
        "offered_load",
        "offered load",
        "1",
        "Sum over jobs of (V / B) / (T + V / B), B the store's bandwidth; with a wall-clock trigger the lone period is "
        "the interval, and with checkpoints in the background T + the snapshot. A job with `work` counts with the "
        "share of the run that it would last alone. Above 1 the checkpoints must overlap; below 1 a "
        "schedule without overlap can exist.",
        "utilisation law of queues, with the lone period",
        "fleet",
    ),
    Metric("checkpoints_written", "checkpoints written", "1", "Checkpoints ended within the run.", "", "checkpoints"),
    Metric(
        "checkpoint_duration_mean_s",
        "checkpoint duration mean",
        "s",
        "Mean time from first byte to last of the checkpoints ended within the run.",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "checkpoint_duration_mean_by_group_s",
        "checkpoint duration mean by group",
        "s",
        "checkpoint_duration_mean_s of each group of jobs, by its name.",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "checkpoint_duration_p50_s",
        "checkpoint duration P50",
        "s",
        f"Median time from first byte to last. {_QUANTILE}",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "checkpoint_duration_p99_s",
        "checkpoint duration P99",
        "s",
        f"99th percentile of the time from first byte to last. {_QUANTILE}",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "checkpoint_duration_max_s",
        "checkpoint duration max",
        "s",
        "Longest time from first byte to last.",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "lone_checkpoint_by_group_s",
        "checkpoint alone by group",
        "s",
        "Time of a checkpoint with the store to itself, size / F(own weight); mean over the checkpoints of each group, "
        "by its name.",
        _QUEUES,
        "checkpoints",
    ),
    Metric(
        "checkpoint_stall_p50_s",
        "checkpoint stall P50",
        "s",
        f"Median time not computing for a checkpoint, waits included. {_QUANTILE}",
        "",
        "checkpoints",
    ),
    Metric(
        "checkpoint_stall_p99_s",
        "checkpoint stall P99",
        "s",
        f"99th percentile of the time not computing for a checkpoint. {_QUANTILE}",
        "",
        "checkpoints",
    ),
    Metric(
        "checkpoint_stall_max_s",
        "checkpoint stall max",
        "s",
        "Longest time not computing for a checkpoint.",
        "",
        "checkpoints",
    ),
    Metric("stretch_p50", "stretch P50", "1", f"{_STRETCH}Median. {_QUANTILE}", _QUEUES, "checkpoints"),
    Metric("stretch_p95", "stretch P95", "1", f"{_STRETCH}95th percentile. {_QUANTILE}", _QUEUES, "checkpoints"),
    Metric("stretch_p99", "stretch P99", "1", f"{_STRETCH}99th percentile. {_QUANTILE}", _QUEUES, "checkpoints"),
    Metric("stretch_max", "stretch max", "1", f"{_STRETCH}Largest.", _QUEUES, "checkpoints"),
    Metric("compute_share", "full-speed work done", "1", f"{_SPLIT}Full-speed work done.", "", "work"),
    Metric(
        "throttled_share",
        "lost to the throttle",
        "1",
        f"{_SPLIT}Integral of 1 - speed over the time computing: what the work done and the interference leave of it.",
        "",
        "work",
    ),
    Metric(
        "interference_share",
        "lost to background drains",
        "1",
        f"{_SPLIT}Integral of speed x interference over the time computing while a drain of the job runs.",
        "",
        "work",
    ),
    Metric(
        "stall_share",
        "stalled in checkpoints",
        "1",
        f"{_SPLIT}Time in snapshots and blocking writes, unfinished ones included.",
        "",
        "work",
    ),
    Metric(
        "wait_share",
        "waiting for the store",
        "1",
        f"{_SPLIT}Time not computing while waiting for a lane of the store, for a drain in the background that leaves "
        "room for the next, or, with the work done, for the last drains. A drain that waits for a lane stops nobody.",
        "",
        "work",
    ),
    Metric("job_stretch_mean", "job stretch mean", "1", f"{_JOB_STRETCH}Mean.", _QUEUES, "work"),
    Metric("job_stretch_p95", "job stretch P95", "1", f"{_JOB_STRETCH}95th percentile.", _QUEUES, "work"),
    Metric(
        "goodput",
        "goodput",
        "1",
        "Full-speed work that survived / (jobs x horizon); without failures all work survives. A job not launched or "
        "done early counts as idle: goodput is the full-speed work done times the share of the time that jobs are "
        "there.",
        "fleet productivity accounting",
        "work",
    ),
    Metric(
        "present_share",
        "time that jobs are there",
        "1",
        "Sum over jobs of the time from launch to end of the job or of the run / (jobs x horizon); far below 1 where "
        "jobs come and go.",
        "",
        "work",
    ),
    Metric("mean_work_s", "mean work per job", "s", "Full-speed work done, mean over all jobs.", "", "work"),
    Metric(
        "bytes_delivered_b",
        "bytes written",
        "B",
        "Integral of the store's rate over the run, checkpoints cut by its end included.",
        "",
        "storage",
    ),
    Metric(
        "store_utilisation",
        "store utilisation",
        "1",
        "Bytes delivered / (bandwidth x horizon).",
        "utilisation law of queues",
        "storage",
    ),
    Metric(
        "peak_writers",
        "peak writers",
        "1",
        "Most checkpoints being written at once for any length of time; a job that blocks writes one.",
        "",
        "storage",
    ),
    Metric(
        "peak_waiting",
        "most waiting for a lane",
        "1",
        "Most checkpoints that waited for a lane at once for any length of time.",
        "",
        "storage",
    ),
    Metric(
        "waiting_share",
        "time with any waiting",
        "1",
        "Share of the run with a checkpoint waiting for a lane.",
        "",
        "storage",
    ),
    Metric(
        "writers_share_at_least",
        "time with at least k writers",
        "1",
        "Share of the run with at least k checkpoints being written, k = 1, 2, ... up to the peak.",
        "",
        "storage",
    ),
    Metric(
        "writers_share_at_least_independent",
        "the same for independent phases",
        "1",
        "Probability of at least k writers if each job wrote for its measured share of the run, independently of all "
        "others; k = 1, 2, ... up to the peak. One with several drains in flight counts as so many writers, each with "
        "its part of the share.",
        "Poisson binomial law",
        "storage",
    ),
    Metric("energy_j", "energy", "J", "Integral of the site's draw over the run, exact.", "", "power"),
    Metric("energy_by_feeder_j", "energy by feeder", "J", "The same of each feeder, by its name.", "", "power"),
    Metric("mean_power_w", "mean power", "W", "Energy / horizon.", "", "power"),
    Metric("peak_power_w", "peak power", "W", "Highest draw of the site that lasted.", "", "power"),
    Metric(
        "peak_power_by_feeder_w",
        "peak power by feeder",
        "W",
        "Highest draw that lasted of each feeder, by its name.",
        "",
        "power",
    ),
    Metric(
        "power_p99_w",
        "power P99",
        "W",
        "Smallest draw that the site is at or below for 99 % of the time. Under lagged control a draw that moves is "
        "taken to go straight from draw_w to draw_end_w, in 64 steps.",
        "load duration curve",
        "power",
    ),
    Metric("min_power_w", "lowest power", "W", "Lowest draw of the site that lasted.", "", "power"),
    Metric("load_factor", "load factor", "1", "Mean power / peak power.", "utility practice", "power"),
    Metric(
        "largest_step_w",
        "largest step",
        "W",
        "Largest change of the site's draw in one instant after t = 0; a draw that moves under lagged control ends at "
        "draw_end_w.",
        "",
        "power",
    ),
    Metric("ramp_1s_w_s", "ramp over 1 s", "W/s", f"{_RAMP}; w = 1 s.", "grid ramp limits", "power"),
    Metric("ramp_10s_w_s", "ramp over 10 s", "W/s", f"{_RAMP}; w = 10 s.", "grid ramp limits", "power"),
    Metric("ramp_60s_w_s", "ramp over 60 s", "W/s", f"{_RAMP}; w = 60 s.", "grid ramp limits", "power"),
    Metric(
        "cap_binding_share",
        "time the cap binds",
        "1",
        "Share of the run with a commanded speed, or the target of a lagged one, below 1 and a draw below the demand "
        "at full speed by more than 1e-9 of it: some job that computes is slowed down. A speed below 1 while nobody "
        "computes binds nothing. With limits job by job: with such a draw.",
        "",
        "power",
    ),
    Metric(
        "cap_binding_share_by_feeder",
        "time the control binds by feeder",
        "1",
        "cap_binding_share of each feeder, by its name: its own control asks for less than full speed while a job "
        "below it is slowed down.",
        "",
        "power",
    ),
    Metric("time_over_cap_s", "time over the cap", "s", f"{_SITE}time in excursions.", "", "power"),
    Metric(
        "energy_over_cap_j",
        "energy over the cap",
        "J",
        f"{_SITE}integral of draw less cap over the excursions.",
        "",
        "power",
    ),
    Metric("excursions", "excursions over the cap", "1", f"{_SITE}number of excursions.", "", "power"),
    Metric("longest_excursion_s", "longest excursion", "s", f"{_SITE}the longest excursion.", "", "power"),
    Metric(
        "highest_overshoot_share",
        "highest overshoot",
        "1",
        f"{_SITE}highest draw of an excursion over the lowest cap in force during it, less 1.",
        "",
        "power",
    ),
    Metric(
        "time_over_cap_by_feeder_s",
        "time over the cap by feeder",
        "s",
        f"{_OVER}Time in excursions {_FEEDERS}",
        "",
        "power",
    ),
    Metric(
        "energy_over_cap_by_feeder_j",
        "energy over the cap by feeder",
        "J",
        f"{_OVER}Energy above the cap {_FEEDERS}",
        "",
        "power",
    ),
    Metric(
        "excursions_by_feeder",
        "excursions over the cap by feeder",
        "1",
        f"{_OVER}Number of excursions {_FEEDERS}",
        "",
        "power",
    ),
    Metric(
        "longest_excursion_by_feeder_s",
        "longest excursion by feeder",
        "s",
        f"{_OVER}The longest excursion {_FEEDERS}",
        "",
        "power",
    ),
    Metric(
        "highest_overshoot_share_by_feeder",
        "highest overshoot by feeder",
        "1",
        f"{_OVER}Highest draw over the lowest cap in force during the excursion, less 1, {_FEEDERS}",
        "",
        "power",
    ),
    Metric(
        "control_actions_per_hour",
        "control actions per hour",
        "1",
        "Of all feeders: changes of the commanded speed, or of its target where it lags, and limits cut and released; "
        "an hour of simulated time.",
        "",
        "power",
    ),
    Metric(
        "throttled_job_s",
        "throttled job-seconds",
        "s",
        "Sum over jobs of the integral of 1 - speed over the time computing.",
        "",
        "power",
    ),
    Metric(
        "failures_expected",
        "expected failures",
        "1",
        f"Sum over jobs of the failure rate x time present. {_RATE}",
        _FAILURES,
        "failures",
    ),
    Metric(
        "lost_work_expected_s",
        "expected lost work",
        "s",
        "Job-seconds of full-speed work: sum over jobs of the failure rate x the integral of the work not yet durable, "
        "which grows while the job computes, at its mean speed, and is held until the last byte is written. To first "
        f"order: failures are counted on the run without them. {_RATE}",
        _FAILURES,
        "failures",
    ),
    Metric(
        "lost_work_expected_share",
        "expected lost work, share",
        "1",
        "Expected lost work / full-speed work done.",
        _FAILURES,
        "failures",
    ),
    Metric(
        "ettr_expected",
        "expected effective training time",
        "1",
        "Expected share of the time that is productive: (1 - R (u + T / 2)) / (1 + w / T), R the failure rate, u the "
        "downtime, T and w the mean times computing and writing measured in the run; by group, then the mean over the "
        f"groups by time present. {_RATE}",
        "effective training time ratio: A. Kokolis et al., 2024",
        "failures",
    ),
    Metric(
        "ettr_expected_by_group",
        "expected effective training time by group",
        "1",
        "ettr_expected of each group of jobs, by its name.",
        "effective training time ratio: A. Kokolis et al., 2024",
        "failures",
    ),
    Metric(
        "young_interval_s",
        "best interval, Young",
        "s",
        f"Computing between checkpoints, sqrt(2 C M), for the mean job of the fleet. {_BEST}",
        "J. W. Young, CACM 17 (1974) 530",
        "failures",
    ),
    Metric(
        "young_interval_by_group_s",
        "best interval by group, Young",
        "s",
        "young_interval_s of each group of jobs, by its name.",
        "J. W. Young, CACM 17 (1974) 530",
        "failures",
    ),
    Metric(
        "daly_interval_s",
        "best interval, Daly",
        "s",
        "Computing between checkpoints, sqrt(2 C M) (1 + sqrt(C / 2 M) / 3 + C / (18 M)) - C, or M if C >= 2 M, for "
        f"the mean job of the fleet. {_BEST}",
        "J. T. Daly, FGCS 22 (2006) 303",
        "failures",
    ),
    Metric(
        "daly_interval_by_group_s",
        "best interval by group, Daly",
        "s",
        "daly_interval_s of each group of jobs, by its name.",
        "J. T. Daly, FGCS 22 (2006) 303",
        "failures",
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def metric_named(text: str) -> Metric:
    """The metric of a name, or the one whose name ends with it: ``over_cap_s`` is ``time_over_cap_s``.

    Raises:
        TwinError: there is none, or it holds a number for each group, feeder or k.
    """
    name = text.strip()
    ends = [known for known in METRICS if known.endswith(f"_{name}")] if name else []
    metric = METRICS.get(name) or (METRICS[ends[0]] if len(ends) == 1 else None)
    if metric is None:
        meant = ends or [known for known in [nearest(name, list(METRICS))] if known]
        remedy = f"did you mean {' or '.join(meant)}?" if meant else "see them with twin explain metrics"
        raise TwinError(f"metric {name[:_MOST_SHOWN]!r}: is no summary number; {remedy}")
    if metric.is_by_group or metric.is_by_feeder or metric.name in LISTS:
        raise TwinError(f"metric {metric.name}: holds several numbers; name one that is a single number, as in goodput")
    return metric

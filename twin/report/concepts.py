"""What the words mean that the screen, the page and the documentation use, and what the exit codes say."""

from __future__ import annotations

from typing import NamedTuple


class Concept(NamedTuple):
    """A word of the field, or a label of the summary or the page.

    Args:
        name: the word itself.
        definition: what it means here; the first sentence stands alone.
        also: other words for it, and labels that show it.
        source: where it comes from; empty for one that needs none.
        unit: of the value shown under that label; ``1`` for a ratio or a count, empty for no number.
    """

    name: str
    definition: str
    also: tuple[str, ...] = ()
    source: str = ""
    unit: str = ""


CONCEPTS: tuple[Concept, ...] = (
    Concept(
        "anonymous",
        "A resource is anonymous if the rate it gives depends on how many use it, never on who. Between identical jobs "
        "it creates no pairwise coupling: their phase gap never changes. The summary says what broke it, such as "
        "unequal power behind a cap that binds.",
        ("anonymity", "not anonymous", "broken by"),
    ),
    Concept(
        "rotate",
        "Whole jobs on the feeders of a list in turn: job 0 of the group on the first, job 1 on the second, and so on "
        "around, as in feeders: {rotate: [row-1, row-2]}; for a launch log the same, row by row of the log.",
        ("in turn", "placement"),
    ),
    Concept(
        "idealised",
        "Control without delay, sampling or error: each change of the fleet is followed at once by the speed at which "
        "the draw meets the cap. No real controller does that; it is the case that theory can solve.",
        ("ideal control", "instantaneous"),
    ),
    Concept(
        "product form",
        "The closed form of the share of time with k jobs writing, from the mean compute work and the sizes alone. It "
        "holds for anonymous fleets of blocking jobs triggered by work; `twin estimate` gives it without simulating, "
        "and a run shows it beside what happened. Measured close to it: queueing alone explains the run.",
        ("occupancy", "closed form", "estimate"),
        "queueing networks with product form; the promise `occupancy`",
    ),
    Concept(
        "exact",
        "Verdict on the product form: a run long enough comes as close to it as you like.",
        ("verdict exact",),
    ),
    Concept(
        "on average over launches",
        "Verdict on the product form: it is the average over all launches, since this fleet keeps something of its own "
        "launch for ever, and a single run may stay off it.",
    ),
    Concept(
        "busiest windows",
        "Verdict on the product form of a fleet that comes and goes: it is given for the busiest stretches of time, as "
        "if the jobs there stayed for ever.",
    ),
    Concept(
        "not applicable",
        "Verdict on the product form: an assumption of it is broken, and the reasons say which.",
    ),
    Concept(
        "independent phases",
        "What would be seen if each job wrote for its measured share of the run, independently of all others. More "
        "writers at once than that: they queue, or start together.",
        ("the same for independent phases", "chance"),
        "Poisson binomial law",
    ),
    Concept(
        "replica",
        "An independent repetition of a run: other luck, the same fleet. Replica 0 is what `twin run` makes.",
        ("replicas", "repetition"),
    ),
    Concept(
        "common random numbers",
        "Replica k of every variant meets the same jitter and the same launches, so that a difference between variants "
        "is not the luck of one of them.",
        ("same luck", "CRN"),
        "A. M. Law, Simulation Modeling and Analysis, 5th ed., 2015, ch. 11.2",
    ),
    Concept(
        "paired difference",
        "A variant less the baseline, taken within each replica; its interval is Student's t over the replicas, 95 %. "
        "It is narrow where both react to the same luck alike.",
        ("difference", "baseline"),
        "A. M. Law, Simulation Modeling and Analysis, 5th ed., 2015, ch. 10.2",
    ),
    Concept(
        "tie",
        "Every replica of the variant came out exactly as that of the baseline: the difference is 0, without scatter.",
    ),
    Concept(
        "open",
        "The interval of a difference holds 0: it may be chance. The number beside it is how many replicas would tell, "
        "if mean and scatter stay as they are.",
        ("replicas would tell", "open difference"),
    ),
    Concept(
        "equal risk",
        "The caps that the controller of each variant holds are scaled by one factor, until the mean risk asked for "
        "with --match is met, while the draw is still counted against the cap of the scenario (power.limit).",
        ("match", "matched", "caps x"),
    ),
    Concept(
        "frontier",
        "The points of a sweep that no other point beats in all that counts: the metric of --best and those of "
        "--subject-to.",
        ("Pareto frontier", "best point"),
    ),
    Concept(
        "point",
        "One setting of all axes of a sweep. Its name is the hash of all that has a say in its numbers, so that a "
        "finished one never runs twice.",
        ("points", "axis", "sweep"),
    ),
    Concept(
        "swing",
        "How far a metric moves between a guessed default 25 % lower and 25 % higher: which guess to measure first.",
        ("tornado", "sensitivity"),
    ),
    Concept(
        "phase",
        "Place of a job in its cycle of computing and writing, from 0 to 1.",
        ("place in the period",),
        unit="1",
    ),
    Concept(
        "phase gap",
        "Difference of the phases of two jobs, wrapped to one cycle. An anonymous resource never "
        "changes that of two identical jobs.",
        ("gap",),
        unit="1",
    ),
    Concept(
        "order parameter",
        "R, the length of the mean of exp(2 pi i phase) over the fires of one period. 1 in step, near 0 "
        "spread evenly, and some 0.89 / sqrt(fires) for independent phases, not 0.",
        ("R", "R in the first period", "R in the last period", "by chance, about"),
        "Y. Kuramoto, Chemical Oscillations, Waves, and Turbulence, 1984, ch. 5",
        "1",
    ),
    Concept(
        "fire time",
        "When a checkpoint's first byte is written, write_start_s: a job fires once a cycle.",
        ("fire", "fires"),
        unit="s",
    ),
    Concept(
        "period",
        "Mean time from one fire of a job to its next, over all jobs of the run.",
        ("cycle", "lone period"),
        unit="s",
    ),
    Concept(
        "stagger",
        "Launches spread so that the write windows do not overlap. Under anonymous control windows that do not overlap "
        "never will, as long as there is no jitter; with jitter a stagger lasts some (margin / jitter)^2 cycles.",
        ("staggered", "write window", "margin"),
    ),
    Concept(
        "in step",
        "Jobs that fire at the same time. Jobs launched at one instant are, and stay so until jitter parts them.",
        ("lock", "locking", "locked", "synchrony"),
    ),
    Concept(
        "storm",
        "Many jobs writing at once: by chance, by queueing behind each other, by a common cause, or by locking.",
    ),
    Concept(
        "worst moment",
        "The stretch of the run, enlarged on the page, in which most jobs wrote at once; or the slowest checkpoint.",
        ("began at", "lasted", "jobs present", "burst"),
    ),
    Concept(
        "cell",
        "A piece of a chart too fine to draw: so much time of one job, coloured by the share of it spent writing.",
        ("one cell", "most of a cell spent writing", "deepest orange", "jobs drawn", "jobs not drawn"),
        unit="s",
    ),
    Concept(
        "common cause",
        "Something that makes jobs write at once without any coupling: launched at one instant, or triggered by one "
        "wall clock.",
    ),
    Concept(
        "coupling",
        "What makes the phase gap of two jobs change from cycle to cycle: attracting towards in step, or repelling.",
        ("drift",),
    ),
    Concept("jitter", "Chance on the compute work of each cycle.", ("sigma",)),
    Concept(
        "blocking",
        "A blocking checkpoint stops its job: it computes, then writes, one at a time.",
        ("stall", "stalled"),
    ),
    Concept(
        "demand",
        "What the site would draw if every computing job ran at full speed, whatever the cap.",
        ("demand_w",),
        unit="W",
    ),
    Concept(
        "draw",
        "Power drawn. A computing node draws idle + (compute - idle) speed^exponent, a writing one `write`.",
        (),
        unit="W",
    ),
    Concept(
        "cap",
        "The limit on the draw of the site. It binds while some job that computes is slowed down to meet it; with the "
        "policy none it is not enforced, and the time over it is counted.",
        ("cap binds", "cap not enforced", "throttle"),
        unit="W",
    ),
    Concept(
        "speed",
        "Share of full speed, from 0 to 1, that the controller commands to all computing jobs.",
        unit="1",
    ),
    Concept(
        "full-speed work",
        "Work in seconds that it takes at speed 1. Slowed down, the same work takes longer.",
        ("work",),
        unit="s",
    ),
    Concept(
        "horizon",
        "The simulated time, from t = 0 to the end of the run.",
        unit="s",
    ),
    Concept(
        "alone on the store",
        "The time of a checkpoint if no other job wrote: size / F(1).",
        ("alone", "lone write", "lone"),
        unit="s",
    ),
    Concept(
        "processor sharing",
        "How the store serves: each of n writers gets F(n) / n, whenever it came.",
        ("F", "F(n)", "F(1)", "equal shares"),
        "queueing theory",
        "B/s",
    ),
    Concept(
        "ETTR",
        "Effective training time ratio: the share of its time in which a job makes progress that lasts; the rest goes "
        "into checkpoints, lost work and restarts. In the summary it is ettr_expected, from the scenario's failures.",
        ("effective training time", "effective training time ratio"),
        "A. Kokolis et al., 2024",
        "1",
    ),
    Concept(
        "Young/Daly",
        "The interval between checkpoints at which checkpoints and lost work together cost least: about sqrt(2 C M), C "
        "the time of a checkpoint and M the mean time between failures. In the summary young_interval_s and "
        "daly_interval_s, at the times measured.",
        ("Young", "Daly", "best interval", "checkpoint interval"),
        "J. W. Young, CACM 17 (1974) 530; J. T. Daly, FGCS 22 (2006) 303",
        "s",
    ),
    Concept(
        "lost work",
        "Work since the last durable checkpoint, which a failure takes away. It is expected, not simulated.",
        unit="s",
    ),
    Concept(
        "mark",
        "Where a default comes from. source: published. derived: worked out from published figures. guess: plausible, "
        "to be replaced by yours. choice: no measured value, but the case to begin with.",
        ("values from defaults", "guess", "derived", "choice"),
    ),
    Concept(
        "promise",
        "A claim of the theory with the conditions under which it holds in every run. The page and run.json say which "
        "apply to a run, and why the others do not; `twin explain promises` lists them.",
        ("assumptions", "promises of the theory"),
    ),
    Concept(
        "seed",
        "Where all chance of a run starts. The same scenario and seed give the same tables, bit for bit.",
        ("replica", "luck"),
    ),
    Concept(
        "ended because",
        "Which limit of `stop` was reached first, or that all jobs are done.",
        ("stopped_by",),
    ),
    Concept(
        "import report",
        "What was read of a launch log, what was dropped and why; it accounts for every row.",
        ("launch log", "rows read", "rows dropped", "rows kept", "sizes", "work of a job", "time zone", "note"),
    ),
    Concept(
        "run directory",
        "The folder of a run: run.json and five Parquet tables. It is there whole, or not at all.",
        ("run.json", "manifest", "traces", "tables"),
    ),
)

EXIT_CODES: dict[int, str] = {
    0: "Done.",
    1: "A check failed, or a run of a sweep did.",
    2: "Bad input, or a place that cannot be written: a message on stderr says what, where, and what to do.",
    130: "Interrupted, by Ctrl-C; no half-written run is left.",
    141: "The reader of the output went away, as `head` does.",
    143: "Terminated by a signal; no half-written run is left.",
}

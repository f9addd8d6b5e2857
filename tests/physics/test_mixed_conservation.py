"""With every feature on, bytes, joules and job time balance on each feeder, and the order of the file says nothing."""

from functools import cache, reduce
from math import inf

import numpy as np
import pytest

from tests.fleets import Mapping
from tests.mixed_fleets import mixed_fleet
from tests.traces import Phases, Steps, columns, simulate
from twin.recording import Recording
from twin.scenario import places_of

BALANCE = 1e-9
STEPPED = ("none", "anonymous", "delayed", "sampled", "fixed_limit")  # speeds that are steps, and known by feeder
FLEETS = range(40)
EVERYTHING = range(1000, 1040)  # fleets of all policies


@cache
def stepped_fleet(seed: int) -> Mapping:
    return mixed_fleet(np.random.default_rng(seed), STEPPED)


@cache
def stepped_run(seed: int) -> Recording:
    return simulate(stepped_fleet(seed))


@cache
def any_run(seed: int) -> Recording:
    return simulate(mixed_fleet(np.random.default_rng(seed)))


def groups_of_jobs(mapping: Mapping) -> list[tuple[Mapping, int]]:
    """Group and index of each job, by job id."""
    return [(own, index) for own in mapping["jobs"] for index in range(own["count"])]


def lived_s(run: Recording) -> np.ndarray:
    """Time from launch to the end of the job or of the run, by job [s]."""
    jobs, end_s = columns(run, "jobs"), run.manifest["simulated_end_s"]
    return np.nan_to_num(np.where(np.isnan(jobs["end_s"]), end_s, jobs["end_s"]) - jobs["launch_s"])


def stretches(run: Recording) -> Phases:
    """Every interval in which some job computes [s], cut at the end of the run."""
    jobs, rows = columns(run, "jobs"), columns(run, "checkpoints")
    began_s = jobs["launch_s"].copy()
    np.fmax.at(began_s, rows["job_id"], rows["due_s"] + rows["stall_s"])
    running = jobs["state"] == "computing"
    return Phases(
        np.concatenate((rows["job_id"], jobs["job_id"][running])),
        np.concatenate((rows["compute_start_s"], began_s[running])),
        np.concatenate((rows["due_s"], np.full(running.sum(), run.manifest["simulated_end_s"]))),
    )


def parents(mapping: Mapping) -> dict[str, str]:
    return {name: section["parent"] for name, section in mapping["power"]["feeders"].items()}


def up(mapping: Mapping, name: str) -> list[str]:
    """The feeder and all above it."""
    return [name] if name == "site" else [name, *up(mapping, parents(mapping)[name])]


def places(own: Mapping, index: int) -> dict[str, int]:
    placement = own["feeders"]
    return dict(places_of(tuple(placement) if isinstance(placement, list) else placement, own["nodes"], index))


def feeder_steps(run: Recording, feeder: str, column: str) -> Steps:
    rows = columns(run, "power")
    own = rows["feeder"] == feeder
    return Steps(rows["time_s"][own], rows[column][own], run.manifest["simulated_end_s"])


def lower(one: Steps, other: Steps) -> Steps:
    time_s = np.union1d(one.time_s, other.time_s)
    return Steps(time_s, np.minimum(one.at(time_s), other.at(time_s)), one.end_s)


def job_speed(run: Recording, mapping: Mapping, own: Mapping, index: int) -> Steps:
    """The slowest speed commanded on the feeders above a job, and the one that limits a node leave it."""
    names = sorted({above for name in places(own, index) for above in up(mapping, name)})
    sections = {"site": mapping["power"], **mapping["power"]["feeders"]}
    limits_w = [sections[name]["controller"].get("limit", inf) for name in names]
    power = own["power"]
    left = (min(*limits_w, power["compute"]) - power["idle"]) / (power["compute"] - power["idle"])
    ceiling = Steps(np.zeros(1), np.array([left ** (1.0 / power["exponent"])]), run.manifest["simulated_end_s"])
    return reduce(lower, (feeder_steps(run, name, "speed") for name in names), ceiling)


def over(rate: Steps, intervals: Phases) -> float:
    return float((rate.integral(intervals.end_s) - rate.integral(intervals.start_s)).sum())


def of_job(intervals: Phases, job: int) -> Phases:
    own = intervals.job == job
    return Phases(intervals.job[own], intervals.start_s[own], intervals.end_s[own])


@pytest.mark.parametrize("seed", FLEETS)
def test_a_job_spends_its_speed_on_work_and_on_its_drains(seed):
    run, mapping = stepped_run(seed), stepped_fleet(seed)
    jobs, computing = columns(run, "jobs"), stretches(run)

    given_s = [
        over(job_speed(run, mapping, own, index), of_job(computing, job))
        for job, (own, index) in enumerate(groups_of_jobs(mapping))
    ]

    np.testing.assert_allclose(jobs["work_s"] + jobs["interference_s"], given_s, rtol=BALANCE, atol=BALANCE)


@pytest.mark.parametrize("seed", FLEETS)
def test_the_energy_of_a_feeder_is_that_of_its_children_and_of_the_nodes_on_it(seed):
    run, mapping = stepped_run(seed), stepped_fleet(seed)
    computing, span_s, end_s = stretches(run), lived_s(run), run.manifest["simulated_end_s"]
    node_j = []  # of a node of each job
    for job, (own, index) in enumerate(groups_of_jobs(mapping)):
        power, speed, mine = own["power"], job_speed(run, mapping, own, index), of_job(computing, job)
        computing_s = float((mine.end_s - mine.start_s).sum())
        dynamic = over(Steps(speed.time_s, speed.value ** power["exponent"], end_s), mine)
        swing_w = power["compute"] - power["idle"]
        node_j.append(power["idle"] * computing_s + swing_w * dynamic + power["write"] * (span_s[job] - computing_s))
    rows = columns(run, "power")
    recorded_j = {}
    for name in ("site", *parents(mapping)):
        draw = feeder_steps(run, name, "draw_w")
        np.testing.assert_allclose(rows["energy_j"][rows["feeder"] == name], draw.integral(draw.time_s), rtol=BALANCE)
        recorded_j[name] = float(draw.integral(np.array([end_s]))[0])

    for name, found_j in recorded_j.items():
        own_j = sum(
            places(own, index).get(name, 0) * joules
            for joules, (own, index) in zip(node_j, groups_of_jobs(mapping), strict=True)
        )
        below_j = sum(recorded_j[child] for child, parent in parents(mapping).items() if parent == name)
        facility = (mapping["power"]["fixed"], mapping["power"]["pue"]) if name == "site" else (0.0, 1.0)
        expected_j = facility[1] * (below_j + own_j + facility[0] * end_s)
        assert found_j == pytest.approx(expected_j, rel=BALANCE, abs=BALANCE)


@pytest.mark.parametrize("seed", EVERYTHING)
def test_job_time_is_work_throttle_drains_and_stalls(seed):
    run = any_run(seed)
    metrics, jobs, computing = run.manifest["metrics"], columns(run, "jobs"), stretches(run)

    computed_s = np.bincount(computing.job, computing.end_s - computing.start_s, len(jobs["job_id"]))
    throttled_s = computed_s - jobs["work_s"] - jobs["interference_s"]

    assert (throttled_s > -BALANCE * (1.0 + computed_s)).all()
    assert metrics["throttled_job_s"] == pytest.approx(throttled_s.sum(), rel=BALANCE, abs=BALANCE)
    shares = [metrics[f"{part}_share"] for part in ("compute", "throttled", "stall", "wait", "interference")]
    assert sum(shares) == pytest.approx(1.0, abs=BALANCE)
    assert metrics["compute_share"] == pytest.approx(jobs["work_s"].sum() / lived_s(run).sum(), rel=BALANCE)


@pytest.mark.parametrize("seed", EVERYTHING)
def test_the_store_gives_each_transfer_the_share_of_its_weight(seed):
    run, mapping = any_run(seed), mixed_fleet(np.random.default_rng(seed))
    end_s, rows = run.manifest["simulated_end_s"], columns(run, "checkpoints")
    begun = ~np.isnan(rows["write_start_s"])
    rows = {name: values[begun] for name, values in rows.items()}
    nodes = np.array([own["nodes"] for own, _ in groups_of_jobs(mapping)], float)
    weight = (nodes if mapping["storage"]["share"] == "node" else np.ones_like(nodes))[rows["job_id"]]
    start_s, stop_s = rows["write_start_s"], np.where(np.isnan(rows["write_end_s"]), end_s, rows["write_end_s"])
    storage = columns(run, "storage")

    edges_s = np.unique(np.concatenate((storage["time_s"], start_s, stop_s)))
    present = (start_s <= edges_s[:, None]) & (edges_s[:, None] < stop_s)
    total_rate = Steps(storage["time_s"], storage["rate_b_s"], end_s)
    share = Steps(edges_s, total_rate.at(edges_s) / np.maximum(present @ weight, 1.0), end_s)
    received_b = weight * (share.integral(stop_s) - share.integral(start_s))

    done = ~np.isnan(rows["write_end_s"])
    np.testing.assert_allclose(received_b[done], rows["size_b"][done], rtol=BALANCE)
    assert (received_b[~done] <= rows["size_b"][~done] * (1.0 + BALANCE)).all()
    assert total_rate.integral(np.array([end_s]))[0] == pytest.approx(received_b.sum(), rel=BALANCE)
    lanes = mapping["storage"].get("lanes", inf)
    assert (storage["writers"] <= lanes).all()
    assert ((storage["waiting"] == 0) | (storage["writers"] == lanes)).all()


@pytest.mark.parametrize("seed", EVERYTHING)
def test_the_order_of_groups_and_feeders_in_the_file_changes_no_bit(seed):
    mapping = mixed_fleet(np.random.default_rng(seed))
    turned = mapping | {"jobs": mapping["jobs"][::-1]}
    turned["power"] = mapping["power"] | {"feeders": dict(reversed(mapping["power"]["feeders"].items()))}

    there, back = any_run(seed), simulate(turned)

    for table in ("power", "storage"):
        assert repr(there.table(table).to_pydict()) == repr(back.table(table).to_pydict())
    assert by_name(back) == by_name(there)


def by_name(run: Recording) -> dict[str, str]:
    """Every number of each job and of its checkpoints as text, to the last bit."""
    jobs, rows = run.frame("jobs").set_index("job_id"), run.frame("checkpoints")
    return {
        job.name: repr((job.drop("name").tolist(), rows[rows.job_id == number].drop(columns="job_id").to_dict("list")))
        for number, job in ((number, jobs.loc[number].rename(jobs.loc[number, "name"])) for number in jobs.index)
    }

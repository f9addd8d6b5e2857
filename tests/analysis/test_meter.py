"""What a power meter would have logged: means that integrate to the exact energy, whatever the draw did meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twin
from twin.analysis.meter import meter_line, readings
from twin.recording import ROOT

from .hand_made import recording_of


def all_readings(recording, feeder=ROOT, period_s=10.0):
    parts = list(readings(recording, feeder, period_s))
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in parts[0].__slots__}


def steps(levels_w, times_s, end_s):
    """A recording whose site draws these levels from these times on."""
    rows, energy_j = [], 0.0
    for place, (time_s, level_w) in enumerate(zip(times_s, levels_w, strict=True)):
        if place:
            energy_j += levels_w[place - 1] * (time_s - times_s[place - 1])
        rows.append((ROOT, time_s, level_w, level_w, 1.0, None, None, None, energy_j))
    found = recording_of({"power": rows})
    found.manifest |= {"simulated_end_s": end_s, "scenario": {}}
    return found


def test_a_reading_is_the_mean_of_what_was_drawn_in_its_interval():
    found = all_readings(steps([4.0, 8.0, 2.0], [0.0, 5.0, 12.0], 25.0))

    assert found["start_s"].tolist() == [0.0, 10.0, 20.0]
    assert found["width_s"].tolist() == [10.0, 10.0, 5.0]  # the run cuts the last one short
    assert found["mean_w"].tolist() == [6.0, (2 * 8.0 + 8 * 2.0) / 10, 2.0]
    assert found["lowest_w"].tolist() == [4.0, 2.0, 2.0]
    assert found["highest_w"].tolist() == [8.0, 8.0, 2.0]


def test_an_interval_longer_than_the_run_is_one_reading():
    found = all_readings(steps([4.0, 8.0], [0.0, 5.0], 20.0), period_s=1e6)

    assert (found["width_s"].tolist(), found["mean_w"].tolist()) == ([20.0], [7.0])


def test_a_row_that_was_left_in_its_instant_counts_for_nothing():
    found = all_readings(steps([4.0, 99.0, 8.0], [0.0, 5.0, 5.0], 10.0))

    assert (found["mean_w"].tolist(), found["highest_w"].tolist()) == ([6.0], [8.0])


@given(
    st.lists(st.tuples(st.floats(0.0, 1e7), st.floats(1e-3, 1e4)), min_size=1, max_size=30),
    st.floats(0.05, 1e5),
)
def test_the_readings_integrate_to_the_energy_and_tile_the_run(course, period_s):
    levels_w = [level for level, _ in course]
    edges_s = np.concatenate([[0.0], np.cumsum([length for _, length in course])])
    end_s = float(edges_s[-1])
    if end_s / period_s > 1e5:
        period_s = end_s / 1e5
    found = all_readings(steps(levels_w, edges_s[:-1].tolist(), end_s), period_s=period_s)

    energy_j = float(np.sum(np.array(levels_w) * np.diff(edges_s)))
    assert float((found["mean_w"] * found["width_s"]).sum()) == pytest.approx(energy_j, rel=1e-11, abs=1e-6)
    assert found["start_s"] == pytest.approx(np.arange(len(found["start_s"])) * period_s, rel=1e-12)
    assert float(found["width_s"].sum()) == pytest.approx(end_s, rel=1e-11)
    assert (found["lowest_w"] <= found["mean_w"] * (1 + 1e-12)).all()
    assert (found["mean_w"] <= found["highest_w"] * (1 + 1e-12)).all()


def fleet(**power):
    return {
        "twin": 1,
        "name": "metered",
        "seed": 2,
        "stop": {"cycles": 6},
        "jobs": [
            {
                "name": "llm",
                "count": 4,
                "nodes": 8,
                "compute": "10 min",
                "jitter": {"law": "normal", "sigma": "6 s"},
                "checkpoint": {"size": "900 GB"},
                "launch": {"uniform": "10 min"},
                "feeders": {"rotate": ["row-1", "row-2"]} if "feeders" in power else "site",
            }
        ],
        "storage": {"bandwidth": "20 GB/s"},
        "power": {"cap": "200 kW", **power},
    }


ROWS = {"row-1": {"cap": "100 kW"}, "row-2": {"cap": "90 kW", "controller": {"policy": "delayed"}}}
FLEETS = {
    "anonymous": fleet(),
    "delayed": fleet(controller={"policy": "delayed"}),
    "sampled": fleet(controller={"policy": "sampled"}),
    "lagged": fleet(controller={"policy": "lagged", "tau": "20 s"}),
    "rows": fleet(feeders=ROWS, pue=1.2, fixed="5 kW"),
    "rows under a lagged site": fleet(feeders=ROWS, controller={"policy": "lagged", "tau": "20 s"}),
    "by the hour": fleet(cap={"daily": [{"at": "0 h", "value": "200 kW"}, {"at": "1 h", "value": "150 kW"}]}),
}


@pytest.mark.parametrize("period_s", [0.7, 60.0, 3600.0, 1e7])
@pytest.mark.parametrize("document", FLEETS.values(), ids=FLEETS)
def test_the_readings_of_a_run_integrate_to_its_exact_energy_on_every_feeder(document, period_s):
    run = twin.simulate(twin.load(document))
    energies_j = run.manifest["metrics"]["energy_by_feeder_j"] or {ROOT: run.manifest["metrics"]["energy_j"]}

    for feeder, energy_j in energies_j.items():
        found = all_readings(run, feeder, period_s)
        assert float((found["mean_w"] * found["width_s"]).sum()) == pytest.approx(energy_j, rel=1e-12)


def test_the_readings_of_a_lagged_draw_are_those_of_its_closed_form():
    """The draw of one job whose speed decays to the target, by quadrature of P = idle + (compute - idle) s^a."""
    run = twin.simulate(twin.load(fleet(controller={"policy": "lagged", "tau": "20 s"})))
    power = run.frame("power")
    moving = power[power.draw_end_w.notna()].iloc[3]
    following = power[power.time_s > moving.time_s].iloc[0]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    low_s = np.ceil(moving.time_s / 0.5) * 0.5
    assert low_s + 0.5 < following.time_s
    at_s = low_s + 0.25 + 0.25 * nodes
    speed = moving.target + (moving.speed - moving.target) * np.exp(-(at_s - moving.time_s) / moving.tau_s)
    end_speed = moving.target + (moving.speed - moving.target) * np.exp(
        -(following.time_s - moving.time_s) / moving.tau_s
    )
    dynamic_w = (moving.draw_end_w - moving.draw_w) / (end_speed**2.5 - moving.speed**2.5)
    mean_w = float(weights @ (moving.draw_w + dynamic_w * (speed**2.5 - moving.speed**2.5))) / 2
    found = all_readings(run, period_s=0.5)

    assert found["mean_w"][round(low_s / 0.5)] == pytest.approx(mean_w, rel=1e-12)


def test_a_line_for_a_chart_covers_the_stretch_asked_for():
    times_s, means_w = meter_line(steps([4.0, 8.0, 2.0], [0.0, 5.0, 12.0], 25.0), ROOT, 10.0, 5.0, 20.0)

    assert times_s.tolist() == [5.0, 10.0, 20.0]
    assert means_w.tolist() == [6.0, 3.2, 3.2]


def test_readings_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    from twin.analysis import meter

    run = twin.simulate(twin.load(FLEETS["lagged"]))
    whole = all_readings(run, period_s=1.0)
    monkeypatch.setattr(meter, "_MOST_WINDOWS", 7)
    cut = all_readings(run, period_s=1.0)

    assert (cut["start_s"] == whole["start_s"]).all()
    assert cut["mean_w"] == pytest.approx(whole["mean_w"], rel=1e-12)

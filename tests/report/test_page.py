"""The page says what the tables say: every number on it is the value of the query that its note gives."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import numpy as np
import pytest

import twin
from tests.report.fleets import FLEET, POWER, replay_of, run_of
from tests.report.html_page import Page, charts_of, trace, unpacked
from twin.errors import RunDirectoryError
from twin.recording import MemoryTable, Recording
from twin.report import job_sections
from twin.report.page import page

CHARTS = {"timeline", "worst-moment", "phases", "store", "writers", "checkpoint-times", "power"}
CUT = {"stop": {"time": "4730 s"}}  # ends while jobs write
CLOCK = [
    {
        "name": "clock",
        "count": 3,
        "checkpoint": {"size": "9 GB", "trigger": {"every": "2 min"}},
        "power": POWER,
        "launch": {"every": "7 s"},
    }
]
STAGGER = [FLEET["jobs"][0] | {"jitter": None, "launch": {"every": "30 s"}, "count": 3}]

UNEQUAL = [  # the longest checkpoint is alone, long before the first that overlap
    FLEET["jobs"][0]
    | {"name": "big", "count": 1, "jitter": None, "launch": {"at": ["0 s"]}, "checkpoint": {"size": "60 GB"}},
    FLEET["jobs"][0] | {"name": "small", "count": 2, "jitter": None, "launch": {"at": ["300 s", "303 s"]}},
]


def changed(group: dict, **checkpoint: object) -> list[dict]:
    """The group with another checkpoint."""
    return [group | {"checkpoint": group["checkpoint"] | checkpoint}]


LLM = FLEET["jobs"][0]
ASYNC = {"mode": "async", "snapshot": "2 s", "interference": 0.1, "in_flight": 2}
NODES = [LLM | {"name": "small"}, LLM | {"name": "large", "count": 2, "nodes": 3}]
TREE = {
    "cap": "3.5 kW",
    "feeders": {
        "row-1": {"cap": "1.6 kW", "controller": {"policy": "delayed", "delay": "3 s"}},
        "row-2": {"cap": "1.6 kW", "controller": {"policy": "lagged", "tau": "4 s"}},
    },
}
DAILY = {"cap": {"daily": [{"at": "0 h", "value": "3.2 kW"}, {"at": "1 h", "value": "2 kW"}]}}


def controlled(**controller: object) -> dict:
    return {"power": FLEET["power"] | {"controller": controller}}


RUNS = {
    "jittered": run_of,
    "node shares": lambda folder: run_of(
        folder, jobs=NODES, storage={"bandwidth": "1 GB/s", "client_bandwidth": "0.2 GB/s", "share": "node"}
    ),
    "finite node shares": lambda folder: replay_of(
        folder, storage={"bandwidth": "4 GB/s", "client_bandwidth": "0.5 GB/s", "share": "node"}
    ),
    "lanes": lambda folder: run_of(folder, storage={"bandwidth": "1 GB/s", "lanes": 1}),
    "drains": lambda folder: run_of(folder, jobs=changed(LLM, **ASYNC)),
    "finite drains": lambda folder: run_of(folder, jobs=[changed(LLM, **ASYNC)[0] | {"work": "1000 s"}], stop={}),
    "finite drains in lanes": lambda folder: run_of(
        folder,
        jobs=[changed(LLM, **ASYNC)[0] | {"work": "1000 s", "launch": {"together": "0 s"}}],
        stop={},
        storage={"bandwidth": "1 GB/s", "lanes": 1},
    ),
    "delayed": lambda folder: run_of(folder, **controlled(policy="delayed", delay="3 s")),
    "lagged": lambda folder: run_of(folder, **controlled(policy="lagged", tau="7 s")),
    "sampled": lambda folder: run_of(folder, **controlled(policy="sampled")),
    "fixed limit": lambda folder: run_of(folder, **controlled(policy="fixed_limit", limit="0.8 kW")),
    "three band": lambda folder: run_of(folder, **controlled(policy="three_band")),
    "tree": lambda folder: run_of(folder, jobs=[LLM | {"feeders": {"rotate": ["row-1", "row-2"]}}], power=TREE),
    "daily cap": lambda folder: run_of(folder, power=DAILY, epoch="2026-01-05T00:10"),
    "cut": lambda folder: run_of(folder, **CUT),
    "wall clock": lambda folder: run_of(folder, jobs=CLOCK, power={}, stop={"cycles": 20}),
    "stagger": lambda folder: run_of(folder, jobs=STAGGER),
    "one checkpoint": lambda folder: run_of(folder, stop={"time": "130 s"}),
    "no checkpoint": lambda folder: run_of(folder, stop={"time": "90 s"}),
    "longest elsewhere": lambda folder: run_of(folder, jobs=UNEQUAL, stop={"cycles": 2}),
    "replay": replay_of,
    "dense": lambda folder: run_of(folder, stop={"cycles": 600}),
}


@pytest.fixture(scope="module", params=RUNS)
def reported(request, tmp_path_factory):
    """Run directory, page, and the page read back."""
    folder = RUNS[request.param](tmp_path_factory.mktemp("page") / "run")
    html = page(twin.open_run(folder))
    return folder, html, Page(html)


@pytest.fixture
def small_page(tmp_path):
    html = page(twin.open_run(run_of(tmp_path / "run")))
    return tmp_path / "run", html, charts_of(html)


def found_again(folder, read, monkeypatch):
    """(section, label, value on the page, value of the query), for each number of the page."""
    monkeypatch.chdir(folder)
    for section, note in read.notes.items():
        names: dict[str, object] = {}
        exec(read.preamble, names)  # noqa: S102 - our own page, as a reader would run it
        exec(note.setup, names)  # noqa: S102
        for label, value, query in zip(note.labels, note.values, note.queries, strict=True):
            yield section, label, json.loads(value), eval(query, names)  # noqa: S307


def test_every_number_is_the_value_of_its_query(reported, monkeypatch):
    folder, _, read = reported
    checked = 0
    for section, label, on_page, queried in found_again(folder, read, monkeypatch):
        # Sums of up to thousands of doubles in another order, and differences of shares near 1.
        assert on_page == pytest.approx(float(queried), rel=1e-9, abs=1e-12), (section, label)
        checked += 1
    assert checked > 20


def test_every_chart_has_a_note_with_a_definition_and_queries(reported):
    _, html, read = reported
    for key in charts_of(html):
        assert read.notes[key].setup
        assert read.notes[key].queries


def test_a_whole_run_has_every_chart(small_page):
    assert charts_of(small_page[1]).keys() >= CHARTS


def test_a_run_without_checkpoints_has_no_chart_of_them(tmp_path):
    charts = charts_of(page(twin.open_run(run_of(tmp_path / "run", stop={"time": "90 s"}))))
    assert charts.keys() & CHARTS == {"timeline", "store", "power"}


def test_tables_not_recorded_leave_their_charts_out(tmp_path):
    recording = twin.simulate(twin.load(FLEET), tables=["jobs", "checkpoints"])
    assert charts_of(page(recording)).keys() == {"timeline", "phases", "checkpoint-times"}


# Charts against tables


def test_lines_of_the_store_and_the_power_are_the_rows_of_their_tables(small_page):
    folder, _, charts = small_page
    recording = twin.open_run(folder)
    storage, power = recording.frame("storage"), recording.frame("power")
    unit = re.search(r"\[(\w+)\]", charts["store"]["layout"]["xaxis"]["title"]["text"])[1]
    size_s = {"s": 1.0, "min": 60.0, "h": 3600.0}[unit]
    for key, name, column, scale, rows in (
        ("store", "writers", "writers", 1.0, storage),
        ("store", "store rate", "rate_b_s", 1e9, storage),
        ("power", "draw", "draw_w", 1e3, power),
        ("power", "demand at full speed", "demand_w", 1e3, power),
        ("power", "speed", "speed", 1.0, power),
    ):
        drawn = trace(charts[key], name)
        assert unpacked(drawn["x"])[:-1].tolist() == (rows["time_s"] / size_s).tolist(), name
        assert unpacked(drawn["y"])[:-1].tolist() == (rows[column] / scale).tolist(), name


def test_a_dense_line_keeps_the_peak_and_its_mean_is_the_mean_of_the_run(tmp_path):
    folder = run_of(tmp_path / "run", stop={"cycles": 600})
    charts, metrics = charts_of(page(twin.open_run(folder))), twin.open_run(folder).manifest["metrics"]
    band, mean = trace(charts["power"], "draw", 0), trace(charts["power"], "draw", 1)
    assert unpacked(band["y"]).max() * 1e3 == metrics["peak_power_w"]
    bins = np.diff(unpacked(mean["x"]))
    of_run_w = float((unpacked(mean["y"])[:-1] * bins).sum() / bins.sum()) * 1e3
    assert of_run_w == pytest.approx(metrics["mean_power_w"], rel=1e-9)  # sums in another order


def test_one_row_planted_in_a_long_table_is_the_highest_point_of_its_line():
    recording = twin.simulate(twin.load(FLEET | {"stop": {"cycles": 2000}}))
    table = recording.table("power")
    draw_w = table["draw_w"].to_numpy().copy()
    draw_w[7_777] = 1e6
    planted = MemoryTable(table.schema)
    for batch in table.set_column(table.schema.get_field_index("draw_w"), "draw_w", [draw_w]).to_batches(1000):
        planted.append(batch.cast(table.schema))
    html = page(Recording(recording.manifest, {**recording.sources, "power": planted}))
    line = trace(charts_of(html)["power"], "draw", 0)
    highest = int(np.argmax(unpacked(line["y"])))
    assert len(unpacked(line["y"])) < table.num_rows / 2
    assert unpacked(line["y"])[highest] * 1e6 == 1e6  # the axis is in MW
    assert unpacked(line["x"])[highest] == pytest.approx(table["time_s"][7_777].as_py() / 86400.0)


def test_bars_of_the_worst_moment_are_the_checkpoints_written_then(small_page):
    folder, _, charts = small_page
    checkpoints = twin.open_run(folder).frame("checkpoints")
    longest_bar_s = unpacked(trace(charts["worst-moment"], "writing")["x"]).max()
    durations_s = (checkpoints.write_end_s - checkpoints.write_start_s).to_numpy()
    assert np.abs(durations_s - longest_bar_s).min() < 1e-9  # differences of times near 3,000 s


def test_the_histogram_counts_every_checkpoint(small_page):
    folder, _, charts = small_page
    written = twin.open_run(folder).manifest["metrics"]["checkpoints_written"]
    assert unpacked(charts["checkpoint-times"]["data"][0]["y"]).sum() == written


def test_the_phase_picture_marks_every_fire_of_a_small_run_and_counts_every_fire_of_a_long_one(small_page, monkeypatch):
    folder, _, charts = small_page
    fires = int(twin.open_run(folder).frame("checkpoints").write_start_s.count())
    assert len(unpacked(charts["phases"]["data"][0]["y"])) == fires
    monkeypatch.setattr(job_sections, "_MARKS_AT_MOST", 50)
    dense = charts_of(page(twin.open_run(folder)))["phases"]["data"][0]
    assert int(np.nansum(unpacked(dense["z"]))) == fires


def test_the_product_form_stands_beside_the_measured_tail_where_it_applies(small_page, tmp_path):
    names = {curve["name"] for curve in small_page[2]["writers"]["data"]}
    assert names == {"measured", "independent phases", "product form"}
    in_step = FLEET["jobs"][0] | {"jitter": None, "launch": {"together": "0 s"}}
    html = page(twin.open_run(run_of(tmp_path / "step", jobs=[in_step])))
    assert {curve["name"] for curve in charts_of(html)["writers"]["data"]} == {"measured", "independent phases"}
    assert "Product form (not applicable)" in Page(html).text


def test_shares_below_the_axis_stand_at_its_lower_edge_and_tell_their_value(tmp_path):
    step = FLEET["jobs"][0] | {"jitter": None, "launch": {"together": "0 s"}, "count": 12, "compute": "2000 s"}
    recording = twin.open_run(run_of(tmp_path / "run", jobs=[step], power={}))
    curve = trace(charts_of(page(recording))["writers"], "independent phases")
    told = recording.manifest["metrics"]["writers_share_at_least_independent"]

    assert min(told) < 1e-9
    assert (unpacked(curve["customdata"]) / 100.0).tolist() == pytest.approx(told, rel=1e-15)  # one rounding each way
    assert unpacked(curve["y"]).min() == pytest.approx(1e-5, rel=1e-15)
    assert curve["marker"]["symbol"][-1] == "triangle-down-open"


# The cap


def test_without_a_cap_no_number_and_no_line_speaks_of_one(tmp_path):
    html = page(twin.open_run(run_of(tmp_path / "run", power={})))
    assert "no cap" in Page(html).text.lower()
    assert "cap_binding_share" not in html
    assert "time_over_cap_s" not in html
    assert {line["name"] for line in charts_of(html)["power"]["data"]} == {"draw"}


def test_a_cap_that_is_not_enforced_is_drawn_and_said_not_to_be(tmp_path):
    power = {"cap": "3.2 kW", "controller": {"policy": "none"}}
    html = page(twin.open_run(run_of(tmp_path / "run", power=power)))
    assert "cap not enforced" in Page(html).text
    assert {line["name"] for line in charts_of(html)["power"]["data"]} == {"draw", "cap", "above the cap"}
    assert "time over the cap" in Page(html).text


# The meter


@pytest.mark.parametrize("controller", [{"policy": "anonymous"}, {"policy": "lagged", "tau": "7 s"}])
def test_what_a_meter_shows_is_drawn_beside_the_draw_with_its_highest_reading(tmp_path, monkeypatch, controller):
    folder = run_of(tmp_path / "run", power=FLEET["power"] | {"controller": controller})
    recording = twin.open_run(folder)
    html = page(recording, meter_s=60.0)
    line = trace(charts_of(html)["power"], "what the meter shows")
    end_s = recording.manifest["simulated_end_s"]
    assert np.diff(unpacked(line["x"]))[:-1] * 60.0 == pytest.approx(60.0, rel=1e-9)  # the end cuts the last one
    assert unpacked(line["x"])[-1] * 60.0 == pytest.approx(end_s, rel=1e-15)
    widths_s = np.diff(unpacked(line["x"])) * 60.0
    energy_j = float((unpacked(line["y"])[:-1] * 1e3 * widths_s).sum())
    assert energy_j == pytest.approx(recording.manifest["metrics"]["energy_j"], rel=1e-9)  # a sum in another order
    read = Page(html)
    assert "Orange is what a meter shows that takes the mean over every 60 s." in read.text
    (highest,) = [
        (on_page, float(queried))
        for _, label, on_page, queried in found_again(folder, read, monkeypatch)
        if label == "what the meter shows, at most"
    ]
    assert highest[0] == pytest.approx(highest[1], rel=1e-12)
    assert highest[0] < recording.manifest["metrics"]["peak_power_w"] * (1.0 + 1e-9)


def test_without_a_meter_the_page_speaks_of_none(small_page):
    assert "meter shows" not in Page(small_page[1]).text
    assert "what the meter shows" not in {line["name"] for line in small_page[2]["power"]["data"]}


# Many jobs


def test_the_headline_of_jobs_that_come_and_go_is_work_done_and_delay_and_not_goodput(tmp_path):
    html = page(twin.open_run(replay_of(tmp_path / "run")))
    tiles = re.findall(r'<div class="tile".*?<span>(.*?)</span>', html)
    assert tiles[:2] == ["full-speed work done", "job stretch mean"]
    assert "goodput" not in tiles


def test_more_jobs_than_rows_are_said_to_be_left_out_and_the_longest_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(job_sections, "_ROWS_AT_MOST", 5)
    folder = replay_of(tmp_path / "run")
    html = page(twin.open_run(folder))
    read = Page(html)
    assert "The 5 jobs that stayed longest are drawn; 7 are not." in read.text
    assert len(charts_of(html)["timeline"]["data"][0]["y"]) == 5
    for section, label, on_page, queried in found_again(folder, read, monkeypatch):
        assert on_page == pytest.approx(float(queried), rel=1e-9, abs=1e-12), (section, label)


def test_rows_of_the_timeline_are_in_the_order_of_launch(tmp_path):
    folder = replay_of(tmp_path / "run")
    rows = charts_of(page(twin.open_run(folder)))["timeline"]["data"][0]["y"]
    jobs = twin.open_run(folder).frame("jobs").sort_values("launch_s")
    assert rows == [escape(name) for name in jobs["name"]]


def test_where_many_jobs_are_present_the_worst_moment_shows_those_that_write(tmp_path, monkeypatch):
    monkeypatch.setattr(job_sections, "_WINDOW_ROWS", 2)
    html = page(twin.open_run(run_of(tmp_path / "run")))
    figure = charts_of(html)["worst-moment"]
    assert set(trace(figure, "computing")["y"]) == set(trace(figure, "writing")["y"])
    assert "Only jobs that write in it are drawn" in Page(html).text


# The document


def test_text_of_the_user_is_text(tmp_path):
    question = '<script>alert(1)</script> & "quotes" </script><!--'
    html = page(twin.open_run(run_of(tmp_path / "run", question=question, answer="<img src=x onerror=alert(2)>")))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert question in Page(html).text


def test_names_of_jobs_are_text_in_charts_too(tmp_path):
    charts = charts_of(page(twin.open_run(replay_of(tmp_path / "run"))))
    assert charts["timeline"]["data"][0]["y"][0] == "&lt;b&gt;bold&lt;/b&gt;"


def test_the_page_names_no_address_to_load_from(small_page):
    html = re.sub(r"<script>.*?</script>", "", small_page[1], flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", html)
    assert "url(" not in html
    assert "connect-src" not in html
    assert "default-src 'none'" in html


def test_the_same_run_gives_the_same_page(small_page):
    folder, html, _ = small_page
    assert page(twin.open_run(folder)) == html


def test_a_run_in_memory_has_the_page_it_has_on_disk(small_page):
    assert page(twin.simulate(twin.load(FLEET))) == small_page[1]


def test_the_page_tells_verdicts_warnings_defaults_promises_and_the_log(tmp_path):
    folder = replay_of(tmp_path / "run", fleet={"nodes": 3})
    manifest, text = twin.open_run(folder).manifest, Page(page(twin.open_run(folder))).text
    assert manifest["warnings"][0] in text
    for default in manifest["defaults"]:
        assert default["key"] in text
        assert default["source"] in text
    for promise in manifest["assumptions"]["promises"].values():
        assert promise["why"] in text
    assert manifest["import_report"]["sha256"] in text
    assert manifest["scenario_hash"] in text


def test_the_scenario_on_the_page_gives_the_same_run_again(small_page):
    import yaml

    folder, html, _ = small_page
    shown = re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)[-1]
    text = Page(f"<section id='x'><p>{shown}</p></section>").text
    again = twin.load(yaml.safe_load(text))
    assert twin.simulate(again).manifest["scenario_hash"] == twin.open_run(folder).manifest["scenario_hash"]


def test_figures_have_only_keys_that_plotly_knows(reported):
    import plotly.graph_objects as go

    for figure in charts_of(reported[1]).values():
        go.Figure(figure)  # raises ValueError for any other


def test_a_manifest_without_what_a_page_needs_is_a_fault_of_the_run(tmp_path):
    recording = twin.open_run(run_of(tmp_path / "run"))
    rest = {key: value for key, value in recording.manifest.items() if key != "metrics"}
    with pytest.raises(RunDirectoryError, match="has no `metrics`"):
        page(Recording(rest, recording.sources))


def test_a_run_of_a_version_without_estimate_still_has_its_page(tmp_path):
    folder: Path = run_of(tmp_path / "run")
    manifest = json.loads((folder / "run.json").read_text())
    del manifest["estimate"]
    (folder / "run.json").write_text(json.dumps(manifest))
    assert "The run has no product form." in page(twin.open_run(folder))

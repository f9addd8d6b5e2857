"""``twin compare``: the same luck for every variant, exact ties, known effects, equal risk."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

import twin
from tests.planning_cases import rows, scenario
from twin import planning
from twin.analysis.intervals import interval
from twin.io.study_directory import open_study


def compare(tmp_path, document, **options):
    return planning.compare(document, tmp_path / "study", **{"replicas": 4, "processes": 0, "only": True} | options)


def test_two_identical_variants_differ_by_exactly_nothing_in_every_number(tmp_path):
    study = compare(tmp_path, scenario(variants={"a": {}, "b": {}, "c": {"power.cap": "210 kW"}}))
    table = study.table.to_pandas()
    others = table[table.variant != "a"]

    assert set(table.variant) == {"a", "b", "c"}
    assert len(others) > 100
    assert set(others.verdict) == {"tie"}
    assert (others[["difference", "difference_low", "difference_high"]] == 0.0).all(axis=None)


def test_every_variant_meets_the_same_jitter_and_launches(tmp_path):
    policies = {
        "delayed": {"power.controller": {"policy": "delayed"}},
        "none": {"power.controller": {"policy": "none"}},
    }
    study = compare(tmp_path, scenario(variants=policies))
    launches = {name: run.frame("jobs").launch_s.tolist() for name, run in study.traces.items()}
    work_s = {
        name: run.frame("checkpoints").groupby("job_id").cycle.count().sum() for name, run in study.traces.items()
    }

    assert launches["baseline"] == launches["delayed"] == launches["none"]
    assert set(work_s.values()) == {48}
    done = {variant: rows(study)[variant, "mean_work_s", ""]["mean"] for variant in launches}
    assert done["delayed"] == pytest.approx(done["baseline"], rel=0.01)


def test_replicas_are_independent_and_are_those_of_run_and_measure(tmp_path):
    document = scenario(variants={"none": {"power.controller": {"policy": "none"}}})
    study = compare(tmp_path, document)
    values = study.replicas.to_pandas().query("variant == 'none' and metric == 'goodput'").value.tolist()
    loaded = twin.load(document, variant="none")

    assert len(set(values)) == 4
    assert values == [twin.measure(loaded, replica)["goodput"] for replica in range(4)]
    assert study.traces["none"].manifest["metrics"]["goodput"] == values[0]


def test_an_effect_of_known_size_is_covered(tmp_path):
    """A store twice as fast, for jobs that never meet: each checkpoint takes half of its lone 45 s less."""
    jobs = scenario()["jobs"]
    jobs[0] |= {"launch": {"every": "150 s"}, "jitter": {"law": "normal", "sigma": "1 s"}}
    study = compare(tmp_path, scenario(jobs=jobs, variants={"fast": {"storage.bandwidth": "40 GB/s"}}), replicas=8)
    found = rows(study)["fast", "checkpoint_duration_mean_s", ""]

    assert rows(study)["fast", "peak_writers", ""]["mean"] == 1
    assert found["difference"] == pytest.approx(-22.5, rel=1e-9)
    assert found["difference_low"] - 1e-9 <= -22.5 <= found["difference_high"] + 1e-9
    assert found["verdict"] == "lower"


def test_the_interval_covers_the_known_truth_of_a_toy_in_92_to_98_of_100_studies():
    """A lone job, whose work in five cycles is 500 s but for its jitter: 400 studies of five replicas each."""
    jobs = [
        {
            "name": "lone",
            "compute": "100 s",
            "jitter": {"law": "normal", "sigma": "10 s"},
            "checkpoint": {"size": 1e3},
            "launch": {"at": [0]},
        }
    ]
    toy = twin.load({"twin": 1, "name": "toy", "stop": {"cycles": 5}, "jobs": jobs, "seed": 11})
    work_s = np.array([twin.measure(toy, replica)["mean_work_s"] for replica in range(2000)])
    covered = sum(found.low <= 500.0 <= found.high for found in map(interval, work_s.reshape(400, 5).tolist()))

    assert 0.92 * 400 <= covered <= 0.98 * 400


def test_an_idealised_baseline_gets_a_realistic_variant_beside_it_unless_only_those_given_are_asked_for(tmp_path):
    document = scenario(variants={"none": {"power.controller": {"policy": "none"}}})
    study = compare(tmp_path, document, only=False)

    assert study.manifest["added"] == "delayed"
    assert [variant["name"] for variant in study.manifest["variants"]] == ["baseline", "none", "delayed"]
    assert study.manifest["variants"][2]["scenario"]["power"]["controller"] == {"policy": "delayed", "delay": 2.0}
    assert compare(tmp_path / "only", document).manifest["added"] is None


@pytest.mark.parametrize(
    "power", [{"cap": "210 kW", "controller": {"policy": "sampled"}}, {}], ids=["realistic already", "no cap"]
)
def test_no_variant_is_added_to_a_baseline_that_is_not_idealised(tmp_path, power):
    document = scenario(power=power, variants={"slow-store": {"storage.bandwidth": "10 GB/s"}})

    assert compare(tmp_path, document, only=False).manifest["added"] is None


def test_varied_values_are_compared_with_the_first_of_them(tmp_path):
    study = compare(tmp_path, scenario(), vary=["power.controller=[anonymous, {policy: delayed, delay: 9 s}, sampled]"])

    assert study.manifest["baseline"] == "anonymous"
    assert [v["name"] for v in study.manifest["variants"]] == ["anonymous", "delayed, delay 9 s", "sampled"]
    assert study.manifest["variants"][1]["scenario"]["power"]["controller"]["delay"] == 9.0


def test_several_varied_keys_are_combined(tmp_path):
    study = compare(
        tmp_path, scenario(), vary=["power.cap=[200 kW, 220 kW]", "storage.bandwidth=[20GB/s, 10GB/s]"], replicas=1
    )

    assert [v["name"] for v in study.manifest["variants"]] == [
        f"cap {cap}, bandwidth {rate}" for cap in ("200 kW", "220 kW") for rate in ("20GB/s", "10GB/s")
    ]


def test_goodput_is_never_shown_without_time_and_energy_over_the_cap(tmp_path, run):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(scenario(variants={"none": {"power.controller": {"policy": "none"}}})))
    code, out, _ = run(
        "compare", str(path), "--metric", "goodput", "--replicas", "2", "--workers", "0", "--out", str(tmp_path / "c")
    )

    assert code == 0
    assert [title in out for title in ("\ngoodput\n", "\ntime over the cap\n", "\nenergy over the cap\n")] == [True] * 3
    assert "paired" not in out or "replicas: 2" in out


def test_matched_variants_run_the_risk_asked_for_against_the_cap_of_the_scenario(tmp_path):
    document = scenario(
        stop={"cycles": 40},
        variants={
            "delayed": {"power.controller": {"policy": "delayed", "delay": "20 s"}},
            "lagged": {"power.controller": {"policy": "lagged", "tau": "20 s"}},
            "none": {"power.controller": {"policy": "none"}},
        },
    )
    study = compare(tmp_path, document, match=planning.risk("over_cap_s=300"))
    told = {variant["name"]: variant for variant in study.manifest["variants"]}

    for name, variant in told.items():
        risk_s = rows(study)[name, "time_over_cap_s", ""]["mean"]
        assert variant["match"]["risk"] == pytest.approx(risk_s, rel=1e-12)
        if variant["match"]["outcome"] == "met":
            assert risk_s == pytest.approx(300.0, rel=0.02)
        elif variant["match"]["outcome"] == "below":
            assert risk_s <= 306.0
    assert told["none"]["match"]["outcome"] == "untuned"
    assert told["lagged"]["match"]["outcome"] == "met"
    for name in ("delayed", "lagged"):
        assert told[name]["scenario"]["power"]["limit"] == 210e3
        assert told[name]["scenario"]["power"]["cap"] < 210e3


def test_a_replica_alone_gives_no_interval_and_says_so(tmp_path):
    study = compare(tmp_path, scenario(variants={"none": {"power.controller": {"policy": "none"}}}), replicas=1)
    found = rows(study)["none", "goodput", ""]

    assert (found["n"], found["low"], found["verdict"]) == (1, None, "unknown")


def test_a_study_is_read_back_as_it_was_written(tmp_path):
    study = compare(tmp_path, scenario(variants={"none": {"power.controller": {"policy": "none"}}}))
    again = open_study(tmp_path / "study")

    assert again.manifest == study.manifest
    assert again.table.equals(pq.read_table(tmp_path / "study" / "comparison.parquet"))
    assert {path.name for path in (tmp_path / "study").iterdir()} == {
        "study.json",
        "comparison.parquet",
        "replicas.parquet",
        "traces",
    }


def test_the_same_study_is_the_same_to_the_last_bit_with_worker_processes_and_without(tmp_path):
    document = scenario(variants={"none": {"power.controller": {"policy": "none"}}})
    alone = compare(tmp_path / "alone", document, traces=False)
    together = compare(tmp_path / "together", document, traces=False, processes=2)

    assert alone.table.equals(together.table)
    assert alone.replicas.equals(together.replicas)


def test_json_is_one_document_with_the_rows(tmp_path, run):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(scenario(variants={"none": {"power.controller": {"policy": "none"}}})))
    code, out, _ = run(
        "compare", str(path), "--replicas", "2", "--workers", "0", "--json", "--no-traces", "--out", str(tmp_path / "c")
    )
    found = json.loads(out)

    assert code == 0
    assert found["baseline"] == "baseline"
    assert {row["variant"] for row in found["comparison"]} == {"baseline", "none", "delayed"}


FAULTS = {
    "nothing to compare": (scenario(), [], "variants: the scenario names none"),
    "unknown baseline": (scenario(variants={"none": {}}), ["--baseline", "nune"], "did you mean 'none'"),
    "unknown metric": (scenario(variants={"none": {}}), ["--metric", "godput"], "did you mean goodput"),
    "metric of several numbers": (scenario(variants={"none": {}}), ["--metric", "energy_by_feeder_j"], "single number"),
    "vary without a list": (scenario(), ["--vary", "power.cap=12MW"], "must set a list of values"),
    "vary without a value": (scenario(), ["--vary", "power.cap"], "KEY=[VALUE, ...]"),
    "vary twice": (scenario(), ["--vary", "power.cap=[1MW]", "--vary", "power.cap=[2MW]"], "given twice"),
    "vary an unknown key": (scenario(), ["--vary", "power.cup=[1MW, 2MW]"], "power.cup"),
    "vary to a wrong unit": (scenario(), ["--vary", "power.cap=[1MW, 2GB]"], "has the unit 'GB'"),
    "match what is no metric": (scenario(variants={"a": {}}), ["--match", "over_cup_s=60"], "no summary number"),
    "match without a value": (scenario(variants={"a": {}}), ["--match", "over_cap_s"], "METRIC=VALUE"),
    "match a wrong unit": (scenario(variants={"a": {}}), ["--match", "over_cap_s=60 W"], "has the unit 'W'"),
    "match less than nothing": (scenario(variants={"a": {}}), ["--match", "over_cap_s=-1"], "at least 0"),
    "match without a cap": (
        scenario(power={}, variants={"a": {}}),
        ["--match", "over_cap_s=1"],
        "power.cap: is missing",
    ),
    "no replicas": (scenario(variants={"a": {}}), ["--replicas", "0"], "--replicas"),
}


@pytest.mark.parametrize(("document", "options", "words"), FAULTS.values(), ids=FAULTS)
def test_bad_input_ends_with_one_message_and_leaves_nothing(tmp_path, run, document, options, words):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document))
    code, out, err = run("compare", str(path), "--workers", "0", "--out", str(tmp_path / "c"), *options)

    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [path]

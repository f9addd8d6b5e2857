"""The launch schedule that comes with the project is the one its script makes, and holds what its README says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def launches() -> pd.DataFrame:
    return pd.read_csv(DATA / "launches.csv")


def test_the_script_makes_the_file_byte_for_byte() -> None:
    made = subprocess.run([sys.executable, DATA / "make_launches.py"], capture_output=True, check=True)

    assert made.stdout == (DATA / "launches.csv").read_bytes()


def test_it_spans_thirty_days_and_sizes_from_1_to_1024_gpus(launches: pd.DataFrame) -> None:
    assert launches["submit_s"].between(0, 30 * 86400).all()
    assert launches["submit_s"].max() > 29 * 86400
    assert (launches["gpus"].min(), launches["gpus"].max()) == (1, 1024)
    assert (launches["nodes"] == -(-launches["gpus"] // 8)).all()


def test_arrivals_are_burstier_than_a_poisson_stream(launches: pd.DataFrame) -> None:
    gaps = launches["submit_s"].diff().dropna()

    assert gaps.std() > 1.5 * gaps.mean()  # 1 for a Poisson stream, 2.05 counted on the Kalos log


def test_the_heaviest_tenth_of_the_jobs_does_most_of_the_work(launches: pd.DataFrame) -> None:
    work = (launches["work_s"] * launches["gpus"]).sort_values(ascending=False)

    assert work.head(len(work) // 10).sum() > 0.8 * work.sum()


def test_attempts_are_sent_again_after_the_one_before(launches: pd.DataFrame) -> None:
    attempts = launches.assign(job=launches["job_id"].str.split(".").str[0]).sort_values(["job", "submit_s"])
    again = attempts["job_id"].str.contains(".", regex=False)
    ended_s = (attempts["submit_s"] + attempts["work_s"]).shift()

    assert again.sum() > 200
    assert (attempts["submit_s"][again] >= ended_s[again]).all()
    assert (attempts["gpus"][again] == attempts["gpus"].shift()[again]).all()

"""Each metric says what it is, and in which unit."""

from __future__ import annotations

import pytest

from twin.analysis.metrics import METRICS, metric_named
from twin.errors import TwinError

UNIT_SUFFIXES = {"s": "_s", "W": "_w", "J": "_j", "B": "_b", "W/s": "_w_s"}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_with_a_unit_carries_it_in_its_name(metric):
    assert metric.unit == "1" or metric.name.endswith(UNIT_SUFFIXES[metric.unit])


def test_no_two_metrics_share_a_label():
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)


def test_every_definition_is_a_sentence():
    assert [metric.name for metric in METRICS.values() if not metric.definition.endswith(".")] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("goodput", "goodput"),
        ("over_cap_s", "time_over_cap_s"),
        (" energy_j ", "energy_j"),
        ("over_cap_j", "energy_over_cap_j"),
    ],
)
def test_a_metric_is_found_by_its_name_or_by_an_end_that_only_it_has(text, name):
    assert metric_named(text).name == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("godput", "did you mean goodput"),
        ("", "twin explain metrics"),
        ("power_w", "mean_power_w or peak_power_w or min_power_w"),
        ("x" * 10_000, "no summary number"),
    ],
)
def test_a_name_of_no_metric_is_refused_with_what_was_meant(text, words):
    with pytest.raises(TwinError, match=words):
        metric_named(text)


@pytest.mark.parametrize("text", ["energy_by_feeder_j", "writers_share_at_least"])
def test_a_metric_of_several_numbers_is_no_single_one(text):
    with pytest.raises(TwinError, match="several numbers"):
        metric_named(text)

"""Each metric says what it is, and in which unit."""

from __future__ import annotations

import pytest

from twin.analysis.metrics import METRICS

UNIT_SUFFIXES = {"s": "_s", "W": "_w", "J": "_j", "B": "_b", "W/s": "_w_s"}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_with_a_unit_carries_it_in_its_name(metric):
    assert metric.unit == "1" or metric.name.endswith(UNIT_SUFFIXES[metric.unit])


def test_no_two_metrics_share_a_label():
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)


def test_every_definition_is_a_sentence():
    assert [metric.name for metric in METRICS.values() if not metric.definition.endswith(".")] == []

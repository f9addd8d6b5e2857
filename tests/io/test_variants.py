"""A variant is the scenario with its values set, on top of which comes what is set from outside."""

from __future__ import annotations

import pytest

import twin
from tests.io.small_scenario import BASE, only_fault
from twin.scenario import resolved, scenario_hash

VARIANTS = """\
variants:
  as-it-is: {}
  late: {power.controller: {policy: delayed, delay: 4 s}, power.cap: 9 MW}
  large: {jobs.llm.nodes: 96}
"""


@pytest.fixture
def varied(base):
    base.write_text(BASE + VARIANTS)
    return base


def test_a_scenario_names_its_variants_in_the_order_of_the_file(varied):
    assert list(twin.load(varied).variants) == ["as-it-is", "late", "large"]


def test_a_variant_sets_values_by_their_keys(varied):
    late = twin.load(varied, variant="late")

    assert (late.power.controller.policy, late.power.controller.delay_s, late.power.cap) == ("delayed", 4.0, 9e6)
    assert twin.load(varied, variant="large").jobs[0].nodes == 96


def test_a_variant_without_values_is_the_scenario(varied):
    assert resolved(twin.load(varied, variant="as-it-is")) == resolved(twin.load(varied))


def test_variants_leave_the_hash_of_the_scenario(base, varied):
    with_variants = scenario_hash(twin.load(varied))
    base.write_text(BASE)

    assert scenario_hash(twin.load(base)) == with_variants


def test_what_is_set_from_outside_comes_last(varied):
    found = twin.load(varied, ["power.cap=3 MW"], variant="late")

    assert (found.power.cap, found.power.controller.delay_s) == (3e6, 4.0)


def test_a_run_of_a_variant_tells_what_was_set(varied):
    run = twin.simulate(twin.load(varied, variant="large"))

    assert run.manifest["overrides"] == [{"key": "jobs[0].nodes", "value": 96, "unit": ""}]


def test_a_fault_of_a_variant_is_found_without_asking_for_it(varied):
    varied.write_text(varied.read_text().replace("nodes: 96", "nodes: -1"))

    fault = only_fault(varied)

    line = varied.read_text().splitlines().index("  large: {jobs.llm.nodes: -1}") + 1
    assert fault.where.startswith(f"{varied}:{line}:")
    assert fault.where.endswith(", variant large")
    assert (fault.key, fault.value) == ("jobs[0].nodes", "-1")


def test_a_fault_between_values_names_the_variant_that_makes_it(varied):
    varied.write_text(varied.read_text().replace("power.cap: 9 MW", "power.cap: 1 W"))

    fault = only_fault(varied)

    assert "variant late" in fault.where
    assert fault.key == "power.cap"


def test_an_unknown_variant_is_refused_with_those_there_are(varied):
    with pytest.raises(twin.ScenarioError, match="--variant: 'lat' names no variant; there are as-it-is, late, large"):
        twin.load(varied, variant="lat")

"""What to run: the models of a scenario, the rules between their values, and where its defaults come from."""

from twin.scenario.feeder_loads import FeederLoad, feeder_loads, nodes_below, path_up, sections
from twin.scenario.fields import LEAST, MAX_NODES, MAX_TIME_S
from twin.scenario.job_groups import Checkpoint, Jitter, JobGroup, Launch, NodePower, WallClock
from twin.scenario.launch_log import PROFILES, Profile, Replay
from twin.scenario.models import Failures, FleetSize, Scenario, Stop, Storage, time_of_day_s
from twin.scenario.origins import defaulted, hash_of, resolved, scenario_hash
from twin.scenario.placement import ROOT, feeders_named, places_of
from twin.scenario.placement_rules import cap_faults
from twin.scenario.power import (
    POLICIES,
    ByPolicy,
    Cap,
    CapStep,
    Controller,
    DailyCap,
    FeederSection,
    Power,
    lowest_cap,
    steps_of,
)

__all__ = [
    "LEAST",
    "MAX_NODES",
    "MAX_TIME_S",
    "POLICIES",
    "PROFILES",
    "ROOT",
    "ByPolicy",
    "Cap",
    "CapStep",
    "Checkpoint",
    "Controller",
    "DailyCap",
    "Failures",
    "FeederLoad",
    "FeederSection",
    "FleetSize",
    "Jitter",
    "JobGroup",
    "Launch",
    "NodePower",
    "Power",
    "Profile",
    "Replay",
    "Scenario",
    "Stop",
    "Storage",
    "WallClock",
    "cap_faults",
    "defaulted",
    "feeder_loads",
    "feeders_named",
    "hash_of",
    "lowest_cap",
    "nodes_below",
    "path_up",
    "places_of",
    "resolved",
    "scenario_hash",
    "sections",
    "steps_of",
    "time_of_day_s",
]

"""What to run: the models of a scenario, the rules between their values, and where its defaults come from."""

from twin.scenario.fields import LEAST, MAX_NODES, MAX_TIME_S
from twin.scenario.job_groups import Checkpoint, Jitter, JobGroup, Launch, NodePower, WallClock
from twin.scenario.launch_log import PROFILES, Profile, Replay
from twin.scenario.models import (
    POLICIES,
    Controller,
    Failures,
    FleetSize,
    Power,
    Scenario,
    Stop,
    Storage,
)
from twin.scenario.origins import defaulted, hash_of, resolved, scenario_hash
from twin.scenario.rules import cap_faults

__all__ = [
    "LEAST",
    "MAX_NODES",
    "MAX_TIME_S",
    "POLICIES",
    "PROFILES",
    "Checkpoint",
    "Controller",
    "Failures",
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
    "hash_of",
    "resolved",
    "scenario_hash",
]

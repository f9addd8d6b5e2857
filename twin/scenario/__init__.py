"""What to run: the models of a scenario, the rules between their values, and where its defaults come from."""

from twin.scenario.fields import LEAST, MAX_NODES, MAX_TIME_S
from twin.scenario.models import (
    POLICIES,
    PROFILES,
    Checkpoint,
    Controller,
    Failures,
    FleetSize,
    Jitter,
    JobGroup,
    Launch,
    NodePower,
    Power,
    Profile,
    Replay,
    Scenario,
    Stop,
    Storage,
    WallClock,
)
from twin.scenario.origins import defaulted, resolved, scenario_hash
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
    "resolved",
    "scenario_hash",
]

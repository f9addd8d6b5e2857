"""The fleet of the yardstick as a scenario: one store of 1 B/s, nodes of 1 W, a cap of 0.9 N W."""

from __future__ import annotations

import yardstick

from twin.scenario import Scenario


def scenario(jobs: int, until_s: float, controller: dict[str, object] | None = None) -> Scenario:
    """N jobs, the same work, rates, launches and end as in ``yardstick.run``, by default under anonymous control."""
    return Scenario.model_validate(
        {
            "twin": 1,
            "name": f"reference-{jobs}",
            "stop": {"time": until_s},
            "jobs": [
                {
                    "name": "job",
                    "count": jobs,
                    "compute": yardstick.COMPUTE_S,
                    "checkpoint": {"size": yardstick.write_s(jobs)},
                    "power": {"compute": 1.0, "idle": 0.0, "write": 0.0, "exponent": 1.0},
                    "launch": {"at": yardstick.launches_s(jobs)},
                }
            ],
            "storage": {"bandwidth": 1.0},
            "power": {"cap": yardstick.CAP_SHARE * jobs, "controller": controller or {"policy": "anonymous"}},
        }
    )

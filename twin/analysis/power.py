"""Energy, peaks, steps, ramps and the cap, of the root feeder."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from twin.analysis.blocks import blocks, of_feeder
from twin.analysis.metrics import Value
from twin.analysis.quantiles import time_quantiles
from twin.analysis.step_functions import Steps, largest_ramp, steps
from twin.recording import ROOT, Recording

_ROUNDING = 1e-9  # a draw that the control holds at the cap may miss it by this share


def power_metrics(recording: Recording, cap_w: float | None, end_s: float) -> dict[str, Value]:
    """The power metrics of a run of ``end_s`` > 0 seconds; ``cap_w`` is the root's cap, None without one."""

    def draws() -> Iterator[Steps]:
        return _steps(recording, ["draw_w"], end_s)

    over_w = inf if cap_w is None else cap_w * (1.0 + _ROUNDING)
    peak_w, min_w, step_w, last_w, energy_j, bound_s, over_s = 0.0, inf, 0.0, None, 0.0, 0.0, 0.0
    for step in _steps(recording, ["demand_w", "draw_w", "speed"], end_s):
        draw_w, hold_s = step.values["draw_w"], step.hold_s
        peak_w = max(peak_w, float(draw_w.max(where=hold_s > 0.0, initial=0.0)))
        min_w = min(min_w, float(draw_w.min(where=hold_s > 0.0, initial=inf)))
        before_w = draw_w[0] if last_w is None else last_w
        step_w = max(step_w, float(np.abs(np.diff(draw_w, prepend=before_w)).max()))
        last_w = float(draw_w[-1])
        energy_j += float((draw_w * hold_s).sum())
        bound_s += float(hold_s[(step.values["speed"] < 1.0) & (draw_w < step.values["demand_w"])].sum())
        over_s += float(hold_s[draw_w > over_w].sum())
    if last_w is None:
        return {}
    (p99_w,) = time_quantiles(lambda: ((step.values["draw_w"], step.hold_s) for step in draws()), (0.99,)) or (None,)
    return {
        "energy_j": energy_j,
        "mean_power_w": energy_j / end_s,
        "peak_power_w": peak_w,
        "power_p99_w": p99_w,
        "min_power_w": min_w,
        "load_factor": energy_j / end_s / peak_w if peak_w > 0.0 else None,
        "largest_step_w": step_w,
        **{f"ramp_{w}s_w_s": largest_ramp(draws, "draw_w", float(w), end_s) for w in (1, 10, 60)},
        "cap_binding_share": bound_s / end_s,
        "time_over_cap_s": over_s,
    }


def _steps(recording: Recording, columns: list[str], end_s: float) -> Iterator[Steps]:
    batches = of_feeder(recording.batches("power", ["feeder", "time_s", *columns]), ROOT)
    return steps(blocks(batches, ["time_s", *columns]), end_s)

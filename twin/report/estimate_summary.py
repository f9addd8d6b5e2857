"""An estimate -> its lines for people: the verdict, the numbers, and the fleet by the number of jobs writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from twin.report.run_summary import Line, metric_sections
from twin.units import DAY_S, scaled

_SHOWN = 1e-6  # states rarer than this are not worth a line
_WIDTH = 12


def estimate_summary(estimate: Mapping[str, Any]) -> dict[str, list[Line]]:
    """The lines of each section by its title, in the order of reading.

    Args:
        estimate: as ``Estimate.as_dict`` gives it, or as the manifest of a run holds it.
    """
    sections = {"Product form": [Line(estimate["verdict"], estimate["because"])]}
    fleet = metric_sections(estimate["fleet"], {})
    sections["Without contention"] = [line for lines in reversed(fleet.values()) for line in lines]
    if estimate["product_form"] is not None:
        sections |= _form_sections(estimate["product_form"], estimate["fleet"])
    for window in estimate["windows"]:
        sections |= _window_sections(window)
    return sections


def _form_sections(form: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, list[Line]]:
    metrics = {name: value for name, value in form["metrics"].items() if name not in told}
    return metric_sections(metrics, {}) | {"By number of jobs writing": list(_states(form["states"]))}


def _window_sections(window: Mapping[str, Any]) -> dict[str, list[Line]]:
    title = f"Day {window['start_s'] / DAY_S:.2f}, {scaled(window['end_s'] - window['start_s'], 's')}"
    if window["product_form"] is None:
        return {title: [Line("jobs", f"{window['jobs']:,}"), Line("not applicable", window["because"])]}
    sections = metric_sections(window["product_form"]["metrics"], {})
    return {title: [line for lines in reversed(sections.values()) for line in lines]}


def _states(states: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    yield Line("writing", _columns("time", "store", "speed", "draw"))
    for state in states:
        if state["share"] >= _SHOWN:
            speed = "-" if state["speed"] is None else f"{state['speed']:.4g}"
            draw = "-" if state["draw_w"] is None else scaled(state["draw_w"], "W")
            share = f"{100.0 * state['share']:.4g} %"
            yield Line(f"{state['writers']}", _columns(share, scaled(state["store_b_s"], "B/s"), speed, draw))


def _columns(*texts: str) -> str:
    return "".join(f"{text:>{_WIDTH}}" for text in texts)

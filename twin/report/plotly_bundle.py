"""The JavaScript of plotly for a page that draws a few kinds of traces: it starts three times as fast."""

from __future__ import annotations

import re

from plotly.offline import get_plotlyjs

TRACES = ("scatter", "bar", "heatmap")  # all that the charts of the page are made of
_CORE = "scatter"  # never registered: plotly always has it

_NAME = r"[\w$]+"
_REGISTERED = re.compile(rf"\.register\(\[((?:{_NAME}\(\),)+{_NAME}\(\))\]\)")
_HANDS_OUT = re.compile(rf"{_NAME}\(\({_NAME},{_NAME}\)=>\{{[^{{}}]*\.exports=({_NAME})\(\)")
_KIND = re.compile(r'moduleType:"trace",name:"(\w+)"')
_DEFINITION = 3000  # characters at most, in which a trace says its name


def trimmed(script: str) -> str:
    """The script of plotly with only ``TRACES`` registered; as it is if it is not written as expected.

    Registering a kind runs its module and all that it needs, among them a map engine and a 3D engine; modules that
    nobody asks for stay text. Which entry of the list is which kind is read from the modules, never from their order.
    """
    found = max(_REGISTERED.finditer(script), key=lambda match: len(match[1]), default=None)
    if found is None:
        return script
    wanted = {kind: "" for kind in TRACES if kind != _CORE}
    for call in found[1].split(","):
        kind = _kind_of(call.removesuffix("()"), script)
        if kind in wanted:
            wanted[kind] = call
            if all(wanted.values()):
                return f"{script[: found.start(1)]}{','.join(wanted.values())}{script[found.end(1) :]}"
    return script


def plotly_script() -> str:
    """The script of the installed plotly, trimmed."""
    return trimmed(get_plotlyjs())


def _kind_of(loader: str, script: str) -> str | None:
    """The kind of trace that a loader loads: it hands out another module, which says its name."""
    target = _HANDS_OUT.match(script, _value_of(loader, script))
    if target is None:
        return None
    definition = _value_of(target[1], script)
    kind = _KIND.search(script, definition, definition + _DEFINITION)
    return kind[1] if kind else None


def _value_of(name: str, script: str) -> int:
    """Where the value of a variable begins; the end of the script for one not found."""
    declaration = f"var {name}="
    at = script.find(declaration)
    return at + len(declaration) if at >= 0 else len(script)

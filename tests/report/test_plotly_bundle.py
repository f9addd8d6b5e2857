"""Of plotly's kinds of traces only those that the page draws are registered; the rest of the script stays as it is."""

from __future__ import annotations

import pytest

from twin.report.plotly_bundle import trimmed


def module(name, body):
    return f'var {name}=W((a{name},$b{name})=>{{"use strict";$b{name}.exports={body}}});'


def kind(loader, name):
    return module(f"{loader}$", f'{{moduleType:"trace",name:"{name}",meta:{{}}}}') + module(loader, f"{loader}$()")


KINDS = kind("A1", "pie") + kind("B$", "heatmap") + kind("C1", "map") + kind("D1", "bar")
SCRIPT = KINDS + "core.register([x(),y()]);all.register([A1(),B$(),C1(),D1()]);done()"


def test_the_kinds_needed_are_found_by_name_wherever_they_stand():
    assert trimmed(SCRIPT) == KINDS + "core.register([x(),y()]);all.register([D1(),B$()]);done()"


@pytest.mark.parametrize(
    "script",
    [SCRIPT.replace("heatmap", "other"), SCRIPT.replace("register", "add"), SCRIPT.replace("exports=D1$()", "x=1"), ""],
    ids=["kind missing", "no list", "loader of another form", "empty"],
)
def test_a_script_written_in_another_way_is_left_alone(script):
    assert trimmed(script) == script

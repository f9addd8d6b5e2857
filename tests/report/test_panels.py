"""Small multiples: common axes, one entry a trace in the legend, names short and different."""

from __future__ import annotations

from twin.report.panels import Panel, cut, grid, shortened

LINE = {"type": "scatter", "name": "line", "x": [0, 1], "y": [0, 1]}
DOTS = LINE | {"name": "dots"}


def drawn(shared, count=3):
    return grid([Panel(f"p{number}", [LINE, DOTS]) for number in range(count)], 100, {}, {}, shared)


def test_shared_axes_follow_the_first_and_others_do_not():
    both, across, up = (drawn(shared)["layout"] for shared in ("both", "x", "y"))
    assert (both["xaxis2"]["matches"], both["yaxis3"]["matches"]) == ("x", "y")
    assert (across["xaxis2"]["matches"], "matches" in across["yaxis2"]) == ("x", False)
    assert ("matches" in up["xaxis2"], up["yaxis2"]["matches"]) == (False, "y")
    assert "matches" not in both["xaxis"]


def test_traces_of_a_name_are_one_entry_of_the_legend():
    data = drawn("both")["data"]
    assert [trace["showlegend"] for trace in data] == [True, True, False, False, False, False]
    assert {trace["legendgroup"] for trace in data} == {"line", "dots"}
    assert [trace["xaxis"] for trace in data] == ["x", "x", "x2", "x2", "x3", "x3"]


def test_a_legend_of_one_entry_is_left_out():
    assert grid([Panel("a", [LINE])], 100, {}, {})["layout"]["showlegend"] is False


def test_a_panel_has_its_name_above_it_as_text():
    layout = grid([Panel('<b>"x"</b>', [LINE])], 100, {}, {})["layout"]
    assert [each["text"] for each in layout["annotations"]] == ['&lt;b&gt;"x"&lt;/b&gt;']


def test_long_names_keep_their_beginning_and_their_end():
    assert cut("abcdefghijkl", 12) == "abcdefghijkl"
    assert cut("abcdefghijklm", 12) == "abcdefg…jklm"
    assert len(cut("x" * 500, 34)) == 34


def test_shortened_names_stay_different():
    names = ["a" + "x" * 100 + "b", "a" + "x" * 90 + "b", "a"]
    found = shortened(names, 12)
    assert len(set(found)) == 3
    assert max(map(len, found)) <= 12


def test_a_name_cannot_turn_the_text_around_it():
    assert cut("a\u202eb\u2066c\nd") == "abcd"

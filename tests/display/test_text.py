"""Tables of text: as wide as the terminal, with no word broken and no number cut."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.display.text import Shown, Table, table_lines

pytestmark = pytest.mark.interpreted

NAMES = ("shoulder_pan_joint", "elbow_joint", "left_wrist")
TABLE = Table(
    ("joint", "torque, N m", *(f"term {k}" for k in range(12)), "what it is"),
    [(name, 12.5, *np.linspace(-1, 1, 12), "held by friction and by the stop") for name in NAMES],
    "Torques of the joints, by their causes",
)


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    lines = table_lines(TABLE, width)
    assert all(len(line) <= width for line in lines)
    assert {*" ".join(lines).split()} == {*" ".join(table_lines(TABLE, 1000)).split()}


def test_a_table_in_pieces_repeats_what_its_rows_are_about():
    lines = table_lines(TABLE, 80)
    assert sum(line.startswith("elbow_joint") for line in lines) > 1
    assert len(table_lines(TABLE, 1000)) == 1 + 1 + len(NAMES)


def test_numbers_of_a_column_share_their_decimals_and_are_aligned():
    rows = [("a", 1.0, 3), ("b", -12.25, 10), ("c", float("inf"), 1), ("d", -1e-17, 2)]
    assert table_lines(Table(("", "x", "count"), rows), 80) == [
        "        x  count",
        "a    1.00      3",
        "b  -12.25     10",
        "c     inf      1",
        "d    0.00      2",
    ]


def test_small_and_large_columns_have_exponents():
    assert [line.split()[-1] for line in table_lines(Table(("x",), [(1.88e-6,), (2.5e-7,)]), 80)[1:]] == [
        "1.88e-06",
        "2.5e-07",
    ]
    assert table_lines(Table(("x",), [(1.25e9,)]), 80)[1] == "1.25e+09"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_vectors_are_not_broken(width):
    rows = [(name, "(0, 0, 1)", "(0.00443333, 0.00443333, 0.0072)", "(of the base, too)") for name in NAMES]
    lines = table_lines(Table(("link", "axis", "inertia", "what it is"), rows), width)
    assert all(len(line) <= max(width, 20 + 32) for line in lines)
    assert sum("(0, 0, 1)" in line for line in lines) == len(NAMES)
    assert sum("(0.00443333, 0.00443333, 0.0072)" in line for line in lines) == len(NAMES)


def test_what_commands_a_terminal_is_shown_as_an_escape():
    assert "\x1b" not in "\n".join(table_lines(Table(("\x1b[2J",), [("\x1b[31m",)]), 80))


class Result(Shown):
    def _view(self):
        yield "3 of 100 rows, which is a sentence that goes on for longer than a narrow terminal is wide"
        yield Table(("row", "x"), [(k, k / 7) for k in range(100)])


@pytest.mark.parametrize("lines", ["24", "50"])
def test_a_result_at_a_prompt_fills_at_most_a_screen(monkeypatch, lines):
    monkeypatch.setenv("LINES", lines)
    monkeypatch.setenv("COLUMNS", "60")
    shown = repr(Result()).splitlines()
    assert len(shown) < int(lines)
    assert shown[-1].endswith("more lines: print(...) shows them")
    assert all(len(line) <= 60 for line in shown)
    assert str(Result()).splitlines()[-1] == "... and 40 more rows"


def test_a_notebook_shows_the_same_in_html():
    html = Result()._repr_html_()
    assert html.startswith("<div><b>3 of 100 rows")
    assert "<td" in html
    assert "0.1429" in html


def test_a_motion_and_equations_in_a_line_break_between_words_on_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    robot = cr.load("planar_2r").edit(name="an_arm_with_a_long_name")
    for shown in (robot.simulate([0.1, 0.2], duration=0.01), robot.equations()):
        lines = repr(shown).split("\n")
        assert len(lines) == 2
        assert max(map(len, lines)) <= 50
        assert lines[1].startswith("  ")
        assert robot.name in lines[0]

"""Files of text: what can be read in two ways is refused, and no row is left out without a word."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.motion.text import parse_text

pytestmark = pytest.mark.interpreted

ROWS = [f"{k * 0.01:.2f},{0.1 * k:.3f},0.2" for k in range(20)]
BODY = "\n".join(ROWS)
HEAD = "time,joint1,joint2\n"
K = np.arange(20)


def read(content):
    return parse_text(content if isinstance(content, bytes) else content.encode(), "x.csv")


def rows(make, separator=";"):
    return "\n".join(separator.join(make(k)) for k in range(20))


@pytest.mark.parametrize(
    "content",
    [
        ("# lab\n" + HEAD + BODY).encode(),
        ("# Schulter, Versuch 3 …\n" + HEAD + BODY).encode("cp1252"),  # 0x85, which is a line end to some
        ("# lab\f\f\f\n" + HEAD + BODY).encode(),
        ("# a\u2028b\u2029c\x1dd\x0be\n" + HEAD + BODY).encode(),
        ("# a\r# b\r# c\r" + HEAD + BODY).encode(),
        (HEAD + BODY).replace("\n", "\r").encode(),
        (HEAD + BODY).replace("\n", "\r\n").encode("utf-16"),
        (HEAD + "\n\n" + BODY.replace("\n", "\n\n")).encode(),
        (HEAD + "\f\n".join(ROWS)).encode(),
        ("\ufeff" + HEAD + "\u0085\n".join(ROWS) + "\n\f\n").encode(),
        (HEAD + "\n# a note, with, commas\n" + BODY).encode(),
        ("a title\nsome, facts\n" + HEAD + BODY + "\n# the end\n").encode(),
        ("# " + HEAD + BODY.replace(".100", "1D-1")).encode(),
        (HEAD.replace("\n", ",\n") + ",\n".join(ROWS) + ",").encode(),
    ],
    ids=[
        "plain", "0x85", "form feeds", "U+2028", "cr comments", "cr", "utf-16", "blank lines", "form feed in rows",
        "nel in rows", "comment below", "facts", "savetxt", "separators at the end",
    ],
)  # fmt: skip
def test_every_row_is_read_from_the_first_one_on(content):
    table = read(content)
    assert list(table.columns)[:3] == ["time", "joint1", "joint2"]
    np.testing.assert_allclose(table.columns["time"], K * 0.01)
    np.testing.assert_allclose(table.columns["joint1"], K * 0.1, atol=1e-12)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(("heading", "row"), [(1, 1), (1, 0), (0, 1), (2, 2)])
def test_separators_at_the_ends_of_lines_are_no_columns(separator, heading, row):
    body = "\n".join(line + row * "," for line in ROWS)
    content = f"{HEAD.strip()}{heading * ','}\n{body}\n".replace(",", separator)
    table = read(content)
    assert list(table.columns)[:3] == ["time", "joint1", "joint2"]
    np.testing.assert_allclose(table.columns["joint2"], np.full(20, 0.2))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_first_column_without_a_name_shifts_no_other(separator):
    content = "\n".join(["," + HEAD.strip(), *(f"{k},{line}" for k, line in enumerate(ROWS))])
    table = read(content.replace(",", separator))
    np.testing.assert_allclose(table.columns["joint1"], K * 0.1, atol=1e-12)


def test_letters_of_old_programs_at_the_end_of_a_file_are_refused_like_others():
    with pytest.raises(cr.FormatError, match=r"line 21: '0\.2°' is not a number"):
        read((HEAD + BODY + "°").encode("latin-1"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("time_ms;a;b\n" + rows(lambda k: (f"{1000 + k * 100:,}", f"0.{k + 1}1", "0.25")),
         r"numbers with commas and numbers with points, '1,000' and '0.11'"),
        ("t;a\n" + rows(lambda k: (f"{980 + 2 * k}" if k < 10 else f"1.0{k:02d}", "0,5")),
         r"'0,5' and '1.010', so that one of the marks stands between thousands"),
        ("t;a\n" + rows(lambda k: (f"1,{k:03d}", "2,500")), r"'1,000' may be 1000 or 1.000, and no other number tells"),
        ("t;a\n" + rows(lambda k: (f"1.{k:03d},5", "0,5")), r"line 2: '1.000,5' has marks between thousands"),
        ("t;a\n" + rows(lambda k: (f"1'{k:03d}", "0.5")), r"line 2: \"1'000\" has marks between thousands"),
        ("t\ta\n" + rows(lambda k: (f"1\u00a0{k:03d}", "0.5"), "\t"), r"line 2: '1.*xa0000' has marks between thousands"),
        ("t\ta\n" + rows(lambda k: (f"1,{k:03d},000", "0.5"), "\t"), r"line 2: '1,000,000' has marks between thousands"),
        ("t,a\n" + rows(lambda k: (f'"0,{k:02d}"', '"0,5"'), ","), r"line 2: '0,00' is not a number; other numbers have points"),
        ("t;a\n0,5;1,5\n" + rows(lambda k: (f"{k},5", "1,5" if k < 15 else "1.500")), r"'0,5' and '1.500'"),
        (HEAD + "0.00,ERR,0.2\n" + BODY, r"line 2: 'ERR' is not a number"),
        (HEAD + "0.00,0.1\n" + BODY, "differ in their number of columns"),
        (HEAD + "0.00,none at all\n" + BODY, r"line 2: '0.00,none at all' stands between the names of the columns and"),
        (HEAD + "t,q,q\n" + BODY, r"two columns named 'q'"),
        (HEAD + BODY + "\n0.2,1_0,3", r"line 22: '1_0' is not a number"),
        (HEAD + BODY + "\n0.2,0.1", r"line 22: 2 cells"),
        ((HEAD + BODY).encode("utf-16")[:-1], r"no whole text of UTF-16"),
        ("t,a\x0c1,2\x0c3,4\x0c", "no rows of numbers"),
    ],
    ids=[
        "thousands", "German thousands", "only thousands", "point and comma", "apostrophe", "blank", "two commas",
        "quoted decimal commas", "a point late", "a word in the first row", "a short first row", "words below",
        "another line of names", "underscore", "cut off", "utf-16 cut off", "form feeds for lines",
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(content, words):
    with pytest.raises(cr.FormatError, match=words):
        read(content)


def test_decimal_commas_are_told_by_any_number():
    table = read("t;a\n" + rows(lambda k: (f"1,{k:03d}", "0,125")))
    np.testing.assert_allclose(table.columns["t"], 1 + K * 1e-3)
    assert ("decimal mark", "comma") in [row[:2] for row in table.assumptions]


def test_a_mark_that_changes_beyond_the_head_of_a_file_is_refused(monkeypatch):
    from chainrule.motion import text

    monkeypatch.setattr(text, "HEAD_BYTES", 60)
    for make, words in (
        (
            lambda k: (f"{k},5", "0,5" if k < 19 else "1.000"),
            r"line 21: '1.000' is not a number; other numbers have commas",
        ),
        (
            lambda k: (f"{k}.5", "0.5" if k < 19 else "1,000"),
            r"line 21: '1,000' is not a number; other numbers have points",
        ),
    ):
        with pytest.raises(cr.FormatError, match=words):
            read("t;a\n" + rows(make))


def test_the_table_of_assumptions_says_how_a_file_was_read():
    table = read("# lab\nfacts=1\nt;a [deg];b\ns;deg;mm\n\n0,5;1;2\n\n# pause\n1,5;1;3\n")
    assert [str(row) for row in table.assumptions] == [
        "separator: semicolon (it makes 3 cells in every row)",
        "decimal mark: comma (no number has the other)",
        "heading: line 3 (5 lines stand before the numbers)",
        "units: line 4 (all of its words are units)",
        "rows: 2 (2 blank lines and comments among them)",
    ]
    assert table.units == {"t": "s", "a [deg]": "deg", "b": "mm"}


def test_a_file_that_is_shorter_than_its_header_says_is_told(tmp_path):
    text = "run\nnRows=30\ninDegrees=no\nendheader\ntime\tjoint1\tjoint2\n" + BODY.replace(",", "\t")
    path = tmp_path / "run.mot"
    path.write_text(text)
    with pytest.warns(cr.MotionWarning, match=r"rows: 20 \(the header states 30: the file may be cut off\)"):
        motion = cr.Trajectory.load(path, cr.load("planar_2r").reference)
    assert motion.assumptions[3].is_doubtful

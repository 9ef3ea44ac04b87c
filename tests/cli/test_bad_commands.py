"""A bad command ends in one line; names are printed as they are."""

import json
import re

import pytest
from formats.samples import BODY

from cli.entry import run as cli

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]


COMMANDS = [
    (("info", "pandaa"), 1, r"no robot named 'pandaa'; did you mean 'panda'"),
    (("info", "[/red]"), 1, r"cannot read '\[/red\]'"),
    (
        ("torque", "planar_2r", "--q", "1"),
        2,
        r"--q: robot 'planar_2r' has 2 coordinates \(joint1, joint2\), got 1 number;",
    ),
    (("torque", "planar_2r", "--q", "a,b"), 2, r"--q: 'b' is neither a number nor the name of a configuration"),
    (("torque", "planar_2r", "--tip-wrench", "1,2,3"), 2, r"--tip-wrench: takes 6 numbers, got 3"),
    (("torque", "planar_2r", "--frame", "wrld"), 2, r"there is no frame 'wrld'; did you mean 'world'"),
    (
        ("torque", "planar_2r", "--degrees", "--q", "1,2,3"),
        2,
        r"--q: robot 'planar_2r' has 2 coordinates .*got 3 numbers",
    ),
    (("demo", "none.urdf"), 1, r"cannot read 'none.urdf'"),
    (("dmeo",), 2, r"No such command 'dmeo'"),
]


@pytest.mark.parametrize(("words", "code", "pattern"), COMMANDS, ids=[" ".join(c[0]) for c in COMMANDS])
def test_a_bad_command_ends_in_one_line_and_no_traceback(words, code, pattern):
    done = cli(*words)
    assert done.returncode == code
    assert re.search(pattern, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_names_are_shown_as_they_are_whatever_a_terminal_would_make_of_them(tmp_path):
    path = tmp_path / "names.json"
    joint = {"name": "\\[j]", "type": "continuous", "parent": "[bold]b[/]", "child": ":smile:", "axis": [0, 0, 1]}
    links = [{"name": "[bold]b[/]"}, {"name": ":smile:", **BODY}]
    document = {
        "format": "chainrule 1",
        "name": "[red]r\x1b[31m\u202e",
        "notes": ["\x9b[/]"],
        "link": links,
        "joint": [joint],
    }
    path.write_text(json.dumps(document))
    for command in ("info", "demo"):
        done = cli(command, str(path))
        assert done.returncode == 0, done.stderr
        for name in ("[red]r\\x1b[31m\\u202e", "[bold]b[/]", ":smile:", "\\[j]"):
            assert name in done.stdout
        assert not {"\x1b", "\x9b", "\u202e"} & set(done.stdout)


def test_a_state_without_a_number_is_shown_as_such():
    assert cli("torque", "planar_2r", "--q", "nan,0").stdout.count("nan") >= 4


def test_a_robot_that_cannot_move_can_still_be_shown(tmp_path):
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="base"/></robot>')
    for command in ("info", "torque", "demo"):
        done = cli(command, str(tmp_path / "still.urdf"))
        assert done.returncode == 0, done.stderr

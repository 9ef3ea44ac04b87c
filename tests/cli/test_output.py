"""What the commands write: JSON that is JSON, names that command nothing, and streams that end or cannot be written."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from formats.samples import BODY
from tiers import with_slow

import chainrule
from cli.entry import run

CLI = [sys.executable, "-m", "chainrule.cli"]
ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\x7f\r\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A robot whose every name commands the terminal."""
    base, tip = f"_base{ESCAPES}", f"_tip{ESCAPES}"
    joint = {"name": f"_j{ESCAPES}", "type": "continuous", "parent": base, "child": tip, "axis": [0, 0, 1]}
    document = {
        "format": "chainrule 1", "name": f"robot{ESCAPES}", "notes": [f"note{ESCAPES}"],
        "link": [{"name": base}, {"name": tip, **BODY}], "joint": [joint],
        "frame": [{"name": f"tool{ESCAPES}", "link": tip, "xyz": [1, 0, 0]}],
    }  # fmt: skip
    path = tmp_path_factory.mktemp("hostile") / "names.json"
    path.write_text(json.dumps(document))
    return str(path)


COMMANDS = [
    ("info",), ("demo",), ("pose",), ("pose", "--json"), ("torque",), ("torque", "--json"), ("ik", "--xyz", "9,9,9"),
    ("ik", "--xyz", "9,9,9", "--link", "nowhere"), ("workspace", "--samples", "50"), ("simulate", "--duration", "0.01"),
    ("simulate", "--duration", "0.01", "--json"), ("equations",), ("equations", "--markdown"), ("equations", "--html"),
    ("equations", "--latex"), ("equations", "--notebook"), ("equations", "--derivation", "lagrange"),
    ("equations", "--code", "c"), ("equations", "--code", "octave"), ("pose", "--link", "nowhere"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_names_from_files_command_no_terminal(words, hostile):
    done = run(words[0], hostile, *words[1:])
    for stream in (done.stdout, done.stderr):
        commands = {c for c in stream if not c.isprintable()} - {"\n", "\t"}
        assert not commands, (commands, stream)
    assert "Traceback" not in done.stderr


def test_a_path_and_a_warning_command_no_terminal(tmp_path):
    for name in (f"no{ESCAPES}.urdf", f"no{ESCAPES}.json"):
        done = run("info", str(tmp_path / name))
        assert done.returncode == 1
        assert "\x1b" not in done.stderr
    folder = tmp_path / "out\x1b[31m"
    folder.mkdir()
    done = run("pose", "planar_2r", "--plot", str(folder / "p.png"))
    assert done.stderr.startswith("written: ")
    assert "\x1b" not in done.stderr


def strict(text):
    """JSON as its standard has it."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_has_null_for_what_is_no_number():
    for words in (("pose", "planar_2r", "--q", "nan,0"), ("pose", "planar_2r", "--q", "inf,0")):
        facts = strict(run(*words, "--json").stdout)
        assert [facts[name] for name in ("manipulability", "singular", "angles_unique")] == [None] * 3
        assert [facts["pose"][i][i] for i in range(3)] == [None, None, 1.0]
    facts = strict(run("torque", "planar_2r", "--q", "nan,0", "--json").stdout)
    assert facts["total"] == [None, None]
    facts = strict(run("ik", "planar_2r", "--xyz", "nan,0,0", "--json").stdout)
    assert facts["error"][0] is None
    assert facts["success"] is False
    assert facts["coordinates"] == ["joint1", "joint2"]


def test_json_has_words_for_infinities():
    from chainrule.cli.console import print_json

    facts = {"a": [1.0, float("inf"), (float("-inf"), float("nan"))], "b": "x", "c": {"d": float("inf")}, "e": True}
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("chainrule.cli.console.echo", lines.append)
        print_json(facts)
    expected = {"a": [1.0, "Infinity", ["-Infinity", None]], "b": "x", "c": {"d": "Infinity"}, "e": True}
    assert strict(lines[0]) == expected


def test_commands_write_through_the_console_alone():
    folder = Path(chainrule.__file__).parent / "cli"
    for path in folder.glob("*.py"):
        if path.name in ("console.py",):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ("print", "click.echo", "Console", "json.dumps"), path


@pytest.mark.parametrize(
    "words", [("info",), ("equations", "planar_2r"), ("pose", "planar_2r", "--json")], ids=" ".join
)
def test_a_reader_that_leaves_ends_the_command_in_silence(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*CLI, *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk")
def test_a_full_disk_is_an_error_in_one_line():
    for words in (("info", "planar_2r"), ("pose", "planar_2r"), ("pose", "planar_2r", "--json")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*CLI, *words], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(b"error: "), done.stderr
        assert done.stderr.count(b"\n") == 1, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by the shell")
@pytest.mark.parametrize("closed", with_slow([">&-", "2>&-", ">&- 2>&-"], ">&-", "2>&-"))
@pytest.mark.parametrize(
    ("words", "code"), [("info planar_2r", 0), ("demo planar_2r", 0), ("ik planar_2r --xyz 9,9,9", 1), ("info nope", 1)]
)
def test_streams_that_are_closed_change_nothing(words, code, closed):
    line = f"{sys.executable} -m chainrule.cli {words} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("words", [("info", "panda"), ("equations", "planar_2r"), ("equations", "planar_2r", "--html")])
def test_letters_that_an_encoding_does_not_have_are_escaped(words, encoding):
    done = run(*words, encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_letters_that_the_encoding_of_a_process_does_not_have_are_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*CLI, "equations", "planar_2r"], capture_output=True, check=True, env=environment)
    assert b"\\u" in done.stdout.decode("ascii").encode()


REFUSED = [
    (("bench", "--states", "0"), 2, "0 is not in the range"),
    (("bench", "planar_2r", "--states", "1" + "0" * 30), 1, "ask for less"),
    (("bench", "planar_2r", "--seconds", "nan"), 2, "--seconds: must be a number of seconds above 0"),
    (("bench", "planar_2r", "--seconds", "0"), 2, "--seconds: must be a number of seconds above 0"),
    (("workspace", "planar_2r", "--samples", "1" + "0" * 30), 1, "error: --samples must be a positive integer"),
    (("workspace", "planar_2r", "--samples", "0"), 2, "0 is not in the range"),
    (("workspace", "planar_2r", "--samples", "10", "--seed", "-1"), 2, "-1 is not in the range"),
]


@pytest.mark.parametrize(("words", "code", "message"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_numbers_that_cannot_be_are_refused(words, code, message):
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr
    assert not done.stdout


def test_odd_digits_in_the_environment_are_refused(monkeypatch):
    monkeypatch.setenv("CHAINRULE_THREADS", "²")
    done = run("workspace", "planar_2r", "--samples", "200000")
    assert done.returncode == 1
    assert "CHAINRULE_THREADS must be a positive integer, got '²'" in done.stderr

"""Terminals: narrow ones, dumb ones, without color, with progress, and with completion."""

import io
import os
import shutil
import subprocess
import sys

import pytest

import chainrule as cr
from chainrule.cli import console
from cli.entry import run

CLI = [sys.executable, "-m", "chainrule.cli"]
posix = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are of POSIX")


def on_terminal(*words, columns=80, **environment):
    """What a command writes to a terminal of some width."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    process = subprocess.Popen(
        [*CLI, *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**known, "TERM": "xterm", **environment}
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0, written
    return written.decode()


@posix
@pytest.mark.parametrize("words", [("torque", "panda"), ("info", "panda")], ids=" ".join)
def test_a_narrow_terminal_cuts_no_number_and_no_name(words):
    narrow = on_terminal(*words, columns=30, NO_COLOR="1")
    assert "…" not in narrow
    for name in cr.load("panda").joint_names:
        assert name in narrow


@posix
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"NO_COLOR": "1"}], ids=["dumb", "no color"])
def test_colors_can_be_left_out(environment):
    colored = on_terminal("demo", "planar_2r")
    assert "\x1b[32mholds" in colored
    plain = on_terminal("demo", "planar_2r", **environment)
    assert "holds" in plain
    assert "\x1b[32m" not in plain
    if "TERM" in environment:
        assert "\x1b" not in plain


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_once_work_is_long(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "PATIENCE_S", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with console.progress("measuring") as at:
        at("threads")
    assert "measuring: threads, 0 s" in sys.stderr.getvalue()
    monkeypatch.setattr(console, "PATIENCE_S", 60.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with console.progress("measuring") as at:
        at("threads")
    assert "measuring" not in sys.stderr.getvalue()


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["none", "file"])
def test_progress_is_not_shown_elsewhere(monkeypatch, stream):
    monkeypatch.setattr(console, "PATIENCE_S", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress("measuring") as at:
        at("threads")
    assert stream is None or not stream.getvalue()


def complete(line):
    """What the shell is offered for the last word of a line."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_CHAINRULE_COMPLETE": "bash_complete"}
    done = subprocess.run(CLI, capture_output=True, text=True, check=True, env={**os.environ, **asked})
    return [word.partition(",")[2] for word in done.stdout.splitlines() if word.startswith("plain,")], done.stdout


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("chainrule si", {"simulate"}),
        ("chainrule pose pan", {"panda", "panda_hand"}),
        ("chainrule simulate panda --controller p", {"pd", "pid"}),
        ("chainrule simulate panda --integrator r", {"rk4", "radau"}),
        ("chainrule ik panda --me", {"--method"}),
        ("chainrule equations panda --code o", {"octave"}),
        ("chainrule completion z", {"zsh"}),
        ("chainrule workspace panda --color d", {"dexterity"}),
    ],
)
def test_the_shell_completes_commands_options_robots_and_choices(line, offered):
    assert set(complete(line)[0]) == offered


def test_the_shell_completes_files_of_robots():
    assert complete("chainrule pose ./ar")[1].startswith("file,")
    assert complete("chainrule pose panda --plot a")[1].startswith("file,")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_the_shell_reads(shell):
    done = run("completion", shell)
    assert done.returncode == 0
    assert f"_CHAINRULE_COMPLETE={shell}_complete" in done.stdout
    program = shutil.which(shell)
    if program:
        subprocess.run([program, "-n"], input=done.stdout, text=True, check=True, capture_output=True)


WORDS = [
    ("info",), ("info", "ur5"), ("info", "humanoid"), ("torque", "panda"), ("ik", "ur5", "--xyz", "0.4,0.2,0.3"),
    ("simulate", "ur5", "--duration", "0.01"), ("demo", "ur5"), ("doctor", "ur5"),
]  # fmt: skip


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_nothing_breaks_inside_a_word_at_any_width(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    whole = {*run(*words).stdout.split()}
    for columns in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        done = run(*words)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert [line for line in lines if len(line) > columns and len(line.split()) > 1] == []
        assert {*" ".join(lines).split()} >= whole

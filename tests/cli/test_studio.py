"""`chainrule studio`: its address, its ports, and its end."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest

from cli.entry import run

pytest.importorskip("viser", reason="the extra `studio` is not installed")


def start(*words):
    """The command in a process of its own."""
    command = [sys.executable, "-m", "chainrule", "studio", "--no-browser", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_it_serves_until_it_is_interrupted(number):
    with start("pendulum", "--port", "0") as process:
        first = process.stdout.readline()
        assert first.startswith("the studio is at http://127.0.0.1:")
        with urllib.request.urlopen(first.split()[-1]) as page:
            assert page.status == 200
        assert process.stdout.readline() == "Ctrl-C ends it\n"
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "the studio has ended\n", "")


def test_json_is_one_line_for_programs():
    done = run("studio", "pendulum", "--no-browser", "--port", "0", "--json", "--seconds", "0.1", "--token")
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert facts["robot"] == "pendulum"
    assert facts["address"] == f"http://127.0.0.1:{facts['port']}/?token={facts['token']}"


def test_other_machines_get_an_address_with_a_token():
    done = run("studio", "pendulum", "--no-browser", "--port", "0", "--seconds", "0.1", "--host", "0.0.0.0")
    lines = done.stdout.splitlines()
    assert lines[1].startswith("from other machines it is http://")
    assert lines[0].rpartition("?token=")[2] == lines[1].rpartition("?token=")[2] != ""


def test_a_port_that_is_taken():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("studio", "pendulum", "--no-browser", "--seconds", "0.1", "--port", str(port))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: port {port} is taken by another program")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("chainrule.studio.server.DEFAULT_PORT", port)
            done = run("studio", "pendulum", "--no-browser", "--seconds", "0.1")
        assert done.stdout.startswith(f"port {port} is taken, so this is port ")


@pytest.mark.parametrize("words", [["--port", "70000"], ["--seconds", "0"], ["--host"]])
def test_mistakes_in_typing(words):
    done = run("studio", "pendulum", "--no-browser", *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    done = run("studio", "pendulum", "--no-browser", "--seconds", "0.1")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the studio needs the package viser, which is not installed: ")
    assert "pip install" in done.stderr


def test_the_page_is_opened_in_a_browser_with_windows(monkeypatch):
    from chainrule import studio

    opened = []
    monkeypatch.setattr(studio.webbrowser, "open", lambda address: opened.append(address) or True)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert studio.show_page("http://127.0.0.1:1/") is False
    monkeypatch.setenv("DISPLAY", ":0")
    assert studio.show_page("http://127.0.0.1:1/") is True
    assert opened == ["http://127.0.0.1:1/"]

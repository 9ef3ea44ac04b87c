"""robot.show and motion.show: a page in a file, in the frame of a notebook, in the browser; and the studio."""

import inspect
import sys
import tempfile
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from core.test_garbage import GARBAGE
from studio.tab import is_blank, pixels
from waiting import eventually

import chainrule as cr
from chainrule.pages.content import PageContent

ROBOT_NAME = '"><img src=x onerror=alert(1)></title><script>alert(1)</script>'


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r")


@pytest.fixture(scope="module")
def swing():
    return cr.load("pendulum").simulate([1.5], None, 1.0)


# --- one file ---


def test_the_first_view_takes_in_the_whole_motion():
    robot = cr.load("pendulum")
    cameras = [
        PageContent(robot, np.array(angles)[:, None], 1.0).data["camera"] for angles in ([0.0], [-1.5, 0.0, 1.5])
    ]
    closer, wider = (np.linalg.norm(np.subtract(camera["position"], camera["look_at"])) for camera in cameras)
    assert wider > closer


def recorded_frames(monkeypatch, *arguments, **options):
    """The postures and the step that a page is made of."""
    from chainrule.pages import page as pages

    seen = []
    monkeypatch.setattr(pages, "page", lambda robot, q, step, dark: seen.append((q, step)) or "<p>")
    robot, *rest = arguments
    robot.show(*rest, **options)
    return seen[0]


def test_postures_of_replays_are_those_of_the_motion(monkeypatch, swing, tmp_path, arm):
    path = tmp_path / "a.html"
    robot = swing.robot
    q, step = recorded_frames(monkeypatch, robot, swing, path, fps=10)
    assert step == pytest.approx(0.1)
    assert np.allclose(q, swing.resample(np.arange(11) / 10).q, atol=1e-5)
    q, step = recorded_frames(monkeypatch, robot, swing, path)
    assert (len(q), step) == (31, pytest.approx(1 / 30))
    plan = cr.plan(arm, [[0.0, 0.0], [1.0, 2.0]], times=2.0)
    q, step = recorded_frames(monkeypatch, arm, plan, path, fps=5)
    assert len(q) == 11
    assert np.allclose(q[-1], [1.0, 2.0])
    q, step = recorded_frames(monkeypatch, arm, [[0.0, 0.0], [1.0, 1.0]], path, t=[0.0, 300.0])
    assert (len(q), step) == (3001, pytest.approx(0.1))  # long motions at fewer postures a second
    q, step = recorded_frames(monkeypatch, arm, {"joint1": 0.1, "joint2": 0.3}, path)
    assert (q.tolist(), step) == ([[0.1, 0.3]], 0.0)


# --- notebooks ---


def test_a_notebook_shows_robots_and_motions_below_their_cells():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    sources = [
        "import chainrule as cr\nrobot = cr.load('pendulum')",
        "robot.show(height=300)",
        "robot.simulate([1.5], None, 0.5).show(fps=20)\nNone",
        "studio = robot.show([0.7], live=True)\nprint(studio.address, studio.robot.home())\nstudio.close()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert [len(output) for output in outputs] == [0, 1, 1, 2]
    frames = [output[0].data["text/html"] for output in outputs[1:]]
    assert [frame.count("<iframe") for frame in frames] == [1, 1, 1]
    assert 'height="300"' in frames[0]
    address, home = outputs[3][1].text.split(maxsplit=1)
    assert f'src="{address}"' in frames[2]
    assert home.strip() == "[0.7]"


class FakeNotebook:
    """What IPython's shell is in a notebook, as far as it is used."""

    kernel = display_pub = property(lambda self: self)

    def __init__(self):
        self.shown = []

    def publish(self, data):
        self.shown.append(data["text/html"])


def test_the_frame_of_a_notebook_shows_the_robot_and_cannot_reach_the_notebook(browser, arm, tmp_path, monkeypatch):
    from chainrule.pages import show

    notebook = FakeNotebook()
    monkeypatch.setattr(show, "_notebook", lambda: notebook)
    arm.edit(name=ROBOT_NAME).show(height=200)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><p>above</p>{notebook.shown[0]}<p>below</p>", encoding="utf-8")
    page = browser.new_page()
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    frame = page.locator("iframe")
    page.frames[1].wait_for_selector("html[data-ready]")
    eventually(lambda: not is_blank(pixels(frame.screenshot())))
    assert frame.bounding_box()["height"] == pytest.approx(202, abs=3)
    assert frame.get_attribute("title") == ROBOT_NAME
    inside = page.frames[1]
    assert inside.evaluate("() => { try { return parent.document.title } catch (e) { return e.name } }") == (
        "SecurityError"
    )
    assert dialogs == []
    page.close()


# --- the browser ---


@pytest.fixture
def desktop(monkeypatch):
    """A machine with a browser; the addresses that it is asked to open."""
    from chainrule.pages import show

    opened = []
    monkeypatch.setattr(show, "show_page", lambda address: opened.append(address) or True)
    return opened


@pytest.fixture
def rack(monkeypatch):
    """A machine without a browser."""
    from chainrule.pages import show

    monkeypatch.setattr(show, "show_page", lambda address: False)


def test_a_motion_opens_a_page_in_the_browser(desktop, swing, capsys):
    assert swing.show() is None
    (address,) = desktop
    path = Path(urllib.request.url2pathname(address.removeprefix("file:")))
    try:
        assert "<title>pendulum</title>" in path.read_text(encoding="utf-8")
        assert str(path) in capsys.readouterr().out
    finally:
        path.unlink()


def test_a_robot_opens_the_studio_in_the_browser(desktop, arm, monkeypatch):
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    studio = arm.show([0.3, 0.4])
    try:
        assert desktop == [studio.address]
        assert studio.robot.home().tolist() == [0.3, 0.4]
        with urllib.request.urlopen(studio.address) as answer:
            assert answer.status == 200
    finally:
        studio.close()


def test_a_program_waits_until_it_is_interrupted(desktop, arm, monkeypatch, capsys):
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    from chainrule.pages import show

    class Interrupted:
        def wait(self):
            raise KeyboardInterrupt

    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setattr(show, "Event", Interrupted)
    studio = arm.show()
    assert "Ctrl-C ends it" in capsys.readouterr().out
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(studio.address)


# --- refusals ---


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((None, "arm.png"), {}, "a page is written to an .html file, got 'arm.png'; robot.plot draws pictures"),
        (([1.0],), {"path": "a.html"}, "q must have 2 numbers"),
        (([np.nan, 0.0],), {"path": "a.html"}, "q"),
        (([[0.0, 0.0], [1.0, 1.0]],), {"path": "a.html"}, "postures need their times"),
        (([[0.0, 0.0], [1.0, 1.0]],), {"path": "a.html", "t": [1.0, 0.0]}, "t must grow"),
        ((None, "a.html"), {"height": 5}, "height must be a whole number, at least 100"),
        ((None, "a.html"), {"dark": "yes"}, "dark must be True or False"),
        ((None, "a.html"), {"fps": 0}, "fps must be a positive number"),
        ((None, "a.html"), {"live": True}, "have no server behind them; leave out live=True"),
    ],
)
def test_wrong_arguments_are_refused(arm, arguments, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cr.ShapeError, match=words):
        arm.show(*arguments, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["robot", "motion"])
def test_garbage_is_refused_by_an_error_of_the_library(method, arm, rack, tmp_path, monkeypatch):
    from chainrule.pages import page as pages

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "page", lambda *_, **__: "<p>")
    show = arm.show if method == "robot" else arm.simulate([0.1, 0.2], None, 0.01).show
    rng = np.random.default_rng(0)
    for name in inspect.signature(show).parameters:
        for make in GARBAGE.values():
            try:
                show(**{"path": "a.html", name: make(rng)})
            except (cr.ChainruleError, OSError, MemoryError):
                continue


def test_a_machine_without_a_browser_is_told_what_to_do(arm, swing, rack, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for show in (arm.show, swing.show):
        with pytest.raises(cr.ChainruleError, match=r"no browser here to show it in; write a page by show\(path="):
            show()
    assert not list(tmp_path.iterdir())


def test_the_studio_needs_its_extra_and_a_page_does_not(arm, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "viser", None)
    arm.show(path=tmp_path / "a.html")
    with pytest.raises(cr.MissingPackageError, match="the studio needs the package viser"):
        arm.show()

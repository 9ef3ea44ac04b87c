"""Animations: in real time, with limits that stay, in files that anybody can play."""

import re
import stat
import sys

import matplotlib
import numpy as np
import pytest
from PIL import Image

import chainrule as cr
from chainrule.core.progress import ProgressBar


@pytest.fixture(scope="module")
def swing():
    return cr.load("double_pendulum").simulate([[0.5, 0.2], [2.0, 1.0]], None, 0.5)


@pytest.mark.parametrize("name", ["planar_2r", "panda", "four_bar", "quadruped"])
def test_limits_do_not_jump(name):
    robot = cr.load(name)
    rng = np.random.default_rng(0)
    q = robot.random_state(rng, (4,))
    animation = robot.animate(q, t=[0.0, 0.1, 0.2, 0.3], fps=20)
    seen, moved = set(), []
    for figure in animation.frames():
        axes = figure.axes[0]
        limits = [axes.get_xlim(), axes.get_ylim(), *([axes.get_zlim()] if axes.name == "3d" else [])]
        seen.add((id(axes), *limits, tuple(axes.get_position().bounds)))
        bodies = [a for a in figure.findobj() if str(a.get_gid() or "").startswith(("bodies", "link "))]
        moved.append(
            np.concatenate([np.ravel(a.all_faces if hasattr(a, "all_faces") else a.get_xy()) for a in bodies]).sum()
        )
    assert len(seen) == 1
    assert len(animation) == 7
    assert len(set(moved)) == 7
    points = robot.poses(animation.q)[..., :3, 3].reshape(-1, 3)
    plane = [0, 1, 2] if len(limits) == 3 else [0, 1]
    for (low, high), k in zip(limits, plane, strict=True):
        assert low <= points[:, k].min()
        assert points[:, k].max() <= high


def test_frames_keep_time_and_speed(swing):
    robot = swing.robot
    animation = robot.animate(swing, fps=20, row=1)
    assert np.allclose(np.diff(animation.times), 0.05)
    assert np.allclose(animation.q[0], [2.0, 1.0])
    k = np.searchsorted(swing.t, 0.25)
    assert np.allclose(animation.q[5], swing.q[1, k], atol=1e-9)
    slow = robot.animate(swing, fps=20, speed=0.5)
    assert len(slow) == 21
    assert slow.duration == pytest.approx(1.0)
    assert "0.5 times as fast" in repr(slow)


@pytest.mark.parametrize("fps", [7, 24, 30])
def test_a_gif_lasts_as_long_as_the_motion(fps, swing, tmp_path):
    animation = swing.robot.animate(swing, tmp_path / "swing.gif", fps=fps, size=(2, 2))
    with Image.open(tmp_path / "swing.gif") as image:
        lasting = 0
        for k in range(image.n_frames):
            image.seek(k)
            lasting += image.info["duration"]
    assert abs(lasting - 1000 * len(animation) / fps) <= 10


def test_plans_and_postures_with_times_are_animated(tmp_path):
    robot = cr.load("planar_2r")
    plan = cr.plan(robot, [[0.0, 0.0], [1.0, 1.0]], times=0.4)
    animation = robot.animate(plan, fps=10)
    assert len(animation) == 5
    assert np.allclose(animation.q[-1], [1, 1], atol=1e-6)
    floating = robot.floating()
    q = np.stack([floating.home()] * 2)
    q[1, 0] = 1.0
    moved = floating.animate(q, t=[0, 1], fps=4)
    assert np.allclose(moved.q[2, 0], 0.5)


def test_the_player_is_complete_in_itself(swing, tmp_path):
    animation = swing.robot.animate(swing, tmp_path / "swing.html", fps=10, size=(2, 2))
    page = (tmp_path / "swing.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://|src=(?!\"data:)|@import|href", page)
    assert page.count("data:image/png;base64,") >= 2
    shown = animation._repr_html_()
    assert shown.count('"iVBOR') == len(animation)
    assert "fps = 10;" in shown


def test_long_motions_do_not_fill_a_notebook(monkeypatch):
    monkeypatch.setattr("chainrule.plots.animation.MAX_PLAYER_FRAMES", 4)
    robot = cr.load("pendulum")
    shown = robot.animate([[0.0], [1.0]], t=[0, 1], fps=10, size=(1.5, 1.5)).html()
    assert shown.count('"iVBOR') == 4
    assert "fps = 3.33333;" in shown


def test_names_cannot_leave_their_place_in_the_player():
    from formats.samples import BODY  # noqa: F401

    from plots.test_names import named

    shown = named('"><script>alert(1)</script>').animate([[0.0], [0.1]], t=[0, 0.1], fps=10, size=(1.5, 1.5)).html()
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert" in shown


def test_an_mp4_without_ffmpeg_says_what_to_do(swing, tmp_path, monkeypatch):
    monkeypatch.setitem(matplotlib.rcParams, "animation.ffmpeg_path", str(tmp_path / "no_such_program"))
    with pytest.raises(cr.ShapeError, match="needs ffmpeg, which is not installed here: install it"):
        swing.robot.animate(swing, tmp_path / "swing.mp4", fps=5)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ffmpeg is a shell script")
def test_an_mp4_hands_all_frames_to_ffmpeg(swing, tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text(
        '#!/bin/sh\nfor last; do :; done\n[ "$1" = "-version" ] && exit 0\necho "$@" > "$last.options"\nwc -c > "$last"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setitem(matplotlib.rcParams, "animation.ffmpeg_path", str(program))
    animation = swing.robot.animate(swing, tmp_path / "swing.mp4", fps=20, size=(2, 2))
    options = (tmp_path / "swing.mp4.options").read_text().split()
    assert options[options.index("-r") + 1] == "20"
    width, height = map(int, options[options.index("-s") + 1].split("x"))
    assert width % 2 == height % 2 == 0
    assert int((tmp_path / "swing.mp4").read_text()) == len(animation) * width * height * 3


def test_progress_is_shown_when_asked_for(swing, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("chainrule.core.progress.PATIENCE", 0.0)
    swing.robot.animate(swing, tmp_path / "swing.gif", fps=10, size=(2, 2), progress=True)
    assert "frames" in capfd.readouterr().err
    with ProgressBar(1.0, False) as bar:
        bar.at(1.0)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0}, "fps must be a positive number"),
        ({"speed": -1}, "speed must be a positive number"),
        ({"path": "swing.avi"}, "an animation is written to .gif, .mp4, .html"),
        ({"row": 7}, "outside the batch"),
        ({"trail": "hand"}, "no link or frame named 'hand'"),
        ({"view": "behind"}, "no view named"),
        ({"size": (0, 1)}, "size must be"),
        ({"fps": 1e6}, "frames are too many"),
    ],
)
def test_wrong_arguments_are_named(swing, options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        swing.robot.animate(swing, **options)


def test_motions_that_are_none_are_named(swing):
    robot = cr.load("planar_2r")
    with pytest.raises(cr.ShapeError, match="need their times"):
        robot.animate([[0, 0], [1, 1]])
    with pytest.raises(cr.ShapeError, match="must have 2 numbers, one a posture"):
        robot.animate([[0, 0], [1, 1]], t=[0, 1, 2])
    with pytest.raises(cr.ShapeError, match="must grow"):
        robot.animate([[0, 0], [1, 1]], t=[1, 0])
    with pytest.raises(cr.ShapeError, match="or postures"):
        robot.animate([0, 0], t=[0])
    with pytest.raises(cr.ShapeError, match="'double_pendulum' with 2 coordinates"):
        cr.load("panda").animate(swing)

"""The parts of simulation and replay that need no page: clock, history, laws, simulations, rollouts, videos."""

import io
import stat
import sys
import threading
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import chainrule as cr
from chainrule.studio.panels.simulation import SimulationPanel
from chainrule.studio.player import video
from chainrule.studio.player.clock import Clock
from chainrule.studio.player.history import RecentSamples
from chainrule.studio.player.laws import RELEASED, description, laws, make_law, usable_laws
from chainrule.studio.player.live import HISTORY_S, Live, Settings, make_stops, pushable_links
from chainrule.studio.player.recorder import CaptureError, Recorder
from chainrule.studio.player.rollouts import MAX_ROLLOUTS, vary
from chainrule.studio.player.sources import LiveSource, Pull, pull_wrench
from chainrule.studio.scene.robot import DrawnRobot
from chainrule.studio.session import SessionState

ARM = cr.load("planar_2r")
START, REST = np.array([0.3, 0.4]), np.zeros(2)

# --- the clock ---


def test_a_clock_plays_pauses_and_ends():
    clock = Clock(1.0, 3.0)
    assert clock.advance(5.0) == 1.0  # it stands still until it plays
    clock.play()
    assert clock.advance(0.5) == 1.5
    clock.pause()
    assert clock.advance(0.5) == 1.5
    clock.play()
    assert (clock.advance(9.0), clock.playing) == (3.0, False)
    clock.play()
    assert clock.time == 1.0  # from the start again


def test_a_clock_loops_and_changes_its_speed():
    clock = Clock(1.0, 3.0)
    clock.looping = True
    clock.play()
    clock.speed = 2.0
    assert clock.advance(0.5) == 2.0
    assert_allclose(clock.advance(2.25), 2.5)
    assert clock.playing
    with pytest.raises(cr.ShapeError, match="the speed of a clock is positive, got 0"):
        clock.speed = 0.0


def test_a_clock_is_set_and_stepped_within_its_ends():
    clock = Clock(1.0, 3.0)
    clock.play()
    assert (clock.step(0.25), clock.playing) == (1.25, False)
    assert clock.step(-7.0) == 1.0
    assert clock.seek(99.0) == 3.0


def test_a_clock_without_a_stretch_does_not_play():
    clock = Clock()
    clock.play()
    assert not clock.playing


# --- the history ---


def test_a_history_forgets_the_oldest_and_keeps_its_memory():
    history = RecentSamples(width=2, capacity=50)
    size = history.nbytes
    for k in range(1000):
        history.append(0.1 * k, [k, -k])
    assert (len(history), history.nbytes) == (50, size)
    assert_allclose([history.first, history.last], [95.0, 99.9])
    assert_array_equal(history.rows[:, 0], np.arange(950, 1000))
    assert_allclose(history.times, 0.1 * np.arange(950, 1000))


def test_a_history_is_read_at_a_time_and_cut():
    history = RecentSamples(width=1, capacity=4)
    for k in range(6):
        history.append(float(k), [10.0 * k])
    assert history.at(3.5)[0] == 3.0
    assert history.at(-1.0)[1].tolist() == [20.0]
    history.forget_after(3.0)
    assert history.times.tolist() == [2.0, 3.0]
    history.append(3.5, [7.0])
    assert history.rows[:, 0].tolist() == [20.0, 30.0, 7.0]
    history.forget_after(-5.0)
    assert history.times.tolist() == [2.0]


# --- laws ---


def test_the_laws_are_those_that_the_library_lists():
    public = {
        name for name in dir(cr) if isinstance(getattr(cr, name), type) and issubclass(getattr(cr, name), cr.Controller)
    }
    assert set(laws()) == public - {"Controller", "Compensated", "ElasticComputedTorque", "VibrationDamping"}
    assert {"PD", "ComputedTorque", "GravityCompensation", "Impedance"} <= set(laws())


@pytest.mark.parametrize("name", laws())
def test_each_law_holds_the_arm_where_it_is(name):
    law = make_law(ARM, name, START)
    assert_allclose(law(0.0, START, REST), ARM.gravity_torque(START), atol=1e-9)
    assert "tau =" in description(name)


def test_letting_go_is_no_law():
    assert make_law(ARM, RELEASED, START) is None
    assert "falls" in description(RELEASED)
    with pytest.raises(cr.UnknownNameError, match=r"controller.*'PDD'.*PD"):
        make_law(ARM, "PDD", START)


def test_laws_that_a_robot_cannot_have_are_left_out():
    assert usable_laws(ARM) == [RELEASED, *laws()]
    assert "Impedance" not in usable_laws(cr.load("four_bar"))
    assert "PD" in usable_laws(cr.load("quadruped"))  # whose base has no motor; nothing warns


# --- the simulation that is watched ---


def test_a_live_simulation_is_the_librarys():
    live = Live(ARM, START, REST, Settings("PD", limits="Ignored"), target=np.array([0.5, 0.2]))
    live.run_to(0.2)
    motion = ARM.simulate(START, None, 0.2, cr.PD(ARM, [0.5, 0.2]))
    now = live.sample
    assert_array_equal(now.q, motion.q[-1])
    assert_allclose(now.tau, motion.tau[-1], atol=1e-9)
    assert_allclose(now.qdd, motion.qdd[-1], atol=1e-9)
    assert_allclose([now.kinetic, now.potential], [motion.kinetic_energy[-1], motion.potential_energy[-1]])
    assert_allclose(live.at(0.105).q, motion.q[102], atol=1e-12)  # the last one that was kept
    times, series = live.series()
    assert_allclose(series["tau"], motion.tau[np.round(times / 1e-3).astype(int)], atol=1e-9)


def test_another_target_while_it_runs():
    live = Live(ARM, START, REST, Settings("PD", limits="Ignored"))
    live.aim(np.array([0.5, 0.2]))
    live.run_to(0.2)
    assert_array_equal(live.sample.q, ARM.simulate(START, None, 0.2, cr.PD(ARM, [0.5, 0.2])).q[-1])


def test_a_live_simulation_goes_back_and_on():
    live = Live(ARM, START, REST, Settings())
    live.run_to(0.3)
    end = live.sample
    live.rewind(0.1)
    assert live.end <= 0.1
    live.run_to(0.3)
    assert_allclose(live.sample.q, end.q, atol=1e-12)
    assert_allclose(live.end, 0.3)


def test_pushes_act_until_they_end_and_on_frames_too():
    live = Live(ARM, START, REST, Settings(limits="Ignored"))
    assert pushable_links(ARM) == ["link1", "link2", "tip"]
    wrench = np.array([0.0, 0.0, 0.0, 0.0, 30.0, 0.0])
    live.push({"tip": wrench})
    live.run_to(0.1)
    motion = ARM.simulate(START, None, 0.1, external={"tip": wrench})
    assert_allclose(live.sample.q, motion.q[-1], atol=1e-12)
    live.push({})
    live.run_to(0.2)
    assert_allclose(live.sample.q, ARM.simulate(motion.q[-1], motion.qd[-1], 0.1).q[-1], atol=1e-12)


def test_another_world_acts_and_its_energy_is_told():
    heavy, light = {"gravity": np.array([0.0, -20.0, 0.0])}, {"gravity": np.zeros(3)}
    live = Live(ARM, START, REST, Settings(limits="Ignored"), parameters=heavy)
    live.run_to(0.1)
    motion = ARM.at(heavy).simulate(START, None, 0.1)
    assert_allclose(live.sample.q, motion.q[-1], atol=1e-12)
    assert_allclose(live.sample.potential, motion.potential_energy[-1])
    live.change(light)
    live.run_to(0.2)
    assert live.sample.potential == 0.0


def test_a_robot_that_nothing_holds_is_put_where_it_is_aimed():
    live = Live(ARM, START, REST, Settings())
    live.run_to(0.2)
    live.aim(np.array([0.5, 0.2]))
    assert_array_equal(live.sample.q, [0.5, 0.2])
    assert_array_equal(live.sample.qd, REST)
    assert not live.holds
    assert Live(ARM, START, REST, Settings("PID")).holds


def test_divergence_is_told_in_the_librarys_words_and_the_past_is_kept():
    live = Live(ARM, START, np.array([1e9, -1e9]), Settings(limits="Ignored"))
    with pytest.raises(cr.SimulationError, match="the motion diverges at about t = "):
        live.run_to(5.0)
    assert np.isfinite(live.sample.q).all()


def test_limits_stop_a_falling_arm():
    arm = ARM.edit(joints={"*": {"lower": -0.5, "upper": 0.5}})
    for limits in ("Springs", "Hard stops"):
        live = Live(arm, START, REST, Settings(limits=limits))
        live.run_to(1.5)
        assert live.sample.q.min() > -0.8
    assert make_stops(arm, START, "Ignored") is None


def test_memory_of_a_live_simulation_stays_the_same():
    live = Live(ARM, START, REST, Settings("PD"), history_s=0.5)
    size = live.history.nbytes
    live.run_to(3.0)
    assert live.history.nbytes == size
    assert live.start > 2.4
    assert HISTORY_S == 60.0


# --- the source that a page plays ---


class Page:
    """A session without a page."""

    def __init__(self):
        self.robot, self.state = ARM, SessionState(START, REST, REST)

    def move(self, q=None, qd=None, qdd=None, wrenches=None, *, time=None, by=None):
        given = {"q": q, "qd": qd, "qdd": qdd, "wrenches": wrenches, "time": time}
        self.state = replace(self.state, **{name: value for name, value in given.items() if value is not None})


def source_of(law, limits="Ignored"):
    page, settings = Page(), [Settings(law, limits=limits)]
    return page, LiveSource(page, lambda: settings[0]), settings


def tip_of(q):
    return np.asarray(ARM.pose(q, "tip"))[:3, 3]


def test_a_hand_pulls_a_point_of_a_link_to_itself_by_a_spring_and_lets_go():
    page, source, _ = source_of("GravityCompensation")
    source.begin()
    start = tip_of(START)
    hand = start + np.array([-0.2, 0.1, 0.0])
    source.pull = Pull("tip", np.zeros(3), hand)
    source.play(12.0, None)
    assert np.linalg.norm(tip_of(page.state.q) - hand) < 0.05 * np.linalg.norm(start - hand)
    assert page.state.wrenches == {}
    source.pull = None
    resting = page.state.q
    source.play(12.5, None)
    assert_allclose(page.state.q, resting, atol=1e-2)


def test_the_wrench_of_a_pull_is_its_force_at_the_point_with_damping():
    pull = Pull("link2", np.array([0.5, 0.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    wrench, at = pull_wrench(ARM, pull, START, None, 0.01)
    T = np.asarray(ARM.pose(START, "link2"))
    assert_allclose(at, T[:3, :3] @ pull.point + T[:3, 3])
    assert_allclose(wrench[:3], np.cross(at - T[:3, 3], wrench[3:]))
    assert_allclose(np.cross(wrench[3:], pull.hand - at), 0, atol=1e-9)
    damped, _ = pull_wrench(ARM, pull, START, at - 0.2 * (pull.hand - at), 0.01)
    assert wrench[3:] @ damped[3:] < 0  # the point comes at a speed that the damping outweighs


def test_a_drag_of_a_body_pulls_at_the_point_that_was_grabbed_until_it_ends():
    panel = SimulationPanel()
    panel.session = SimpleNamespace(robot=ARM, poses=np.asarray(ARM.poses(START)))
    panel.transport, panel.live = SimpleNamespace(playing=True), SimpleNamespace(pull=None)
    T = panel.session.poses[2]
    grabbed = T[:3, :3] @ [0.4, 0.1, 0.0] + T[:3, 3]

    def drag(phase, hand):
        panel._pull("link2", SimpleNamespace(phase=phase, start_position=tuple(grabbed), end_position=hand))

    drag("start", (1.0, 1.0, 0.0))
    drag("update", (1.0, 2.0, 0.0))
    pull = panel.live.pull
    assert pull.link == "link2"
    assert_allclose(pull.point, [0.4, 0.1, 0.0], atol=1e-12)
    assert_allclose(pull.hand, [1.0, 2.0, 0.0])
    drag("end", (1.0, 2.0, 0.0))
    assert panel.live.pull is None
    panel.transport.playing = False
    drag("start", (1.0, 1.0, 0.0))
    assert panel.live.pull is None


def test_bodies_are_dragged_only_while_somebody_asks_for_it_in_every_style():
    scene = MagicMock()
    scene.add_mesh_simple.side_effect = lambda *_, **__: MagicMock()
    drawn, dragged = DrawnRobot(scene, ARM), []
    drawn.drag_by(lambda link, event: dragged.append((link, event)))
    drawn.restyle("model")
    for part, node in drawn._meshes:
        (callback,) = node.on_drag.return_value.call_args.args
        with pytest.raises(
            StopIteration
        ):  # it ends without waiting; pages of other tests have this thread's event loop
            callback("event").send(None)
        assert dragged[-1] == (ARM.link_names[part.link], "event")
    drawn.drag_by(None)
    drawn.restyle("visual")
    assert not any(node.on_drag.called for _, node in drawn._meshes)


def test_a_push_ends_in_time_however_long_a_frame_is():
    page, source, _ = source_of("PD")
    source.begin()
    wrench = np.array([0.0, 0.0, 0.0, 0.0, 30.0, 0.0])
    source.push("link2", wrench, 0.05, 0.0)
    source.play(0.2, None)
    assert page.state.wrenches == {}
    pushed = ARM.simulate(START, None, 0.05, cr.PD(ARM, START), external={"link2": wrench})
    after = ARM.simulate(pushed.q[-1], pushed.qd[-1], 0.15, cr.PD(ARM, START))
    assert_allclose(page.state.q, after.q[-1], atol=1e-12)


def test_a_joint_that_the_user_moves_is_a_new_target_and_the_others_keep_theirs():
    page, source, _ = source_of("PD")
    source.begin()
    source.play(0.1, None)
    page.move(q=page.state.q + np.array([0.2, 0.0]))
    source.play(3.0, None)
    assert_allclose(page.state.q, START + np.array([0.2, 0.0]), atol=1e-3)


def test_another_law_holds_the_robot_where_it_is_then():
    page, source, settings = source_of(RELEASED)
    source.begin()
    source.play(0.2, None)
    fallen = page.state.q
    settings[0] = Settings("ComputedTorque", limits="Ignored")
    source.play(3.0, None)
    assert_allclose(page.state.q, fallen, atol=1e-2)
    assert_allclose(source.live.end, 3.0)


def test_a_simulation_goes_on_from_what_is_shown_and_from_what_the_user_has_put():
    page, source, _ = source_of(RELEASED)
    source.begin()
    source.play(0.3, None)
    source.show(0.1, None)
    at = page.state.time
    source.begin()
    source.play(0.2, None)
    assert_allclose(page.state.q, ARM.simulate(START, None, 0.2).q[-1], atol=1e-12)
    assert at < 0.1 < source.end
    page.move(q=np.array([1.0, 1.0]), qd=REST)
    source.begin()
    source.play(0.3, None)
    assert_allclose(page.state.q, ARM.simulate([1.0, 1.0], None, 0.1).q[-1], atol=1e-12)
    source.forget()
    assert (source.start, source.end) == (0.0, 0.0)


def test_a_world_that_changes_while_it_runs():
    page, source, _ = source_of(RELEASED)
    source.begin()
    source.play(0.1, None)
    page.state = replace(page.state, parameters={"gravity": np.zeros(3)})
    source.play(0.2, None)
    first = ARM.simulate(START, None, 0.1)
    second = ARM.at({"gravity": [0.0, 0.0, 0.0]}).simulate(first.q[-1], first.qd[-1], 0.1)
    assert_allclose(page.state.q, second.q[-1], atol=1e-12)


# --- rollouts ---


@pytest.mark.parametrize("variation", ["Starts", "Payloads"])
def test_rollouts_are_the_librarys(variation):
    found = vary(ARM, START, REST, Settings("PD", limits="Ignored"), variation, count=3, amount=0.4, duration=0.2)
    law = cr.PD(ARM, START)
    assert len(found) == 3
    assert_allclose(found[0].motion.q[-1], START, atol=1e-9)
    if variation == "Starts":
        expected = ARM.simulate(START + 0.4, None, 0.2, law)
        assert found[2].label == "start + 0.4"
    else:
        expected = ARM.at({"tip.payload": [0.4] + [0.0] * 9}).simulate(START, None, 0.2, law)
        assert found[2].label == "0.4 kg"
    assert_allclose(found[2].motion.q[-1], expected.q[-1], atol=1e-12)


def test_rollouts_of_all_controllers():
    found = vary(ARM, START, REST, Settings(limits="Ignored"), "Controllers", duration=0.1)
    assert [one.label for one in found] == usable_laws(ARM)
    assert_allclose(found[0].motion.q[-1], ARM.simulate(START, None, 0.1).q[-1], atol=1e-12)


def test_payloads_are_added_to_those_of_the_world():
    world = {"tip.payload": np.array([1.0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0])}
    found = vary(
        ARM, START, REST, Settings(limits="Ignored"), "Payloads", count=2, amount=2.0, duration=0.1, parameters=world
    )
    expected = ARM.at({"tip.payload": [3.0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0]}).simulate(START, None, 0.1)
    assert_allclose(found[1].motion.q[-1], expected.q[-1], atol=1e-12)


def test_starts_stay_within_the_limits():
    arm = ARM.edit(joints={"*": {"lower": -0.5, "upper": 0.5}})
    found = vary(arm, START, REST, Settings(), "Starts", count=3, amount=2.0, duration=0.1)
    assert_allclose(found[2].motion.q[0], [0.5, 0.5])


def test_rollouts_that_are_refused():
    with pytest.raises(cr.ShapeError, match="rollouts last up to 60 s, got 100 s"):
        vary(ARM, START, REST, Settings(), "Starts", duration=100.0)
    with pytest.raises(cr.ShapeError, match=f"at most {MAX_ROLLOUTS} rollouts"):
        vary(ARM, START, REST, Settings(), "Starts", count=99)
    with pytest.raises(cr.UnknownNameError, match=r"variation.*'Start'.*Starts"):
        vary(ARM, START, REST, Settings(), "Start")


# --- videos ---

FRAMES = [np.full((31, 41, 3), shade, dtype=np.uint8) for shade in (0, 90, 180, 250)]


def test_frames_of_a_video_keep_its_time():
    times = video.frame_times(1.0, 2.0, fps=10.0)
    assert_allclose(times, np.linspace(1.0, 2.0, 11))
    assert_allclose(video.frame_times(0.0, 1.0, fps=10.0, speed=2.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    with pytest.raises(cr.ShapeError, match="601 frames are too many for a video"):
        video.frame_times(0.0, 60.0, fps=10.0)
    with pytest.raises(cr.ShapeError, match="there is no motion to record yet"):
        video.frame_times(1.0, 1.0, fps=10.0)


def test_a_gif_has_all_frames_and_their_time():
    image = Image.open(io.BytesIO(video.encode(iter(FRAMES), 20.0, "GIF")))
    assert (image.format, image.n_frames, image.size) == ("GIF", 4, (41, 31))
    lasting = []
    for k, frame in enumerate(FRAMES):
        image.seek(k)
        lasting.append(image.info["duration"])
        assert_allclose(np.asarray(image.convert("RGB")), frame, atol=8)
    assert sum(lasting) == 200


def test_a_screenshot_is_a_png():
    image = Image.open(io.BytesIO(video.png(FRAMES[1])))
    assert (image.format, image.getpixel((3, 3))) == ("PNG", (90, 90, 90))


def test_without_ffmpeg_there_are_gifs_only(monkeypatch):
    monkeypatch.setattr(video.shutil, "which", lambda name: None)
    assert video.kinds() == ("GIF",)
    with pytest.raises(cr.ShapeError, match=r"an \.mp4 file needs ffmpeg, .*, or write a GIF"):
        video.encode(iter(FRAMES), 20.0, "MP4")


def test_a_page_that_gives_no_picture_is_told_about():
    session = MagicMock()
    session.client.get_render.side_effect = TimeoutError
    with pytest.raises(CaptureError, match="The page gave no picture: keep its tab in the foreground"):
        Recorder(session, MagicMock()).capture(10, 10)


def test_a_recording_goes_on_when_its_controls_are_gone():
    class Removed:
        def __setattr__(self, name, value):
            raise RuntimeError(f"Cannot assign to {name!r} on a removed handle")

    session = MagicMock()
    session.client.get_render.return_value = np.zeros((10, 12, 3), dtype=np.uint8)
    recorder = Recorder(session, MagicMock())
    recorder.button = recorder.progress = Removed()
    recorder.width, recorder.kind, recorder.fps = SimpleNamespace(value="12"), SimpleNamespace(value="GIF"), MagicMock()
    recorder.fps.value = 10
    session.client.camera.image_height, session.client.camera.image_width = 10, 12
    session.guarded.side_effect = lambda work: work
    session.robot.name = "arm"
    recorder._run([0.0, 0.1], threading.Event())
    (name, content), _ = session.client.send_file_download.call_args
    assert name == "arm.gif"
    assert content.startswith(b"GIF")


def test_a_robot_that_cannot_move_is_not_simulated():
    assert SimulationPanel().suits(ARM)
    assert not SimulationPanel().suits(ARM.lock({"joint1": 0.0, "joint2": 0.0}))


def _ffmpeg(folder, monkeypatch, text):
    """A program in place of ffmpeg."""
    program = folder / "ffmpeg"
    program.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(video.shutil, "which", lambda name: str(program))


def test_frames_go_through_ffmpeg_with_even_sizes(tmp_path, monkeypatch):
    _ffmpeg(
        tmp_path, monkeypatch,
        "size = sys.argv[sys.argv.index('-s') + 1]\nopen(sys.argv[-1], 'wb').write(size.encode() + sys.stdin.buffer.read())",
    )  # fmt: skip
    assert video.kinds() == ("MP4", "GIF")
    content = video.encode(iter(FRAMES), 20.0, "MP4")
    assert content == b"40x30" + b"".join(frame[:30, :40].tobytes() for frame in FRAMES)


def test_what_ffmpeg_says_is_told(tmp_path, monkeypatch):
    _ffmpeg(tmp_path, monkeypatch, "sys.exit('no such codec')")
    with pytest.raises(cr.ShapeError, match="ffmpeg could not write the video: no such codec"):
        video.encode(iter(FRAMES), 20.0, "MP4")

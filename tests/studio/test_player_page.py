"""Simulation, replay and wheels as they are used on the page."""

import io
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from waiting import eventually

import chainrule as cr
from chainrule.studio.player.recordings import activities
from studio.tab import session_of, share_changed

ARM = cr.load("planar_2r")
SMALL = {"width": 780, "height": 520}


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio("planar_2r")


def panel(session, title):
    return next((mounted.panel for mounted in session._mounted if mounted.panel.title == title), None)


@pytest.fixture
def visit(studio, open_tab):
    """A function that opens a tab of the panel, and gives the page, its session, and the panel."""

    def visit(title):
        before = set(studio.sessions)
        tab = open_tab(studio.address, **SMALL)
        (new,) = eventually(lambda: set(studio.sessions) - before)
        session = studio.sessions[new]
        tab.turn_to(title)
        return tab, session, eventually(lambda: panel(session, title))

    return visit


@pytest.mark.slow
def test_a_simulation_is_held_pushed_looked_back_at_and_ends_with_its_tab(studio, visit):
    tab, session, sim = visit("Simulate")
    tab.says("the robot falls")
    tab.choose("Controller", "PD")
    tab.says("a spring and a damper")
    tab.fill("Bandwidth (Hz)", 3)
    tab.choose("Joint limits", "Ignored")
    tab.choose("On link", "link2")
    tab.fill("Force (N)", -40, place=1)
    tab.fill("Moment (N m)", 1, place=2)
    tab.fill("For (s)", 0.2)
    tab.choose("Speed", "0.5x")
    start = session.state.q
    tab.click("Push")
    assert_allclose(eventually(lambda: session.state.wrenches)["link2"], [0, 0, 1, 20, -40, 0])
    tab.click("Play", until=lambda: sim.live.end > 0.3)  # the button is called otherwise while it plays
    tab.click("Pause", until=lambda: not sim.transport.playing)
    assert session.state.wrenches == {}  # the push is over
    live = sim.live.live
    motion = ARM.simulate(start, None, 0.2, cr.PD(ARM, start, bandwidth=3.0), external={"link2": [0, 0, 1, 20, -40, 0]})  # fmt: skip
    pushed = live.at(0.15)
    assert_allclose(pushed.q, motion.q[round(pushed.time / 1e-3)], atol=1e-9)
    tab.fill("Time (s)", 0.1, until=lambda: abs(session.state.time - 0.1) < 0.02)
    shown = session.state
    T, V = ARM.kinetic_energy(shown.q, shown.qd), ARM.potential_energy(shown.q)
    tab.says(f"kinetic {T:.4g} J, potential {V:.4g} J, total {T + V:.4g} J")
    tab.click("Back", until=lambda: session.state.time < shown.time)  # the field may send its number again
    tab.click("To start", until=lambda: session.state.time == 0.0)
    tab.click("Step")
    eventually(lambda: session.state.time == pytest.approx(0.01, abs=0.02))
    tab.page.keyboard.press("p")
    eventually(lambda: sim.transport.playing and sim.live.end > 0.1)
    assert "chainrule studio motion" in [thread.name for thread in threading.enumerate()]
    tab.page.context.close()
    eventually(lambda: session not in studio.sessions.values())
    eventually(lambda: "chainrule studio motion" not in [thread.name for thread in threading.enumerate()])


@pytest.mark.slow
def test_divergence_is_told_on_the_page_and_rollouts_become_a_video(visit):
    tab, session, sim = visit("Simulate")
    session.move(qd=[1e9, -1e9])
    tab.choose("Joint limits", "Ignored")
    tab.click("Play")
    tab.says("the motion diverges at about t =")
    eventually(lambda: not sim.transport.playing)
    tab.click("Start from here", until=lambda: not session.state.qd.any())
    before = tab.canvas()
    tab.page.get_by_text("Rollouts as ghosts").click()
    tab.choose("What differs", "Starts")
    tab.fill("How many", 3)
    tab.fill("By up to", 0.4)
    tab.fill("Duration (s)", 0.5)
    tab.click("Compute", until=lambda: sim.ghosts is not None and len(sim.ghosts) == 2)
    tab.says("start + 0.4")
    eventually(lambda: not sim.transport.playing)
    tab.says("3 rollouts, t = 0.50 s")
    end = ARM.simulate(ARM.home(), None, 0.5).q[-1]
    assert_allclose(session.state.q, end, atol=1e-9)
    assert share_changed(before, tab.canvas()) > 0.01
    tab.page.get_by_text("Pictures").locator("visible=true").click()
    tab.choose("Width", "480")
    tab.fill("Frames a second", 5)
    with tab.page.expect_download() as download:
        tab.click("Record")
    assert download.value.suggested_filename == "planar_2r.gif"
    video = Image.open(io.BytesIO(download.value.path().read_bytes()))
    assert (video.n_frames, video.size[0]) == (3, 480)
    with tab.page.expect_download() as download:
        tab.click("Screenshot")
    assert Image.open(io.BytesIO(download.value.path().read_bytes())).format == "PNG"
    tab.click("Remove", until=lambda: sim.ghosts is None)


def test_motions_are_opened_and_played(visit, tmp_path):
    tab, session, replay = visit("Replay")
    tab.says("No motion is open.")
    swing = ARM.simulate([0.3, 0.4], None, 0.5, dt=0.01)
    swing.save(tmp_path / "swing.npz")
    tab.upload("Open a motion", {"name": "a*b.npz", "mimeType": "", "buffer": (tmp_path / "swing.npz").read_bytes()})
    tab.says("a*b.npz")
    tab.says("51 samples, 0.5 s")
    eventually(lambda: np.allclose(session.state.q, swing.q[0]))
    assert_allclose(replay.residuals.plot.data[1:], 0.0, atol=1e-9)
    tab.fill("Time (s)", 0.255, until=lambda: abs(session.state.time - 0.255) < 1e-9)
    assert_allclose(session.state.q, swing.resample([0.255]).q[0])
    tab.click("To start", until=lambda: session.state.time == 0.0)
    tab.choose("Speed", "4x")
    tab.click("Play", until=lambda: session.state.time == 0.5)
    assert_allclose(session.state.q, swing.q[-1])
    heavy = ARM.with_payload(1.0).simulate([0.3, 0.4], None, 0.5, [3.0, 1.0], dt=0.01)
    heavy.save(tmp_path / "heavy.npz")
    tab.upload("Open a motion", {"name": "heavy.npz", "mimeType": "", "buffer": (tmp_path / "heavy.npz").read_bytes()})
    tab.says("heavy.npz")
    predicted = ARM.inverse_dynamics(heavy.q, heavy.qd, heavy.qdd)
    eventually(lambda: np.allclose(np.transpose(replay.residuals.plot.data[1:]), heavy.tau - predicted))
    tab.upload("Open a motion", {"name": "bad.csv", "mimeType": "", "buffer": b"nothing"})
    tab.says("bad.csv")
    batch = ARM.simulate(np.array([[0.3, 0.4], [0.5, 0.4]]), None, 0.1, dt=0.01)
    batch.save(tmp_path / "batch.npz")
    tab.fill("Path", tmp_path / "batch.npz")
    tab.tick("Over and over")
    tab.click("Open path")
    tab.says("2 of 2 motions are shown")
    assert len(replay.ghosts) == 1
    eventually(lambda: replay.transport.clock.looping)
    tab.click("Activities of the study")
    tab.choose("Activity", next(iter(activities())))
    tab.click("Show activity", until=lambda: session.robot.name != "planar_2r")
    shown = eventually(lambda: (new := panel(session, "Replay")) is not replay and new)
    eventually(lambda: shown.recording is not None)
    assert_allclose(session.state.q, shown.recording.motion.q[0])


def test_a_base_is_driven_by_keys_and_buttons(start_studio, open_tab):
    base = cr.Builder("base").planar("drive").link("chassis", mass=5.0, radius=0.2, shape="sphere").robot()
    studio = start_studio(base.reference)
    tab = open_tab(studio.address, **SMALL)
    session = session_of(studio)
    wheels = panel(session, "Wheels")
    session.move([1.0, 2.0, np.pi / 2])
    tab.turn_to("Wheels")
    before = tab.settled_canvas()
    tab.fill("Slip of wheels (%)", 0)
    tab.fill("Right wheel larger by (%)", 5)
    tab.fill("Ticks a turn", 1024)
    for _ in range(5):
        tab.page.keyboard.press("i")
    tab.click("Faster")
    tab.click("Turn left", until=lambda: np.allclose(wheels.drive.twist, [0.6, 0.0, 0.2]))
    turned = wheels.drive.time
    eventually(lambda: wheels.drive.time > turned + 0.5)
    tab.press("x", until=lambda: not wheels.runner.playing)
    x, y, theta = wheels.drive.pose
    tab.says(f"Truth: x {x:.3f} m, y {y:.3f} m, heading {np.degrees(theta):.1f} degrees")
    assert theta > wheels.drive.believed[2] + 0.01
    assert_allclose(session.state.q, [1.0 - y, 2.0 + x, np.pi / 2 + theta], atol=1e-9)
    assert share_changed(before, tab.canvas()) > 0.002
    tab.choose("Wheels of a", "Mecanum wheels", until=lambda: wheels.drive.time == 0.0)
    tab.click("To the left", until=lambda: wheels.drive.pose[1] > 0.02)
    tab.click("Start again", until=lambda: wheels.drive.time == 0.0)

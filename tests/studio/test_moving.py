"""The robot moved and looked at on the page: sliders, configurations, the gizmo, switches of the view, keys."""

from __future__ import annotations

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from chainrule.core.closure import closure_of
from studio.tab import Tab, session_of, share_changed


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio(cr.load("planar_2r").edit(links={"link2": {"inertia": [0.01, 0.02, 0.03]}}))


@pytest.fixture(scope="module")
def page(studio, browser):
    """One tab for all tests of this file; each begins at home."""
    context = browser.new_context(viewport={"width": 900, "height": 560})
    tab = Tab(context.new_page()).open(studio.address)
    tab.page.add_style_tag(
        content=".mantine-Notification-root, .mantine-Notification-root * { pointer-events: none !important }"
    )  # they may lie over the tip
    yield tab
    context.close()
    assert tab.errors == []


@pytest.fixture
def tab(page, studio):
    page.turn_to("Move")
    session = session_of(studio)
    page.click("Home", until=lambda: np.allclose(session.state.q, session.robot.home()))
    return page


@pytest.fixture
def session(studio, tab):
    return session_of(studio)


def pixel(session, point):
    """Where a point of the scene is on the page, in pixels from the upper left."""
    from scipy.spatial.transform import Rotation

    camera = session.client.camera
    x, y, z = Rotation.from_quat(camera.wxyz, scalar_first=True).inv().apply(point - camera.position)
    focal = camera.image_height / 2 / np.tan(camera.fov / 2)
    return camera.image_width / 2 + focal * x / z, camera.image_height / 2 + focal * y / z


def test_a_slider_moves_the_robot_and_the_picture(tab, session):
    before = tab.settled_canvas()
    tab.fill("joint1", 10, until=lambda: session.state.q[0] == pytest.approx(np.radians(10)))
    assert session.state.q[1] == pytest.approx(session.robot.home()[1])
    eventually(lambda: share_changed(before, tab.canvas()) > 0.002)
    tab.slide("joint2", -3)
    eventually(lambda: session.state.q[1] == pytest.approx(session.robot.home()[1] - np.radians(0.3)))


def test_sliders_show_the_state_in_degrees_and_radians(tab, session):
    session.move([0.5, -0.25])
    eventually(lambda: tab.value("joint1") == pytest.approx(np.degrees(0.5), abs=0.06))
    tab.click("radians", until=lambda: tab.page.get_by_text("Positions in radians").count())
    eventually(lambda: tab.value("joint2") == pytest.approx(-0.25, abs=1e-3))
    tab.fill("joint2", 0.75, until=lambda: session.state.q[1] == pytest.approx(0.75))
    tab.click("degrees", until=lambda: tab.page.get_by_text("Positions in degrees").count())


def test_configurations_are_chosen_and_kept(tab, session):
    tab.choose("Configuration", "neutral", until=lambda: not session.state.q.any())
    tab.click("Random", until=lambda: session.state.q.any() or None)
    kept = session.state.q
    tab.unfold("Keep this configuration")
    tab.click("Keep")
    tab.says("a configuration needs a name")
    tab.fill("Name", "bent")
    tab.click("Keep")
    tab.says("'bent' is kept")
    tab.press("h", until=lambda: np.allclose(session.state.q, session.robot.home()))
    tab.choose("Configuration", "neutral", until=lambda: not session.state.q.any())
    tab.choose("Configuration", "bent", until=lambda: np.allclose(session.state.q, kept))


def test_the_robot_follows_the_gizmo_and_says_when_it_cannot(tab, session):
    tip = session.robot.pose(session.state.q)[:3, 3]
    start, end = pixel(session, tip), pixel(session, tip + np.array([-0.3, -0.3, 0.0]))
    mouse = tab.page.mouse
    size = 0.16 * 2.0  # the gizmo's plane handle is drawn toward its own x and y
    T = session.robot.pose(session.state.q)
    grip = pixel(session, tip + 0.3 * size * (T[:3, 0] + T[:3, 1]))
    tab.settled_canvas()  # the gizmo is where it will be grasped
    mouse.move(*grip)
    mouse.down()
    shift = np.subtract(end, start)
    for share in np.linspace(0, 1, 6):
        mouse.move(*(np.array(grip) + share * shift))
    eventually(lambda: np.linalg.norm(session.robot.pose(session.state.q)[:2, 3] - tip[:2]) > 0.2)
    mouse.move(*(np.array(grip) + 6 * np.array([-60.0, -60.0])))
    mouse.move(*(np.array(grip) + 6 * np.array([-61.0, -61.0])))
    tab.says("Out of reach")
    mouse.up()


MARKS = ("Frames", "Joint axes", "Joint names", "Centers of mass", "Inertia ellipsoids", "Inertia boxes",
         "Total center of mass")  # fmt: skip


@pytest.mark.slow
def test_switches_of_the_view_change_the_picture(tab, session):
    tab.turn_to("View")
    before = tab.settled_canvas()
    for label in MARKS:
        tab.tick(label)
    eventually(lambda: share_changed(before, tab.canvas()) > 0.01)
    assert tab.value("Opacity") == 0.35
    assert all(marks._nodes for marks in session_view(session)._marks.values())
    assert session_view(session)._total.visible
    for label in MARKS:
        tab.tick(label, False)
    eventually(lambda: tab.value("Opacity") == 1)
    assert not any(node.visible for marks in session_view(session)._marks.values() for node in marks._nodes)
    for label in ("Ground", "Shadow"):
        tab.tick(label, False)
    tab.tick("Dark", until=lambda: tab.canvas().mean() < 100)
    assert not session.backdrop._ground.visible
    for label in ("Ground", "Shadow"):
        tab.tick(label)
    tab.tick("Dark", False)


def session_view(session):
    return next(mounted.panel for mounted in session._mounted if mounted.panel.title == "View")


def test_the_trail_follows_the_tip_and_the_camera_turns(tab, session):
    tab.turn_to("View")
    tab.tick("Trail of the tip")
    for angle in np.linspace(0, 1, 8):
        session.move([angle, 0.5])
        eventually(lambda angle=angle: np.allclose(session_view(session)._trail._points[-1:], tip_of(session)))
    tab.tick("Trail of the tip", False)
    for side in ("Top", "Reset"):
        wanted = session.seen_from(side).position
        tab.click(side, until=lambda wanted=wanted: np.allclose(session.client.camera.position, wanted, atol=0.05))


def tip_of(session):
    return session.robot.pose(session.state.q)[:3, 3]


def test_another_robot_takes_the_place_of_the_first(tab, session):
    session.show(cr.load("slider_crank"))
    tab.says("crank")
    tab.fill("crank", 30, until=lambda: session.state.q[0] == pytest.approx(np.radians(30)))
    assert closure_of(session.robot).is_closed(session.state.q)
    slider = session.robot.joint_names.index("slider")
    eventually(lambda: tab.value("slider (m)") == pytest.approx(session.state.q[slider], abs=1e-3))  # it has followed
    tab.fill("slider (m)", 0.32)
    tab.says("'wrist_pin' stays open")
    session.show(cr.load("planar_2r"))
    tab.says("joint1")

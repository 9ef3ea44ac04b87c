"""The panels of dynamics, equations and the doctor, used in a browser: the numbers on the page are the library's."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from waiting import eventually

import chainrule as cr
from chainrule.studio import world
from chainrule.studio.scene import loads
from studio.tab import session_of, share_changed

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def robot():
    arm = (
        cr.load("planar_2r")
        .edit(joints={"*": {"effort": [60.0, 20.0]}})
        .edit(joints={"*": {"coulomb": 0.5, "viscous": 0.2}})
    )
    return arm.rename({"joint2": HOSTILE}).reference


@pytest.fixture(scope="module")
def studio(start_studio, robot):
    return start_studio(robot)


def texts(tab, selector):
    return tab.page.locator(selector).locator("visible=true").all_inner_texts()


def totals(tab):
    return [float(x) for x in texts(tab, ".cr .row .num")]


def agree(tab, robot, session):
    """Wait until the chart has the torques of the present state, to the digits that it shows."""
    expected = [f"{x:.4g}" for x in world.torque_terms(robot, session.state)["total"]]
    return eventually(lambda: texts(tab, ".cr .row .num") == expected)


def test_torques_pushes_and_worlds_on_the_page_are_those_of_the_library(studio, robot, tab):
    tab.open(studio.address)
    session = session_of(studio)
    tab.turn_to("Dynamics")
    eventually(lambda: len(totals(tab)) == 2)
    agree(tab, robot, session)
    assert texts(tab, ".cr .row .name")[1] == HOSTILE
    assert tab.page.locator("img[src=x]").count() == 0
    session.move([0.4, 0.9])
    eventually(lambda: totals(tab) == pytest.approx(robot.gravity_torque([0.4, 0.9]), rel=1e-3))

    tab.unfold("Velocity and acceleration")
    tab.click("Random", until=lambda: bool(session.state.qd.any()))
    agree(tab, robot, session)
    state = session.state
    assert totals(tab) == pytest.approx(robot.inverse_dynamics(state.q, state.qd, state.qdd), rel=1e-3)
    tab.tick("Numbers", until=lambda: "friction" in " ".join(texts(tab, ".cr .grid th")))
    cells = eventually(lambda: texts(tab, ".cr .grid td"))
    friction = robot.friction_torque(state.qd)
    assert f"{friction[0]:.4g}" in cells
    tab.choose("Bars", "share of limit")
    tab.says("100 % of limit")
    tab.tick("Numbers", False)
    tab.click("At rest", until=lambda: not session.state.qd.any())
    tab.unfold("Velocity and acceleration")

    tab.unfold("Gravity, payload, friction")
    moon = robot.edit(gravity=1.62 * robot.gravity / 9.81)
    laden = moon.with_payload(0.6)
    weight, laden_weight = (world.gravity_torque(session.state.q) for world in (moon, laden))
    tab.click("Moon", until=lambda: totals(tab) == pytest.approx(weight, rel=1e-3))
    tab.fill("Payload kg", 0.6, until=lambda: totals(tab) == pytest.approx(laden_weight, rel=1e-3))
    before = tab.canvas()
    tab.fill("Tilt °", 90, until=lambda: share_changed(before, tab.canvas()) > 1e-4)
    tab.click("As the robot has it", until=lambda: session.state.parameters == {})
    eventually(lambda: totals(tab) == pytest.approx(robot.gravity_torque(session.state.q), rel=1e-3))
    tab.unfold("Gravity, payload, friction")

    tab.unfold("Mass matrix")
    M = eventually(lambda: texts(tab, ".cr .heat td"))
    assert [f"{x:.3g}" for x in robot.mass_matrix(session.state.q).ravel()] == M


@pytest.mark.slow
def test_a_link_is_pushed_by_an_arrow_and_singular_postures_are_told(studio, robot, tab):
    tab.open(studio.address)
    session = session_of(studio)
    session.move([0.4, 0.9])
    tab.turn_to("Dynamics")
    tab.unfold("Push a link")
    tab.choose("Pushed link", "link1")
    tab.fill("Moment (N m)", 3.0, place=2, until=lambda: "link1" in session.state.wrenches)
    pushed = {"link1": np.array([0, 0, 3.0, 0, 0, 0])}
    expected = robot.inverse_dynamics([0.4, 0.9], [0, 0], [0, 0], external=pushed)
    eventually(lambda: totals(tab) == pytest.approx(expected, rel=1e-3))
    tab.says("external")
    tab.click("Let go of all links", until=lambda: not session.state.wrenches)

    tab.choose("Pushed link", "link2")
    tab.tick("Arrow to drag", until=lambda: "link2" in session.state.wrenches)
    first = session.state.wrenches["link2"][3:]
    assert first == pytest.approx(-loads.FIRST_PUSH * robot.mass * robot.gravity)
    tab.settled_canvas()
    handle = robot.poses([0.4, 0.9])[2, :3, 3] + loads.meters_per_newton(robot) * first
    drag_handle(tab, session, handle, np.array([1.0, 0.0, 0.0]))
    eventually(lambda: session.state.wrenches["link2"][3] > 1.0)
    force = session.state.wrenches["link2"][3:]
    assert force[1:] == pytest.approx(first[1:], abs=0.05 * force[0])
    agree(tab, robot, session)
    assert tab.values("Force (N)")[0] == pytest.approx(force[0], abs=0.51)
    tab.click("Let go of all links")
    tab.unfold("Push a link")

    tab.unfold("Ellipsoids and singularities")
    before = tab.canvas()
    tab.tick("Velocity")
    tab.tick("Force", until=lambda: share_changed(before, tab.canvas()) > 0.002)
    shown = next(line for line in texts(tab, ".cr div") if line.startswith("velocity"))
    lengths = robot.analysis.ellipsoid([0.4, 0.9]).lengths
    assert [float(x) for x in re.findall(r"[\d.]+(?=[, ])", shown)][:2] == pytest.approx(lengths[:2], rel=1e-3)
    assert f"Manipulability {robot.manipulability([0.4, 0.9]):.4g}" in tab.text()
    session.move([0.0, 0.0])
    tab.says("Singular: no joint motion gives moving along x.")


def drag_handle(tab, session, point, direction):
    """Drag a transform handle at a point along one of its axes with the mouse."""
    camera, canvas = session.client.camera, tab.page.locator("canvas").first.bounding_box()
    R = Rotation.from_quat(camera.wxyz, scalar_first=True).as_matrix()

    def on_screen(p):
        x, y, z = R.T @ (p - camera.position)
        focal = canvas["height"] / 2 / np.tan(camera.fov / 2)
        return canvas["x"] + canvas["width"] / 2 + focal * x / z, canvas["y"] + canvas["height"] / 2 + focal * y / z

    mouse = tab.page.mouse
    mouse.move(*on_screen(point + 0.22 * direction))
    mouse.down()
    for way in np.linspace(0.22, 0.8, 7):
        mouse.move(*on_screen(point + way * direction))
    mouse.up()


@pytest.mark.slow
def test_equations_have_the_present_numbers_and_findings_show_their_elements(studio, robot, tab):
    tab.open(studio.address)
    session = session_of(studio)
    q, qd = [0.4, 0.9], [1.0, -0.5]
    session.move(q, qd)
    tab.turn_to("Equations")
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, qd)
    tau = robot.inverse_dynamics(q, qd, [0, 0])
    numbers = [M[0, 0], M[0, 1], M[1, 1], C[0, 0], C[0, 1], C[1, 0], *robot.gravity_torque(q), *tau]
    expected = [f"= {x:.4g}" for x in numbers]
    eventually(lambda: texts(tab, ".cr .value") == expected)
    lines = ".cr .formula .wide > div"
    formulas = tab.page.locator(lines).count()
    tab.tick("Put numbers in", until=lambda: tab.page.locator(lines).count() == 2 * formulas)
    tab.choose("Derivation by", "closed-form")
    tab.click("Show it step by step")
    tab.page.locator(".chainrule-document .equation").first.wait_for()
    tab.click("Close")
    tab.page.locator(".chainrule-document").first.wait_for(state="detached")

    tab.turn_to("Robot")
    tab.unfold("Doctor")
    tab.says("0 serious, 0 suspicious")
    assert texts(tab, ".cr .note b") == [finding.element for finding in robot.doctor()]
    before = tab.settled_canvas()
    tab.click("Show all 2", until=lambda: share_changed(before, tab.canvas()) > 0.001)
    marked = tab.settled_canvas()
    tab.click("Hide the marks", until=lambda: share_changed(marked, tab.canvas()) > 0.0005)


@pytest.mark.slow
def test_equations_that_do_not_exist_say_why(start_studio, tab):
    studio = start_studio(cr.load("four_bar").reference)
    tab.open(studio.address)
    tab.turn_to("Equations")
    tab.click("Derive the equations")
    tab.says(re.compile("has loops, whose constraints leave no equations"))

"""The page computes in the browser what the library computes: joints dragged, torques, loops, a simulation, a replay."""

from html import escape

import numpy as np
import pytest
from tiers import with_slow
from waiting import eventually

import chainrule as cr
from chainrule.robot.building import to_urdf

ROBOTS = ["planar_2r", "panda", "panda_hand", "four_bar", "quadruped", "human_arm", "delta", "stewart_platform", "g1"]
MAX_BYTES = 300_000
"""Of the page of an arm of seven joints without meshes."""


def first_hand(robot):
    return robot.model.end_effector or robot.model.tips[0]


def numbers_on(page):
    """The table of torques by cause, as it is written: {cause: numbers by joint}."""
    page.page.get_by_text("As numbers").click()
    eventually(page.page.locator(".numbers td").first.inner_text)
    names = page.page.locator(".numbers thead th").all_inner_texts()[1:]
    rows = page.page.locator(".numbers tbody tr").all()
    table = [[float(text) for text in row.locator("td").all_inner_texts()] for row in rows]
    return dict(zip(names, np.transpose(table), strict=True))


@pytest.mark.parametrize("name", with_slow(ROBOTS, *(set(ROBOTS) - {"planar_2r", "four_bar", "quadruped"})))
def test_every_number_is_that_of_the_library(open_page, name):
    robot = cr.load(name)
    page = open_page(robot, size=(600, 400))
    rng = np.random.default_rng(3)
    q = robot.integrate(robot.home(), 0.2 * rng.standard_normal(robot.nv))
    q = robot.loops.close(q) if robot.model.constraints else q
    qd, qdd = (0.5 * rng.standard_normal(robot.nv) for _ in range(2))
    if robot.model.constraints:
        qd = robot.loops.consistent_velocity(q, qd)
        qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    found = page.run(
        """(([q, qd, qdd]) => {
          const { robot, picture } = it;
          return {
            qd: Array.from(robot.consistentVelocity(q, qd)), qdd: Array.from(robot.consistentAcceleration(q, qd, qdd)),
            poses: robot.poses(q).map(T => Array.from(T)), terms: robot.terms(q, qd, qdd), energies: robot.energies(q, qd),
            mass: Array.from(robot.call.mass_matrix(q)),
            axes: robot.ellipsoid(q, picture.hand), at: robot.handPoint(robot.poses(q), picture.hand),
          };
        })(argument)""",
        [x.tolist() for x in (q, qd, qdd)],
    )
    hand = first_hand(robot)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b).max()))  # noqa: E731
    np.testing.assert_allclose(found["qd"], qd, atol=1e-7)
    np.testing.assert_allclose(found["qdd"], qdd, atol=1e-6)
    close(np.reshape(found["poses"], (-1, 4, 4)), robot.poses(q))
    for cause, torque in robot.torque_terms(q, qd, qdd).items():
        close(found["terms"][cause], torque)
    close(found["energies"]["kinetic"], robot.kinetic_energy(q, qd))
    close(found["energies"]["potential"], robot.potential_energy(q))
    close(np.reshape(found["mass"], (robot.nv, robot.nv)), robot.mass_matrix(q))
    close(found["at"], robot.pose(q, hand)[:3, 3])
    ellipsoid = robot.analysis.ellipsoid(q, hand, task="position")
    np.testing.assert_allclose([axis["length"] for axis in found["axes"]], ellipsoid.lengths, atol=1e-6)
    assert page.problems == []


def test_the_hand_follows_the_mouse_and_the_torques_shown_are_those_of_the_library(open_page):
    robot = cr.load("panda")
    page = open_page(robot)
    start = page.pixel(robot.pose(robot.home())[:3, 3])
    end = start[0] - 60, start[1] - 50
    page.drag(start, end)
    q = np.array(page.q)
    assert np.abs(q - robot.home()).max() > 0.05
    assert page.pixel(robot.pose(q)[:3, 3]) == pytest.approx(end, abs=1.5)
    table = numbers_on(page)
    for cause, torques in robot.torque_terms(q, np.zeros(7), np.zeros(7)).items():
        np.testing.assert_allclose(table[cause], torques, rtol=1e-3, atol=1e-8)
    shown = [float(box.input_value()) for box in page.page.locator("input[type=number]").all()]
    np.testing.assert_allclose(np.radians(shown), q, atol=1e-4)
    assert page.problems == []


def test_a_dragged_link_turns_its_own_joint_alone(open_page):
    robot = cr.load("planar_2r")
    page = open_page(robot)
    poses = robot.poses(robot.home())
    start = page.pixel((poses[1] @ [0.5, 0, 0, 1])[:3])
    page.drag(start, (start[0] - 50, start[1] - 20))
    q = np.array(page.q)
    assert abs(q[0] - robot.home()[0]) > 0.05
    assert q[1] == robot.home()[1]


def test_the_background_turns_the_view_and_leaves_the_robot(open_page):
    robot = cr.load("planar_2r")
    page = open_page(robot)
    before = page.run("it.picture.camera.eye")
    page.drag((60, 400), (160, 430))
    assert np.abs(np.subtract(page.run("it.picture.camera.eye"), before)).max() > 0.1
    assert page.q == robot.home().tolist()


@pytest.mark.parametrize("name", with_slow(["four_bar", "stewart_platform", "delta"], "stewart_platform", "delta"))
def test_loops_stay_closed_under_the_mouse(open_page, name):
    robot = cr.load(name)
    page = open_page(robot)
    start = page.pixel(robot.pose(robot.home())[:3, 3])
    page.drag(start, (start[0] - 25, start[1] - 25))
    q = np.array(page.q)
    assert np.abs(q - robot.home()).max() > 1e-3
    assert np.abs(robot.loops.residual(q)).max() < 1e-9
    assert page.problems == []


def test_a_slider_of_a_loop_moves_the_other_joints_along(open_page):
    robot = cr.load("four_bar")
    page = open_page(robot)
    page.page.get_by_label("crank", exact=True).fill("0.4")
    page.shown()
    q = page.q
    assert q[0] == pytest.approx(0.4)
    np.testing.assert_allclose(q, robot.loops.close([0.4, *robot.home()[1:]], hold=["crank"]), atol=1e-8)


def test_orientations_are_rotation_vectors(open_page):
    robot = cr.load("quadruped")
    page = open_page(robot)
    page.page.get_by_label("floating_base, turn about z", exact=True).fill("1.2")
    page.page.get_by_label("floating_base, turn about x", exact=True).fill("0.3")
    page.shown()
    from scipy.spatial.transform import Rotation

    np.testing.assert_allclose(Rotation.from_quat(page.q[3:7]).as_rotvec(), [0.3, 0, 1.2], atol=1e-12)
    assert page.problems == []


def test_numbers_are_typed_in_degrees_or_in_radians(open_page):
    page = open_page(cr.load("planar_rp"))
    box = page.page.get_by_label("joint1, number")
    box.fill("30")
    box.press("Enter")
    assert page.q[0] == pytest.approx(np.radians(30))
    page.page.get_by_label("Unit of angles").select_option("radians")
    box.fill("0.25")
    box.press("Enter")
    assert page.q[0] == pytest.approx(0.25)
    assert page.page.locator(".joint .unit").first.inner_text() == "rad"


@pytest.mark.parametrize("name", with_slow(["planar_2r", "panda", "quadruped"], "panda", "quadruped"))
def test_the_simulation_is_that_of_the_library(open_page, name):
    robot = cr.load(name)
    page = open_page(robot)
    steps = 100
    q, qd = page.run(
        """(steps => {
          it.simulation.gravity = 1;
          it.simulation.start(it.state.q, it.state.qd);
          for (let k = 0; k < steps; k++) it.simulation.step();
          return [it.simulation.q, it.simulation.qd];
        })(argument)""",
        steps,
    )
    motion = robot.simulate(robot.home(), None, steps * 1e-3, integrator="rk4", dt=1e-3)
    np.testing.assert_allclose(q, motion.q[-1], atol=1e-7)
    np.testing.assert_allclose(qd, motion.qd[-1], atol=1e-6)


def test_play_lets_it_fall_and_holding_keeps_it(open_page):
    robot = cr.load("panda")
    page = open_page(robot)
    page.page.get_by_role("button", name="Play", exact=True).click()
    eventually(lambda: page.run("it.simulation.time") > 0.1)
    page.page.get_by_role("button", name="Pause", exact=True).click()
    assert np.abs(np.subtract(page.q, robot.home())).max() > 0.02
    page.page.get_by_role("button", name="Home", exact=True).first.click()
    page.page.get_by_label("Hold by PD control").check()
    before = page.run("it.simulation.time")
    page.page.get_by_role("button", name="Play", exact=True).click()
    eventually(lambda: page.run("it.simulation.time") > before + 0.1)
    np.testing.assert_allclose(page.q, robot.home(), atol=1e-6)
    assert page.problems == []


def test_a_replay_shows_the_motion_with_its_torques(open_page):
    robot = cr.load("planar_2r")
    motion = robot.simulate([0.5, 0.3], None, 1.0)
    page = open_page(robot, motion, fps=100)
    eventually(lambda: page.run("it.player.time") > 0.05)
    page.page.get_by_role("button", name="Pause", exact=True).click()
    page.run("it.player.go(0.505)")
    t, q, qd = (page.run(f"it.state.{name} ?? it.player.time") for name in ("time", "q", "qd"))
    assert t == pytest.approx(0.505)
    exact = motion.resample(np.array([0.505]))
    np.testing.assert_allclose(q, exact.q[0], atol=1e-3)
    np.testing.assert_allclose(qd, exact.qd[0], atol=1e-2)
    page.page.get_by_label("Time, s").fill("0.2")
    page.shown()
    assert page.page.locator("#player output").inner_text() == "0.20 s"
    assert page.problems == []


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'${alert(1)}"


def test_names_of_files_are_texts(open_page):
    text = to_urdf(cr.load("planar_2r").edit(gravity=[0, 0, -9.81]))
    for name in ("planar_2r", "joint2", "link2", "tip"):
        text = text.replace(f'"{name}"', f'"{name}{escape(EVIL, quote=True)}"')
    robot = cr.Robot.from_urdf(text)
    assert EVIL in robot.name
    page = open_page(robot)
    assert page.page.title() == robot.name
    assert page.page.locator("h1").inner_text() == robot.name
    assert page.page.locator(".joint .name").nth(1).inner_text() == f"joint2{EVIL}"
    assert page.page.locator("img").count() == 0
    assert page.problems == []


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark"), (720, 480, "light")])
def test_it_fits_is_quiet_and_asks_for_nothing(open_page, width, height, scheme):
    page = open_page(cr.load("panda"), size=(width, height), scheme=scheme)
    assert page.run("document.documentElement.scrollWidth") == width
    assert page.run("document.documentElement.dataset.theme") == scheme
    assert page.problems == []
    assert len(page.asked) == 1


def test_controls_have_names_and_the_keyboard_moves_view_joints_and_hand(open_page):
    robot = cr.load("panda")
    page = open_page(robot)
    nameless = """Array.from(document.querySelectorAll("button, input, select, canvas, [role]"))
      .filter(one => !one.ariaLabel && !one.textContent.trim() && !one.closest("label") && one.role !== "status")
      .map(one => one.outerHTML)"""
    assert page.run(nameless) == []
    page.page.locator("#picture").focus()
    eye, q = page.run("it.picture.camera.eye"), page.q
    page.page.keyboard.press("ArrowLeft")
    assert page.run("it.picture.camera.eye") != eye
    page.page.keyboard.press("w")
    moved = robot.pose(page.q)[:3, 3] - robot.pose(q)[:3, 3]
    assert moved[0] > 0.005
    assert np.abs(moved[1:]).max() < 1e-3
    before = page.q[1]
    page.page.get_by_label("panda_joint2", exact=True).press("ArrowRight")
    page.shown()
    assert page.q[1] != before


def test_two_fingers_zoom_and_one_drags(open_page):
    page = open_page(cr.load("planar_2r"), size=(390, 844), touch=True)
    script = """(([kind, id, x, y]) => {
      const canvas = document.getElementById("picture");
      canvas.setPointerCapture = () => {};
      canvas.dispatchEvent(new PointerEvent(kind, { pointerId: id, pointerType: "touch", clientX: x, clientY: y, button: 0, buttons: 1 }));
    })(argument)"""
    distance = page.run("it.picture.camera.distance")
    for event in (
        ["pointerdown", 1, 40, 380], ["pointerdown", 2, 60, 380], ["pointermove", 2, 160, 380],
        ["pointerup", 1, 40, 380], ["pointerup", 2, 160, 380],
    ):  # fmt: skip
        page.run(script, event)
    assert page.run("it.picture.camera.distance") < 0.5 * distance
    assert page.q == cr.load("planar_2r").home().tolist()


def test_a_page_is_small(tmp_path):
    cr.load("panda").show(path=tmp_path / "panda.html")
    assert (tmp_path / "panda.html").stat().st_size < MAX_BYTES


def test_a_robot_without_masses_is_shown_without_torques(open_page):
    text = """<robot name="light"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
    <child link="b"/><axis xyz="0 0 1"/></joint><link name="c"/><joint name="k" type="fixed"><parent link="b"/>
    <child link="c"/><origin xyz="1 0 0"/></joint></robot>"""
    page = open_page(cr.Robot.from_urdf(text, check=False))
    titles = page.page.locator("h2").all_inner_texts()
    assert titles == ["Joints", "Hand and manipulability", "About this robot"]
    page.page.get_by_text("About this robot").click()
    assert page.page.get_by_text("Torques and energies are not shown").is_visible()
    assert page.problems == []

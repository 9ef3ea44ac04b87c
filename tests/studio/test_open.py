"""Robots opened from the page: bundled ones, files of the machine, uploads; one in place of another, or beside it."""

import io
import zipfile

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from chainrule.studio.charts.differences import differences_table
from chainrule.studio.scene.beside import differing_links, same_posture, sideways
from studio.tab import session_of, share_changed

ARM = """<robot name="uploaded_arm"><link name="base"/><link name="upper">
  <inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="0.1 0.1 1"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" effort="9" velocity="9"/></joint></robot>"""


def zipped(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return content.getvalue()


def open_folder(tab):
    tab.turn_to("Robot")
    tab.unfold("Open another robot")


def upload(tab, name, content):
    tab.upload("Upload a file or zip", {"name": name, "mimeType": "application/octet-stream", "buffer": content})


# --- without a browser --------------------------------------------------------------------------------------------


def test_a_second_robot_takes_the_posture_of_the_first_by_name():
    first, second = cr.load("planar_2r"), cr.load("planar_3r")
    np.testing.assert_allclose(same_posture(first, np.array([0.3, -0.4]), second), [0.3, -0.4, second.home()[2]])
    assert same_posture(first, np.array([0.3, -0.4]), cr.load("panda")).shape == (7,)


@pytest.mark.parametrize("name", ["panda", "planar_2r", "cartesian_3p"])
@pytest.mark.slow
def test_two_robots_side_by_side_do_not_touch(name):
    robot = cr.load(name)
    points = np.random.default_rng(0).normal(size=(50, 3))
    moved = 2 * points + sideways(robot, points, 2 * points)
    across = sideways(robot, points, 2 * points)
    across /= np.linalg.norm(across)
    assert (moved @ across).min() > (points @ across).max()
    assert across @ robot.gravity == pytest.approx(0.0, abs=1e-12)


def test_the_table_of_differences_has_every_number_and_escapes_names():
    one = cr.load(ARM.format(mass=2))
    two = cr.load(ARM.format(mass=3).replace("uploaded_arm", "&lt;b&gt;evil"))
    found = one.compare(two, states=3)
    table = differences_table(found)
    assert "uploaded_arm" in table
    assert "&lt;b&gt;evil" in table
    assert "<b>evil" not in table
    for difference in found:
        assert difference.first in table
        assert difference.second in table
    assert str(found.effect)[:20] in table
    assert differing_links(found, two) == ["upper"]
    assert "do not differ" in differences_table(one.compare(one))


# --- on the page --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio("planar_2r")


def test_robots_from_the_list_a_path_and_uploads(studio, tab, tmp_path):
    tab.open(studio.address)
    session = session_of(studio)
    open_folder(tab)
    tab.choose("Bundled", "pendulum", until=lambda: session.robot.name == "pendulum")
    tab.is_drawn_anew("Robot")

    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(mass=2))
    open_folder(tab)
    tab.fill("Path", path)
    tab.click("Open path", until=lambda: session.robot.name == "uploaded_arm")
    tab.is_drawn_anew("Robot")

    open_folder(tab)
    tab.fill("Path", tmp_path / "missing.urdf")
    tab.click("Open path")
    tab.says("cannot read")
    upload(tab, "arm.urdf", b"<robot name='x'><link name='a'/><joint name='j' type='odd'/></robot>")
    tab.says("arm.urdf, line 1")
    upload(tab, "evil.zip", zipped(**{"..__..__evil_dot_urdf": ARM}))
    tab.says("leads out of its folder")
    assert session.robot.name == "uploaded_arm"

    upload(
        tab, "two.zip", zipped(a_dot_urdf=ARM.format(mass=4), b_dot_urdf=ARM.format(mass=5).replace("_arm", "_other"))
    )
    eventually(lambda: float(session.robot.model.links[1].mass) == 4)
    tab.is_drawn_anew("Robot")
    open_folder(tab)
    tab.choose("In the upload", "b.urdf", until=lambda: session.robot.name == "uploaded_other")
    folder = session.uploads.last.folder.parent
    assert folder.exists()
    tab.page.goto("about:blank")
    eventually(lambda: not studio.sessions)
    eventually(lambda: not folder.exists())


@pytest.mark.slow
def test_two_robots_side_by_side(studio, tab):
    tab.open(studio.address)
    session = session_of(studio)
    open_folder(tab)
    before = tab.settled_canvas()
    tab.choose("Show", "beside it")
    tab.choose("Bundled", "planar_3r")
    tab.says("differ in")
    assert session.robot.name == "planar_2r"
    eventually(lambda: share_changed(before, tab.canvas()) > 0.005)
    assert str(session.robot.compare(cr.load("planar_3r")).differences[0].first) in tab.text()
    panel = next(mounted.panel for mounted in session._mounted if mounted.panel.title == "Open another robot")
    session.move([0.5, -0.5])
    eventually(lambda: np.allclose(panel._beside.drawn._poses[1], panel._beside.robot.poses([0.5, -0.5, 0.0])[1]))
    tab.click("Take the second away", until=lambda: panel._beside is None)
    eventually(lambda: "differ in" not in tab.text())


@pytest.mark.slow
def test_a_page_from_elsewhere_has_no_paths(start_studio, tab):
    tab.open(start_studio("pendulum", host="0.0.0.0").address)
    open_folder(tab)
    tab.says("Upload a file or zip")
    assert tab.page.get_by_role("button", name="Open path").count() == 0

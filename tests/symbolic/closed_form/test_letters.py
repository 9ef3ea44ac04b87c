"""Letters that mean what the page says: a and d of Denavit-Hartenberg tables, lengths between joint axes."""

import math
from dataclasses import replace

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.formats.dh import link_transform, row_of
from chainrule.formats.exact import without_rounding
from chainrule.formats.native import from_native, to_json, to_toml

QUARTER = math.pi / 2
PUMA = [(0, 0, 0, 0), (0, -QUARTER, 0, 0), (0.4318, 0, 0.1245, 0), (0.0203, -QUARTER, 0.4318, 0), (0, QUARTER, 0, 0),
        (0, -QUARTER, 0, 0)]  # fmt: skip
"""Craig's table of the PUMA 560, modified convention."""

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore:.*has no masses:chainrule.ModelWarning")]


def table(rows, convention, **options):
    return cr.Robot.from_dh(rows, convention=convention, **options)


def lengths(equations):
    return {str(s): x for s, x in equations.parameters.items() if str(s)[0] in "Ladlot" and str(s)[1] in "_lh"}


def planar(*places):
    """A planar arm by screws about z through (x, 0, 0); the last place is that of the tool."""
    screws = np.array([[0, 0, 1, 0, -x, 0] for x in places[:-1]], float).T
    home = np.eye(4)
    home[0, 3] = places[-1]
    return cr.Robot.from_screws(home=home, screws=screws)


def test_a_puma_by_modified_rows_has_the_letters_of_its_table():
    closed = table(PUMA, "modified").kinematic_equations()
    assert lengths(closed) == {"a_2": 0.4318, "d_3": 0.1245, "a_3": 0.0203, "d_4": 0.4318}
    assert str(closed.position[2]) == "-a_2*sin(q_2) - a_3*sin(q_2 + q_3) - d_4*cos(q_2 + q_3)"


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_all_letters_of_a_row(convention):
    rows = [(0.5, 0.3, 0.1, -QUARTER), (0.4, 0.2, 0.3, 0.7), (0.2, -0.4, 0.6, 0.8)]
    robot = table(rows, convention, types="RRP")
    closed = robot.kinematic_equations()
    k = 0 if convention == "modified" else 1
    expected = {
        f"a_{k}": 0.5, f"alpha_{k}": 0.3, "d_1": 0.1, f"a_{k + 1}": 0.4, f"alpha_{k + 1}": 0.2, "d_2": 0.3,
        "theta_02": 0.7, f"a_{k + 2}": 0.2, f"alpha_{k + 2}": -0.4, "d_3": 0.6, "theta_3": 0.8,
    }  # fmt: skip
    assert lengths(closed) == pytest.approx(expected, rel=1e-15)
    assert "cos(q_2 + theta_02)" in str(closed.T)  # both about axis 2
    meanings = {name: closed.symbolic.symbols.entry(name).meaning for name in expected}
    assert meanings["d_3"] == "Denavit-Hartenberg d: offset along axis 3, less its coordinate"
    assert meanings["theta_3"] == "Denavit-Hartenberg theta of joint 3"


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_rows_are_found_in_their_transforms(convention):
    rng = np.random.default_rng(4)
    for _ in range(20):
        row = tuple(np.round(rng.uniform(-1.5, 1.5, 4), 3).tolist())
        assert row_of(link_transform(row, convention), convention) == pytest.approx(row, abs=1e-15)
    other = link_transform((0.3, 0.4, 0.1, 0.2), "modified" if convention == "standard" else "standard")
    assert row_of(other, convention) is None


def test_edits_keep_the_letters_where_they_are_still_true():
    robot = cr.load("puma560")
    names = {"d_1", "a_2", "a_3", "d_3", "d_4"}

    def letters(other):
        return {n for n in lengths(other.kinematic_equations()) if n[0] in "ad"}

    assert letters(robot) == names
    assert letters(robot.edit(links={"link2": {"mass": 20.0}}).with_frame("camera", link="link4")) == names
    assert letters(robot.without_friction().edit(name="other")) == names
    assert letters(cr.load("pendulum").attach(robot, prefix="arm_")) == {"d_2", "a_3", "a_4", "d_4", "d_5"}
    longer = robot.edit(links={"link2": {"length": 0.5, "toward": "joint3"}})
    assert lengths(longer.kinematic_equations())["a_2"] == pytest.approx(0.5)
    assert letters(robot.lock({"joint4": 0.3, "joint5": 0.1, "joint6": 0.0})) == {"d_1", "a_2", "a_3", "d_3"}


def test_a_joint_that_no_row_describes_any_more_has_lengths():
    robot = table(PUMA, "modified")
    moved = robot.edit(joints={"joint3": {"xyz": [0.4, 0.1, 0.2], "rpy": [0.3, 0.2, 0.1]}})
    assert {"L_2x", "L_2y", "L_2z", "a_3"} <= lengths(moved.kinematic_equations()).keys()
    back = cr.load("puma560").rebase("link2")
    conventions = {joint.name: joint.dh for joint in back.model.joints}
    assert (conventions["joint2"], conventions["joint3"]) == (None, "standard")
    assert back.kinematic_equations("link6").T.shape == (4, 4)  # which checks itself


def test_the_convention_changes_no_kernel_and_is_kept_in_files():
    model = table(PUMA, "modified").model
    bare = replace(model, joints=tuple(replace(joint, dh=None) for joint in model.joints))
    assert model.digest() == bare.digest()
    assert bare == model  # how a robot was described is no part of what it is
    for text in (to_json(model), to_toml(model)):
        assert [joint.dh for joint in from_native(text).joints] == ["modified"] * 6
    with pytest.raises(cr.UnknownNameError, match="no convention named 'modifed'; did you mean 'modified'"):
        from_native(to_toml(model).replace('dh = "modified"', 'dh = "modifed"', 1))


def test_lengths_by_screws_are_those_of_links():
    closed = planar(0.0, 1.0, 1.8, 2.3).kinematic_equations()
    assert lengths(closed) == {"L_1": 1.0, "L_2": 0.8, "L_3": 0.5}
    assert str(closed.position[0]) == "L_1*cos(q_1) + L_2*cos(q_1 + q_2) + L_3*cos(q_1 + q_2 + q_3)"
    assert lengths(planar(0.2, 10.1, 10.3, 10.4).kinematic_equations()) == {
        "L_0": 0.2, "L_1": 9.9, "L_2": 0.2, "L_3": 0.1
    }  # fmt: skip


def test_a_ur5_by_screws_has_the_lengths_of_its_drawing():
    """Lynch and Park, Modern Robotics, figure 4.6: L1, L2, W1, W2, H1, H2."""
    L1, L2, W1, W2, H1, H2 = 0.425, 0.392, 0.109, 0.082, 0.089, 0.095
    screws = np.array([
        [0, 0, 1, 0, 0, 0], [0, 1, 0, -H1, 0, 0], [0, 1, 0, -H1, 0, L1], [0, 1, 0, -H1, 0, L1 + L2],
        [0, 0, -1, -W1, L1 + L2, 0], [0, 1, 0, H2 - H1, 0, L1 + L2],
    ]).T  # fmt: skip
    home = [[-1, 0, 0, L1 + L2], [0, 0, 1, W1 + W2], [0, 1, 0, H1 - H2], [0, 0, 0, 1]]
    closed = cr.Robot.from_screws(home=home, screws=screws).kinematic_equations()
    assert lengths(closed) == {"L_1": H1, "L_2": L1, "L_3": L2, "L_4": W1, "L_5": H2, "L_6": W2}


def test_frames_at_centers_of_mass_give_no_letters_of_their_own():
    """Lists of Lynch and Park: screws, and link frames at the centers of mass."""
    arm = cr.load("planar_3r")
    lists = arm.textbook.to_screws()
    robot = cr.Robot.from_screws(
        home=lists.home, screws=lists.screws, frames=lists.frames, inertias=lists.inertias, gravity=[0, -9.81, 0]
    )
    own, other = arm.equations(), robot.equations()
    assert lengths(own) == lengths(other)
    assert own.tau == other.tau


def test_screws_that_slide_and_screws_with_pitch():
    """A prismatic joint between turning ones, and a helical one, off the base's origin."""
    screws = np.array([[0, 0, 1, 0.3, -0.2, 0], [0, 0, 0, 1, 0, 0], [0, 1, 0, -0.4, 0.05, 0.6]]).T
    home = np.eye(4)
    home[:3, 3] = 0.9, 0.1, 0.5
    closed = cr.Robot.from_screws(home=home, screws=screws).kinematic_equations()
    assert closed.T.shape == (4, 4)
    assert all(str(s).startswith("L_") for s in closed.T.free_symbols - set(closed.q))


def test_a_frame_off_its_axis_drops_out_of_torques():
    """A body of MuJoCo whose joint has a place of its own."""
    text = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="a" pos="0 0 0">
    <joint name="j1" axis="0 1 0" pos="0.1 0 0"/><inertial pos="0.4 0 0" mass="2" diaginertia="0.1 0.2 0.3"/>
    <body name="b" pos="0.7 0 0"><joint name="j2" axis="0 1 0" pos="0.1 0 0"/>
    <inertial pos="0.3 0 0" mass="1" diaginertia="0.1 0.2 0.3"/></body></body></worldbody></mujoco>"""
    robot = cr.Robot.from_mjcf(text)
    equations = robot.equations()
    assert {s: x for s, x in lengths(equations).items() if s[0] == "L"} == {"L_0": 0.1, "L_1": 0.7}
    assert not any(str(s).startswith("o_") for s in equations.tau.free_symbols)
    assert any(str(s).startswith("o_") for s in robot.kinematic_equations("b").T.free_symbols)


def test_rounding_from_files_is_cleaned_and_numbers_are_not():
    assert without_rounding(0.1 + 0.05) == 0.15
    assert without_rounding(10.1 - 10.0, 10.1) == 0.1
    assert without_rounding(1e-17, 1.0) == 0.0
    for x in (math.pi, 1 / 3, 0.123456789012345, 1e-300, 0.0, math.inf, 2.5e10):
        assert without_rounding(x) == x
    weld = '<joint name="w" type="fixed"><origin xyz="0.1 0 0"/><parent link="a"/><child link="m"/></joint>'
    urdf = f"""<robot name="two"><link name="base"/><link name="a"/><link name="m"/><link name="b"/>{weld}
    <joint name="j1" type="continuous"><axis xyz="0 0 1"/><parent link="base"/><child link="a"/></joint>
    <joint name="j2" type="continuous"><origin xyz="0.05 0 0"/><axis xyz="0 0 1"/><parent link="m"/>
    <child link="b"/></joint></robot>"""
    robot = cr.Robot.from_urdf(urdf, check=False)
    assert merged_model(robot).joints[1].origin.translation.x == 0.15000000000000002
    assert lengths(robot.kinematic_equations())["L_1"] == 0.15


def test_massless_links_have_no_center_of_mass():
    assert not any(name.startswith("l_c") for name in lengths(planar(0.0, 1.0, 1.8, 2.3).kinematic_equations()))


def test_every_bundled_robot_with_equations_agrees_with_its_own_functions():
    """Each term is compared with the robot's function when it is made."""
    for name in ("planar_2r", "planar_rp", "planar_3r", "scara", "cartesian_3p", "double_pendulum", "pendulum"):
        assert cr.load(name).equations().tau.free_symbols
    assert cr.load("modern_robotics_3r").equations().g.shape == (3, 1)

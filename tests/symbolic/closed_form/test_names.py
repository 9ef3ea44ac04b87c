"""A name stands for one number: parameters that would share a name, and names that users choose."""

from dataclasses import replace

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ShapeError
from chainrule.functions import reference
from chainrule.model.joints import Moved
from chainrule.spatial import Rotation, Transform, Vector
from chainrule.symbolic.closed_form.kinematics import kinematic_equations
from chainrule.symbolic.closed_form.summary import summary
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model

LINK = """<link name="{}"><inertial><origin xyz=".3 0 0"/><mass value="1"/>
<inertia ixx=".01" iyy=".02" izz=".02"/></inertial></link>"""
JOINT = """<joint name="j{0}" type="continuous"><origin rpy="{1} 0 0"/><axis xyz="0 0 1"/><parent link="base"/>
<child link="{0}"/></joint>"""


def two_arms(first, second):
    parts = (LINK.format("a"), LINK.format("b"), JOINT.format("a", first), JOINT.format("b", second))
    return cr.Robot.from_urdf(f'<robot name="two"><link name="base"/>{"".join(parts)}</robot>')


def numbers(matrix, symbols, q):
    return np.array(matrix.subs({**dict(zip(symbols.q, q, strict=True)), **symbols.parameters}).evalf(), float)


@pytest.mark.parametrize("link", ["panda_hand_tcp", "panda_link8", None])
def test_two_frames_on_one_link_have_their_own_lengths(link):
    robot = cr.load("panda_hand")
    q = np.linspace(0.2, -0.6, robot.nv)
    closed = robot.kinematic_equations(link, frame="space")
    np.testing.assert_allclose(numbers(closed.T, closed, q), robot.pose(q, link), atol=1e-12)
    np.testing.assert_allclose(numbers(closed.J, closed, q), robot.jacobian(q, link, frame="space"), atol=1e-12)


def test_two_joints_on_one_link_have_their_own_angles():
    robot, q = two_arms(0.3, 1.1), [0.4, 0.5]
    own = robot.equations()
    assert {str(s): v for s, v in own.parameters.items() if str(s).startswith("alpha")} == {
        "alpha_0": pytest.approx(0.3), "alpha_0_2": pytest.approx(1.1)
    }  # fmt: skip
    np.testing.assert_allclose(own.lambdify("g")(q), robot.gravity_torque(q), rtol=1e-12)
    space = {}
    exec(own.source_code("numpy", ["g"]), space)
    np.testing.assert_allclose(space["two_g"](np.array(q)), robot.gravity_torque(q), rtol=1e-12)
    for method in ("newton-euler", "lagrange", "closed-form"):
        robot.derivation(method)


def test_equal_angles_share_a_name():
    own = two_arms(0.3, 0.3).equations()
    assert [str(s) for s in own.parameters if str(s).startswith("alpha")] == ["alpha_0"]


def test_an_offset_and_the_next_origin_are_kept_apart():
    """The offset of joint 2 of a Denavit-Hartenberg table and the origin of joint 3 would both be alpha_2."""
    model = cr.load("puma560").model
    tilt = Transform(Rotation.about(Vector(1, 0, 0), 0.7), Vector(0.0, 0.0, 0.0))
    offset = Transform(Rotation.about(Vector(1, 0, 0), 0.4), Vector(0.2, 0.0, 0.1))
    joints = list(model.joints)
    joints[1] = replace(joints[1], kind=Moved(joints[1].kind.inner, offset))
    joints[2] = replace(joints[2], origin=tilt)
    robot = Mechanism(replace(model, joints=tuple(joints)))
    closed = kinematic_equations(robot, None, frame="space")
    angles = {str(s): x for s, x in closed.parameters.items() if str(s).startswith("alpha_2")}
    assert angles == {"alpha_2": pytest.approx(0.4), "alpha_2_3": pytest.approx(0.7)}
    q = np.linspace(-0.5, 1.0, 6)
    expected = reference.evaluate(robot.model, "pose", [q], link=find_link(robot))
    np.testing.assert_allclose(numbers(closed.T, closed, q), expected, atol=1e-12)


def test_one_name_for_two_numbers_is_refused_with_both():
    robot = cr.load("planar_2r").with_payload(1.0)
    with pytest.raises(ShapeError, match=r"'m_1' and 'm_2'.*'m'.*1\.0.*2\.0"):
        robot.equations({"m_1": "m", "m_2": "m"})
    with pytest.raises(ShapeError, match=r"'m_1' and 'm_2'.*'m_2'"):
        robot.equations({"m_1": "m_2"})
    with pytest.raises(ShapeError, match="coordinate"):
        robot.equations({"m_1": "qdot_1"})


def test_one_name_for_equal_numbers_is_one_symbol():
    robot = cr.load("planar_2r")
    own = robot.equations({"m_1": "m", "m_2": "m", "L_1": "L"})
    assert sorted(map(str, own.parameters)) == ["L", "L_2", "g", "m"]
    np.testing.assert_allclose(own.lambdify("M")([0.1, 0.2]), robot.mass_matrix([0.1, 0.2]), rtol=1e-12)


def test_names_may_be_exchanged():
    robot = cr.load("planar_2r").with_payload(1.0)
    own = robot.equations({"m_1": "m_2", "m_2": "m_1"})
    assert {str(s): v for s, v in own.parameters.items() if str(s)[0] == "m"} == {"m_2": 1.0, "m_1": 2.0}
    np.testing.assert_allclose(own.lambdify("M")([0.1, 0.2]), robot.mass_matrix([0.1, 0.2]), rtol=1e-12)


@pytest.mark.parametrize("name", ["lambda", "sin", "x0", "x_1", "p_1", "pi", "batch", "E", "numpy", "None", "_", "c_1"])
def test_names_that_mean_something_elsewhere(name):
    robot = cr.load("planar_2r").with_payload(1.0)
    q, qd, qdd = [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
    own = robot.equations({"m_2": name})
    for form in (own, own.in_base_parameters()):
        np.testing.assert_allclose(form.lambdify("tau")(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-12)
    shared, _ = own.cse("M")
    assert len({str(symbol) for symbol, _ in shared} | {str(s) for s in own.parameters}) == len(shared) + 5
    assert not {str(s) for s, _ in own.intermediate("mass_matrix").assignments} & {name}
    space = {}
    exec(own.source_code("numpy"), space)
    found = space["planar_2r_tau"](*map(np.array, (q, qd, qdd)))
    np.testing.assert_allclose(found, robot.inverse_dynamics(q, qd, qdd), rtol=1e-12)


def test_numbers_in_place_of_names_are_used_in_derivations_too():
    robot = cr.load("planar_2r")
    assert "2" in robot.derivation("lagrange", parameters={"L_1": 2.0}).text()
    own = robot.equations({"L_1": 2.0}).lambdify("M")([0.1, 0.2])
    assert own[0, 0] == pytest.approx(4 + 4 + 4 * np.cos(0.2) + 1)


def test_short_names_are_none_of_a_parameter():
    own = cr.load("planar_2r").equations({"L_1": "c_1", "L_2": "C_1", "m_1": "s_2"})
    assert "cos₁" in own.pretty("g", shorthand=True)
    assert "S₂" in own.pretty("c", shorthand=True)  # m_1 is s_2, also where it does not occur
    document = str(summary(own, shorthand=True))
    assert "cos₁" in document
    assert own.latex("g", shorthand=True).count("c_{1}") == own.latex("g").count("c_{1}")


def test_a_frame_at_the_center_of_mass_has_it_at_zero_whatever_two_lengths_are():
    """The elbow of this arm is at the center of mass of its upper arm: two lengths are equal, by chance."""
    centered = cr.load("planar_2r").textbook.with_frames_at_mass_centers()
    model = symbolic_model(merged_model(centered), "symbolic", None).model
    assert [[*link.com] for link in model.links[1:]] == [[0, 0, 0], [0, 0, 0]]

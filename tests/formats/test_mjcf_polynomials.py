"""Joints of MJCF that follow another along a polynomial, as the slides of a knee do: MuJoCo's numbers and the chain rule."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.formats import native

pytestmark = [pytest.mark.interpreted, pytest.mark.peer]

CURVES = {"x": (0.001, 0.02, -0.01, 0.004, 0.002), "z": (0.0, 0.01, -0.02, 0.003), "roll": (0.0, 0.1, 0.05)}
INERTIAL = "<inertial pos='.1 .02 -.2' mass='2' diaginertia='.02 .03 .01'/>"


def knee(of_roll: str = "", more: str = "") -> str:
    """A thigh and a shank, which slides and rolls as the knee turns."""
    ties = "".join(
        f"<joint joint1='{name}' joint2='knee' polycoef='{' '.join(map(str, c))}'/>" for name, c in CURVES.items()
    )
    return f"""<mujoco><worldbody><body name="thigh"><joint name="hip" axis="0 1 0"/>{INERTIAL}<body name="shank" pos="0 0 -.4">
<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1" ref=".2"/><joint name="knee" axis="0 1 0" ref="30"/>
<joint name="roll" axis="1 0 0" pos="0 .1 0" {of_roll}/>{INERTIAL}</body></body></worldbody><equality>{ties}{more}</equality></mujoco>"""


@given(st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_they_move_as_mujoco_and_the_chain_rule_say(numbers: list[float]) -> None:
    q, qd, qdd = np.array(numbers).reshape(3, 2)
    robot, theirs = cr.load(knee()), mujoco.MjModel.from_xml_string(knee())
    data, M, J, drift = mujoco.MjData(theirs), np.zeros((5, 5)), np.zeros((5, 2)), np.zeros(5)
    places = {name: theirs.joint(name).id for name in ("hip", "knee", *CURVES)}
    data.qpos[places["hip"]], data.qpos[places["knee"]] = q
    J[places["hip"], 0] = J[places["knee"], 1] = 1.0
    for name, coefficients in CURVES.items():
        at, P, x = places[name], Polynomial(coefficients), q[1] - theirs.qpos0[places["knee"]]
        data.qpos[at] = theirs.qpos0[at] + P(x)
        J[at, 1], drift[at] = P.deriv()(x), P.deriv(2)(x) * qd[1] ** 2
    data.qvel[:] = J @ qd
    mujoco.mj_forward(theirs, data)
    mujoco.mj_fullM(theirs, data, M)
    assert_allclose(robot.reference.pose(q, "shank")[:3, 3], data.body("shank").xpos, atol=1e-12)
    assert_allclose(robot.reference.mass_matrix(q), J.T @ M @ J, atol=1e-12)
    expected = J.T @ (M @ (J @ qdd + drift) + data.qfrc_bias)
    assert_allclose(robot.reference.inverse_dynamics(q, qd, qdd), expected, atol=1e-11)
    order = robot.states.order_of("mujoco")
    assert_allclose(order.q_to(q), data.qpos, atol=1e-15)
    assert_allclose(order.q_from(data.qpos), q)
    assert_allclose(order.v_to(q, qd), data.qvel, atol=1e-14)
    assert_allclose(order.a_to(q, qd, qdd), J @ qdd + drift, atol=1e-13)
    assert_allclose(order.tau_from(data.qpos, expected @ np.linalg.pinv(J)), expected, atol=1e-9)


def test_they_are_written_and_read_again() -> None:
    model = cr.load(knee()).model
    text = native.to_toml(model)
    assert native.from_native(text).joints == model.joints
    with pytest.raises(cr.FormatError, match="needs coefficients = some numbers in brackets"):
        native.from_native(text.replace("coefficients = [", "coefficients = [true, "))
    with pytest.raises(cr.FormatError, match="unit is that of the coordinate, 'rad' or 'm', not 'deg'"):
        native.from_native(text.replace('unit = "rad"', 'unit = "deg"'))


@pytest.mark.parametrize(
    ("more", "names"),
    [
        pytest.param("<joint joint1='hip' joint2='x' polycoef='0 2'/>", ("knee",), id="one follows a follower"),
        pytest.param("<joint joint1='hip' joint2='x' polycoef='0 1 1'/>", ("knee",), id="a polynomial of one"),
        pytest.param("<joint joint1='x' joint2='hip' polycoef='0 2'/>", ("knee",), id="the other way round"),
        pytest.param("<joint joint1='knee' polycoef='.3'/>", ("hip",), id="the leader is held"),
        pytest.param(
            "<joint joint1='x' joint2='knee' polycoef='.001 .02 -.01 .004 .002'/>", ("hip", "knee"), id="twice"
        ),
    ],
)
def test_couplings_of_couplings(more: str, names: tuple[str, ...]) -> None:
    robot = cr.load(knee(more=more))
    assert robot.model.notes == ()
    assert robot.joint_names == names


def test_what_cannot_be_modelled_is_noted() -> None:
    with pytest.warns(
        cr.ModelWarning, match="joint 'roll' follows 'knee' by a polynomial of degree 2: limits, friction"
    ):
        cr.load(knee("damping='2'"))
    with pytest.warns(cr.ModelWarning, match="equality constraint 3 is not modelled: joint 'x' moves without it"):
        cr.load(knee(more="<joint joint1='x' joint2='roll' polycoef='0 1 1'/>"))

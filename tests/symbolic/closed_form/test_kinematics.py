"""Poses and Jacobians in closed form: against kernels, and against the printed page."""

import numpy as np
import pytest
import sympy as sp
from refusals import refused
from scipy.optimize import brentq
from tiers import with_slow

import chainrule as cr

from .robots import ARMS, names


def test_the_planar_jacobian_of_the_notes_comes_out_as_printed():
    (l1, l2), q, _, _ = names("L_1 L_2")
    arm = cr.load("planar_2r").kinematic_equations()
    s1, c1, s12, c12 = sp.sin(q[0]), sp.cos(q[0]), sp.sin(q[0] + q[1]), sp.cos(q[0] + q[1])
    assert arm.J[3:5, :] == sp.Matrix([[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]])
    assert arm.determinant == l1 * l2 * sp.sin(q[1])
    assert arm.singularities() == {sp.sin(q[1]): [sp.Eq(q[1], 0), sp.Eq(q[1], sp.pi)]}


def test_the_pose_of_the_puma_comes_out_as_in_the_notes():
    arm = cr.load("puma560").kinematic_equations()
    q = arm.q
    a2, a3, d1, d3, d4 = (
        next(s for s in arm.parameters if str(s) == name) for name in ("a_2", "a_3", "d_1", "d_3", "d_4")
    )
    reach = a2 * sp.cos(q[1]) + a3 * sp.cos(q[1] + q[2]) - d4 * sp.sin(q[1] + q[2])
    assert arm.position[0] == sp.cos(q[0]) * reach + d3 * sp.sin(q[0])  # the notes' d3 points the other way
    assert arm.position[1] == sp.sin(q[0]) * reach - d3 * sp.cos(q[0])
    assert arm.position[2] == d1 + a2 * sp.sin(q[1]) + a3 * sp.sin(q[1] + q[2]) + d4 * sp.cos(q[1] + q[2])
    elbow = a3 * sp.sin(q[2]) + d4 * sp.cos(q[2])
    assert arm.determinant == -a2 * elbow * reach * sp.sin(q[4])
    assert set(arm.singularities()) == {elbow, reach, sp.sin(q[4])}


@pytest.mark.parametrize("name", with_slow([*ARMS, "ur5"], "puma560", "stanford"))
def test_poses_and_jacobians_are_the_kernels(name):
    robot = cr.load(name)
    rng = np.random.default_rng(1)
    q = robot.random_state(rng)
    for frame in ("world", "space", "body"):
        written = robot.kinematic_equations(frame=frame)
        values = {**written.parameters, **dict(zip(written.q, q.tolist(), strict=True))}
        T, J = (np.array(m.subs(values), dtype=float) for m in (written.T, written.J))
        assert np.abs(T - robot.pose(q)).max() < 1e-10
        assert np.abs(J - robot.jacobian(q, frame=frame)).max() < 1e-10


def test_the_determinant_of_six_joints_is_that_of_the_numbers():
    for name in ("puma560", "stanford", "ur5"):
        robot = cr.load(name)
        written = robot.kinematic_equations()
        q = robot.random_state(np.random.default_rng(2))
        values = {**written.parameters, **dict(zip(written.q, q.tolist(), strict=True))}
        number = np.linalg.det(robot.jacobian(q, frame="world"))
        assert float(written.determinant.subs(values)) == pytest.approx(number, rel=1e-9)


def test_the_singularities_of_an_arm_whose_determinant_has_factors_in_one_angle():
    """Two factors of the elbow in q_3 and three lengths each, where factoring over complex numbers did not end."""
    quarter = np.pi / 2
    rows = [(0.0, -quarter, 0.0, 0.0), (0.2, -quarter, 0.1, 0.0), (0.2, -quarter, 0.0, 0.0), (0.0, quarter, 0.4, 0.0)]
    rows += [(0.0, -quarter, 0.0, 0.0), (0.0, 0.0, 0.1, 0.0)]
    arm = cr.Robot.from_dh(rows, convention="standard", check=False).kinematic_equations()
    found = arm.singularities()
    assert sorted(str(*factor.free_symbols & set(arm.q)) for factor in found) == ["q_2", "q_3", "q_3", "q_5"]
    rng = np.random.default_rng(0)
    for factor in found:
        (q,) = factor.free_symbols & set(arm.q)
        angles = np.linspace(-np.pi, np.pi, 50)
        value = sp.lambdify(q, factor.subs(arm.parameters))
        start = int(np.flatnonzero(np.diff(np.sign(value(angles))))[0])
        posture = rng.uniform(-1, 1, 6)
        posture[arm.q.index(q)] = brentq(value, angles[start], angles[start + 1], xtol=1e-15)
        assert abs(np.linalg.det(arm.robot.jacobian(posture))) < 1e-12
        posture[arm.q.index(q)] += 0.1
        assert abs(np.linalg.det(arm.robot.jacobian(posture))) > 1e-8


def test_an_arm_without_a_determinant_or_with_that_of_zero_is_refused_before_terms_are_multiplied():
    """Seven joints in any directions have Jacobians that no computer writes out, and six parallel ones are singular."""
    rng = np.random.default_rng(3)
    rows = [tuple(rng.uniform(-1, 1, 4)) for _ in range(7)]
    seven = cr.Robot.from_dh(rows, convention="standard", check=False).kinematic_equations()
    refused(seven.singularities, cr.ModelError, "6 rows and 7 columns")
    parallel = cr.Robot.from_dh([(0.3, 0.0, 0.1, 0.0)] * 6, convention="standard", check=False)
    refused(parallel.kinematic_equations().singularities, cr.ModelError, "singular in every configuration")
    assert parallel.kinematic_equations().determinant == 0

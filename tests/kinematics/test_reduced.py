"""The Jacobian from actuated joints to a platform: both directions, duality, singularities of both types."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr

ROBOTS = ("four_bar", "five_bar", "delta", pytest.param("stewart_platform", marks=pytest.mark.slow))


def rows_of(reduced):
    return slice(3, 6) if reduced.task == "position" else slice(0, 6)


@pytest.mark.parametrize("name", ROBOTS)
def test_it_maps_velocities_and_forces_both_ways(name):
    robot = cr.load(name)
    rng = np.random.default_rng(0)
    q = robot.random_state(rng, (3,))
    reduced = robot.analysis.reduced_jacobian(q)
    places = [robot.velocity_names.index(joint) for joint in reduced.actuated]
    speeds = rng.normal(size=(3, len(places)))
    qd = np.einsum("...na,...a->...n", reduced.motion, speeds)
    assert_allclose(qd[:, places], speeds, atol=1e-9)
    assert_allclose(robot.loops.consistent_velocity(q, qd), qd, atol=1e-9)
    V = robot.velocity(q, qd)[:, rows_of(reduced)]
    assert_allclose(np.einsum("...ka,...a->...k", reduced.J, speeds), V, atol=1e-9)
    assert_allclose(np.einsum("...ak,...k->...a", reduced.inverse, V), speeds, atol=1e-8)
    F = np.zeros((3, 6))
    F[:, rows_of(reduced)] = rng.normal(size=V.shape)
    tau = np.einsum("...ka,...k->...a", reduced.J, F[:, rows_of(reduced)])
    assert_allclose(robot.static_torque(q, F, frame="world")[:, places], tau, atol=1e-9)


def test_it_is_the_derivative_of_the_platform_s_place():
    robot = cr.load("delta")
    q, arms, step = robot.home(), ["arm1", "arm2", "arm3"], 1e-6
    J = robot.analysis.reduced_jacobian(q).J
    for k, arm in enumerate(arms):
        moved = []
        for sign in (1, -1):
            start = q.copy()
            start[robot.coordinate_names.index(arm)] += sign * step
            moved.append(robot.pose(robot.loops.close(start, hold=arms))[:3, 3])
        assert_allclose((moved[0] - moved[1]) / (2 * step), J[:, k], atol=1e-8)


def five_bar_poses():
    robot = cr.load("five_bar")
    folded = np.arctan2(5, 12)
    stretched = robot.loops.close([-0.3, folded, 0.1, 0.0], hold=["left_crank", "left_coupler"])
    apart = np.arcsin(0.8)  # the elbows are as far apart as the couplers are long together
    flat = [apart, folded - np.pi / 2 - apart, -apart, np.pi / 2 + apart - folded]
    return robot, stretched, robot.loops.close(flat, hold=["left_crank", "right_crank"])


def test_singularities_of_both_types_are_found_and_named():
    robot, stretched, flat = five_bar_poses()
    reduced = robot.analysis.reduced_jacobian([robot.home(), stretched, flat])
    assert reduced.singularity.tolist() == ["", "type 1", "type 2"]
    assert np.isnan(reduced.J).any(axis=(-2, -1)).tolist() == [False, False, True]
    assert np.isnan(reduced.inverse).any(axis=(-2, -1)).tolist() == [False, True, False]
    assert (reduced.type_1 < 1e-9).tolist() == [False, True, False]
    assert (reduced.type_2 < 1e-7).tolist() == [False, False, True]
    assert str(reduced).endswith("2 of 3 configurations are singular")
    assert "type 1: the platform cannot move in every direction" in str(robot.analysis.reduced_jacobian(stretched))
    assert "type 2: the platform can move while the actuated joints stand still" in str(
        robot.analysis.reduced_jacobian(flat)
    )


def test_a_dead_center_is_of_type_1_and_a_driven_piston_there_of_type_2():
    robot = cr.load("slider_crank")
    top = robot.loops.close([-np.pi / 2, 0.0, 0.08], hold=["crank"])
    assert robot.analysis.reduced_jacobian(top).singularity == "type 1"
    assert (
        robot.analysis.reduced_jacobian(top, "crank_link", task="orientation", actuated=["slider"]).singularity
        == "type 2"
    )
    assert robot.analysis.reduced_jacobian(top, actuated=["slider"]).singularity == "type 3"


def at(x):
    T = np.eye(4)
    T[0, 3] = x
    return T


def test_a_flat_parallelogram_is_a_singularity_of_the_loop_itself():
    lengths = {"one": 0.2, "two": 0.5, "three": 0.2}
    builder = cr.build("parallelogram", along="x").link("ground")
    for joint, (link, length) in zip("abc", lengths.items(), strict=True):
        builder = builder.continuous(joint, axis="z").link(link, length=length, mass=length, radius=0.02)
    robot = builder.robot().with_constraint("point", "ground", "three", at(0.5), at(0.2))
    square = robot.loops.close([1.0, -1.0, -2.1], hold=["a"])
    assert robot.analysis.reduced_jacobian(square, "two", actuated=["a"]).singularity == ""
    reduced = robot.analysis.reduced_jacobian([0.0, 0.0, np.pi], "two", actuated=["a"])
    assert reduced.singularity == "constraint"
    assert np.isnan(reduced.J).all()
    assert np.isnan(reduced.inverse).all()


def test_more_motors_than_freedoms_share_the_load():
    robot = cr.load("five_bar")
    q = robot.home()
    reduced = robot.analysis.reduced_jacobian(q, actuated=["left_crank", "right_crank", "left_coupler"])
    assert reduced.redundant == 1
    assert "over-actuated: 1 more" in str(reduced)
    qd = robot.loops.consistent_velocity(q, [1.0, 0.0, 0.5, 0.0])
    speeds = [robot.states.by_name(qd)[joint] for joint in reduced.actuated]
    assert_allclose(reduced.J @ speeds, robot.velocity(q, qd)[3:], atol=1e-9)


def test_what_is_refused():
    robot = cr.load("five_bar")
    with pytest.raises(cr.ModelError, match=r"1 actuated joints .* do not determine the motion"):
        robot.analysis.reduced_jacobian(robot.home(), actuated=["left_crank"])
    with pytest.raises(cr.ModelError, match="not closed: constraint 'pin' stays open"):
        robot.analysis.reduced_jacobian([0.5, 0.0, 0.0, 0.0])
    with pytest.raises(cr.UnknownNameError, match="joint"):
        robot.analysis.reduced_jacobian(robot.home(), actuated=["elbow"])


def test_states_that_are_not_finite_concern_their_own_row():
    robot = cr.load("five_bar")
    reduced = robot.analysis.reduced_jacobian([robot.home(), np.full(4, np.nan)])
    assert np.isfinite(reduced.J[0]).all()
    assert np.isnan(reduced.J[1]).all()


def test_a_tree_has_the_columns_of_its_jacobian():
    arm = cr.load("planar_2r")
    assert_allclose(arm.analysis.reduced_jacobian([0.3, 0.4]).J, arm.jacobian([0.3, 0.4])[3:], atol=1e-12)

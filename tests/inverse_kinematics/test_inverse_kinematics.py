"""Inverse kinematics: solutions are solutions, failures are honest, paths have no jumps."""

import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.methods import SearchProblem, residual
from chainrule.inverse_kinematics.periods import shift_by_periods

ARMS = ("panda", "iiwa14", "ur5", "puma560")
COUNT = 300


def apart(robot, q, T, link=None):
    """Position and angle between where q brings a link and T, by means of its own."""
    X = robot.pose(q, link)
    R = np.swapaxes(T[..., :3, :3], -1, -2) @ X[..., :3, :3]
    angle = 2 * np.arcsin(np.minimum(np.linalg.norm(R - np.eye(3), axis=(-2, -1)) / 8**0.5, 1))
    return np.linalg.norm(X[..., :3, 3] - T[..., :3, 3], axis=-1), angle


def keeps_limits(robot, q):
    return ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all(axis=-1)


@pytest.fixture(scope="module", params=ARMS)
def arm(request):
    return cr.load(request.param)


# --- what a solution is ---


def test_reachable_poses_are_solved_within_limits_and_tolerance(arm, rng):
    T = arm.pose(arm.random_state(rng, COUNT))
    answer = arm.inverse_kinematics(T)
    assert answer.success.all(), str(answer)
    distance, angle = apart(arm, answer.q, T)
    assert distance.max() <= 1e-6
    assert angle.max() <= 1.1e-6
    assert keeps_limits(arm, answer.q).all()
    np.testing.assert_allclose(answer.error, np.stack([distance, angle], axis=-1), atol=2e-8)
    assert (answer.reason == "").all()


def test_a_batch_gives_what_each_target_gives_alone(arm, rng):
    T = arm.pose(arm.random_state(rng, 12))
    q0 = arm.random_state(rng, 12)
    together, started = arm.inverse_kinematics(T), arm.inverse_kinematics(T, q0)
    for k in range(12):
        np.testing.assert_array_equal(arm.inverse_kinematics(T[k]).q, together.q[k])
        np.testing.assert_array_equal(arm.inverse_kinematics(T[k], q0[k]).q, started.q[k])


def test_the_same_call_gives_the_same_answer_and_the_seed_another(panda, rng):
    T = panda.pose(panda.random_state(rng, 50))
    first, again, other = (panda.inverse_kinematics(T, seed=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.q, again.q)
    assert other.success.all()
    assert np.abs(first.q - other.q).max() > 0.1


def test_the_reference_path_agrees(panda, rng):
    q = panda.random_state(rng, 5)
    T, q0 = panda.pose(q), q + 0.05
    slow = panda.reference.inverse_kinematics(T, q0)
    np.testing.assert_allclose(slow.q, panda.inverse_kinematics(T, q0).q, atol=1e-6)


def test_leading_dimensions_are_kept_and_broadcast(panda, rng):
    T = panda.pose(panda.random_state(rng, (2, 3)))
    answer = panda.inverse_kinematics(T, panda.random_state(rng, (3,)))
    assert answer.q.shape == (2, 3, 7)
    assert answer.success.shape == answer.reason.shape == answer.iterations.shape == (2, 3)
    assert answer.error.shape == (2, 3, 2)
    assert panda.inverse_kinematics(T[:0]).q.shape == (0, 3, 7)
    one = panda.inverse_kinematics(T[0, 0])
    assert one.success
    assert one.reason == ""


def test_a_near_start_leads_to_the_near_solution(arm, rng):
    q = arm.random_state(rng, COUNT) * 0.9
    q = np.clip(q, arm.limits.lower, arm.limits.upper)
    singular = np.linalg.svd(arm.jacobian(q), compute_uv=False)[:, -1] < 0.08
    q = q[~singular]
    answer = arm.inverse_kinematics(arm.pose(q), np.clip(q + 0.02, arm.limits.lower, arm.limits.upper))
    assert answer.success.all()
    assert np.abs(answer.q - q).max() < 0.3


# --- what cannot be solved ---


def test_poses_beyond_reach_fail_and_the_nearest_is_found():
    arm = cr.load("planar_2r")
    beyond = np.geomspace(1e-5, 0.1, 20)
    points = np.stack([2 + beyond, 0 * beyond, 0 * beyond], axis=-1)
    answer = arm.inverse_kinematics(points, task="position")
    assert not answer.success.any()
    assert set(answer.reason) == {"not reached"}
    np.testing.assert_allclose(answer.error[:, 0], beyond, rtol=1e-3, atol=1e-7)
    assert np.isfinite(answer.q).all()


@pytest.mark.parametrize("past", [1e-3, 1e-2, 0.1])
def test_an_outstretched_arm_does_not_reach_farther(past):
    robot = cr.load("iiwa14")  # straight up at home, all of its length
    T = robot.pose(np.zeros(7))
    T[2, 3] += past
    answer = robot.inverse_kinematics(T)
    assert not answer.success
    assert answer.error[0] <= past * 1.001
    assert np.isfinite(answer.q).all()


def test_a_pose_beyond_the_limits_says_so(panda):
    free = cr.load("panda")
    q = np.array([0.0, 0.3, 0.0, -1.5, 0.0, 1.6, 3.3])  # the last joint past its 2.9
    held = np.array([0.0, 0.3, 0.0, -1.5, 0.0, 1.6])
    only_last = free.lock(dict(zip(free.joint_names[:6], held, strict=True)))
    T = free.pose(q)
    answer = only_last.inverse_kinematics(T)
    assert not answer.success
    assert answer.reason == "limits"
    assert keeps_limits(only_last, answer.q)
    assert only_last.inverse_kinematics(T, limits=False).success


def test_nan_and_infinity_concern_their_row_only(panda, rng):
    T = panda.pose(panda.random_state(rng, 6))
    bad = T.copy()
    bad[2, 0, 3], bad[4, 1, 1] = np.nan, np.inf
    answer = panda.inverse_kinematics(bad)
    assert answer.reason.tolist() == ["", "", "not finite", "", "not finite", ""]
    assert not answer.success[[2, 4]].any()
    assert np.isfinite(answer.q).all()
    np.testing.assert_array_equal(answer.q[[0, 1, 3, 5]], panda.inverse_kinematics(T).q[[0, 1, 3, 5]])


def test_singular_starts_and_targets_and_starts_at_limits_give_numbers(arm, rng):
    low, high = arm.limits.lower, arm.limits.upper
    T = arm.pose(arm.random_state(rng, 4))
    for start in (np.zeros(arm.nv), low, high, np.where(rng.random(arm.nv) < 0.5, low, high), high + 1.0):
        answer = arm.inverse_kinematics(T, start)
        assert answer.success.all(), start
    singular = np.clip(np.zeros((1, arm.nv)), low, high)
    answer = arm.inverse_kinematics(arm.pose(singular))
    assert np.isfinite(answer.q).all()
    assert answer.success.all() == (np.max(apart(arm, answer.q, arm.pose(singular))) <= 1.1e-6)


def test_a_start_turned_by_half_a_turn_is_left(rng):
    robot = cr.load("ur5")
    q = np.array([0.3, -1.0, 1.2, -0.4, 1.0, 0.2])
    T = robot.pose(q)
    answer = robot.inverse_kinematics(T, q + np.array([0, 0, 0, 0, 0, np.pi]))
    assert answer.success


# --- the textbook's methods ---


@pytest.mark.parametrize("method", ["newton", "pseudo_inverse", "lm"])
def test_methods_converge_quadratically_from_near(method, rng):
    robot = cr.load("ur5")
    q = np.array([0.3, -1.0, 1.2, -0.4, 1.0, 0.2]) + rng.normal(size=(40, 6)) * 0.1
    answer = robot.inverse_kinematics(
        robot.pose(q), q + rng.normal(size=q.shape) * 0.03, method=method, restarts=0, max_iterations=8
    )
    assert answer.success.all()
    assert answer.iterations.max() <= 8


def test_the_transpose_converges_slowly():
    arm = cr.load("planar_3r")
    T = arm.pose([0.4, 0.5, 0.6])
    answer = arm.inverse_kinematics(
        T, [0.3, 0.6, 0.5], method="transpose", restarts=0, max_iterations=2000, tolerance=1e-4
    )
    assert answer.success
    assert answer.iterations > 10


def test_newton_needs_as_many_joints_as_independent_equations(panda):
    with pytest.raises(cr.ShapeError, match="as many joints as independent equations, and 7 joints meet 6 of them"):
        panda.inverse_kinematics(np.eye(4), method="newton")
    arm = cr.load("planar_3r")
    with pytest.raises(cr.ShapeError, match="and 3 joints meet 2 of them; use method='pseudo_inverse'"):
        arm.inverse_kinematics([1.0, 1.0, 0.0], method="newton", task="position")


def test_newton_on_a_planar_arm_needs_no_weights():
    arm = cr.load("planar_2r")
    answer = arm.inverse_kinematics([0.0, 1.6, 0.0], [0.1, 1.0], method="newton", task="position", restarts=0)
    assert answer.success
    np.testing.assert_allclose(answer.q, [np.arcsin(0.8), 1.287002217586], atol=1e-6)
    assert (answer.rank, answer.equations) == (2, 3)
    assert str(answer).startswith("solved; of the task's 3 equations, 2 are independent on this robot\nsolved ")
    three = cr.load("planar_3r")
    T = three.pose([0.4, 0.5, 0.6])
    for weights in (None, (0, 0, 1, 1, 1, 0)):
        answer = three.inverse_kinematics(T, [0.3, 0.6, 0.5], method="newton", weights=weights, restarts=0)
        np.testing.assert_allclose(answer.q, [0.4, 0.5, 0.6], atol=1e-6)
        assert answer.success
        assert answer.rank == 3


def test_a_target_beside_the_plane_of_an_arm_is_not_reached():
    arm = cr.load("planar_2r")
    answer = arm.inverse_kinematics([0.0, 1.6, 0.25], [0.1, 1.0], method="newton", task="position", restarts=0)
    assert not answer.success
    np.testing.assert_allclose(answer.error, [0.25, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("task", "rank", "equations"),
    [("pose", 6, 6), ("position", 3, 3), ("orientation", 3, 3), ("axis", 5, 5), ("pointing", 2, 2)],
)
def test_tasks_have_the_rank_that_the_arm_has(panda, task, rank, equations):
    answer = panda.inverse_kinematics(panda.pose(panda.home()), panda.home(), task=task)
    assert (answer.rank, answer.equations) == (rank, equations)


# --- every iterate ---


def newton_of_the_notes(robot, x, q, tolerance):
    """Newton and Raphson's iteration with the pseudo-inverse, as a textbook writes it."""
    iterates = [q]
    while np.linalg.norm(error := robot.pose(q)[:3, 3] - x) > tolerance:
        q = q - np.linalg.pinv(robot.jacobian(q)[3:]) @ error
        iterates.append(q)
    return np.array(iterates)


@pytest.mark.parametrize("method", ["newton", "pseudo_inverse"])
def test_the_history_is_that_of_the_textbook(method):
    arm, x, q0 = cr.load("planar_2r"), np.array([0.0, 1.6, 0.0]), np.array([0.1, 1.0])
    answer = arm.inverse_kinematics(x, q0, method=method, task="position", history=True)
    history = answer.history
    expected = newton_of_the_notes(arm, x, q0, 0.9e-6)
    np.testing.assert_allclose(history.q, expected, atol=1e-12)
    np.testing.assert_allclose(history.step, np.diff(expected, axis=0), atol=1e-12)
    distances = np.linalg.norm(arm.pose(expected)[:, :3, 3] - x, axis=-1)
    np.testing.assert_allclose(history.error, np.stack([distances, 0 * distances], axis=1), atol=1e-12)
    np.testing.assert_allclose(answer.q, history.q[-1], atol=1e-12)
    np.testing.assert_allclose(answer.error, history.error[-1], atol=1e-12)
    assert len(history) == len(expected) - 1


@pytest.mark.parametrize("method", ["transpose", "lm"])
def test_every_method_has_a_history(method):
    arm = cr.load("planar_2r").reference
    T = arm.pose([0.4, 0.5])
    answer = arm.inverse_kinematics(T, [0.3, 0.6], method=method, history=True, max_iterations=200, tolerance=1e-5)
    assert answer.success
    np.testing.assert_array_equal(answer.history.q[0], [0.3, 0.6])
    np.testing.assert_allclose(answer.history.error[-1], answer.error, atol=1e-12)
    assert (answer.history.error[-1] <= 1e-5).all()
    assert (answer.history.error[:-1] > 1e-6).any(axis=1).all()


def test_a_history_without_a_start_begins_where_the_search_does(panda):
    T = panda.pose(panda.home())
    answer = panda.inverse_kinematics(T, history=True)
    assert len(answer.history.q) <= 60
    assert np.isfinite(answer.history.error).all()


def test_a_history_is_a_table_and_a_figure(tmp_path):
    arm = cr.load("planar_2r")
    history = arm.inverse_kinematics(
        [0.0, 1.6, 0.0], [0.1, 1.0], method="newton", task="position", history=True
    ).history
    lines = str(history).splitlines()
    assert lines[0] == f"{len(history)} steps of newton"
    assert lines[1].split() == ["iteration", "error,", "m", "error,", "rad", "step", "joint1", "joint2"]
    assert lines[2].split() == ["0", "1.57", "0", "1.78", "0.100000", "1.000000"]
    assert len(lines) == len(history) + 3
    assert "6 steps of newton" in history._repr_html_()
    figure = history.plot(tmp_path / "newton.png")
    assert (tmp_path / "newton.png").stat().st_size > 10_000
    assert [axes.get_ylabel() for axes in figure.axes] == ["error", "size of the step", "q, rad or m"]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), history.error[:, 0])
    assert len(figure.axes[0].lines) == 1  # the orientation is free
    with pytest.raises(cr.ShapeError, match="ax must be 3 axes"):
        history.plot(ax=figure.axes[:2])


def test_a_history_is_of_one_search():
    arm = cr.load("planar_2r")
    with pytest.raises(cr.ShapeError, match=r"history=True records one target and one start, got a batch \(2,\)"):
        arm.inverse_kinematics([[1.0, 1.0, 0.0]] * 2, task="position", history=True)
    with pytest.raises(cr.ShapeError, match="records the way to the target; leave out posture"):
        arm.inverse_kinematics([1.0, 1.0, 0.0], task="position", history=True, posture="center")
    with pytest.raises(cr.ShapeError, match="history must be True or False"):
        arm.inverse_kinematics([1.0, 1.0, 0.0], task="position", history="yes")
    nothing = arm.inverse_kinematics([np.nan, 1.0, 0.0], task="position", history=True)
    assert nothing.reason == "not finite"
    assert nothing.history is None


# --- pose vectors ---


def test_a_pose_vector_is_a_target():
    arm = cr.load("ur5")
    q = np.array([[0.3, -1.0, 1.2, -0.4, 1.0, 0.2], [0.1, -0.8, 1.0, -0.3, 1.2, 0.4]])
    for vectors in (
        arm.textbook.pose_vector(q),
        arm.textbook.pose_vector(q).tolist(),
        [list(row) for row in arm.textbook.pose_vector(q)],
    ):
        answer = arm.inverse_kinematics(vectors, q + 0.05)
        np.testing.assert_allclose(answer.q, q, atol=1e-5)
    arm = arm.reference
    point = arm.inverse_kinematics(arm.textbook.pose_vector(q[0]), q[0], task="position")
    np.testing.assert_allclose(arm.pose(point.q)[:3, 3], arm.pose(q[0])[:3, 3], atol=1e-6)
    turned = arm.inverse_kinematics(arm.textbook.pose_vector(q[0]), q[0] + 0.1, task="orientation")
    np.testing.assert_allclose(arm.pose(turned.q)[:3, :3], arm.pose(q[0])[:3, :3], atol=1e-6)
    path = arm.ik.follow(arm.textbook.pose_vector(np.linspace(q[0], q[1], 5)), q[0])
    assert path.success.all()


def test_a_pose_vector_may_have_units():
    pint = pytest.importorskip("pint")
    u = pint.get_application_registry()
    arm = cr.load("planar_2r")
    target = [100 * u.cm, 1 * u.m, 0 * u.m, 0 * u.degree, 0 * u.degree, 90 * u.degree]
    np.testing.assert_allclose(arm.inverse_kinematics(target, [0.1, 1.4]).q, [0, np.pi / 2], atol=1e-6)
    with pytest.raises(cr.ShapeError, match=r"target.* yaw"):
        arm.inverse_kinematics([*target[:5], 1 * u.m], [0.1, 1.4])
    with pytest.raises(
        cr.ShapeError, match=r"poses \(\.\.\., 4, 4\) or pose vectors \(\.\.\., 6\) for the task 'pose'"
    ):
        arm.inverse_kinematics(np.zeros(5))


def test_errors_are_the_gradient_of_the_cost(panda, rng):
    """J^T e is minus the gradient of the cost, for every task: by central differences on the reference text."""
    model = merged_model(panda)
    uneven = (1.0, 2.0, 0.5, 1.0, 3.0, 0.0)
    goals = [Goal("panda_link8", task) for task in ("pose", "position", "orientation", "axis", "pointing")]
    for goal in [*goals, Goal("panda_link8", weights=uneven), Goal("panda_link8", "position", weights=uneven)]:
        problem = SearchProblem(model, (goal,))
        T = panda.pose(panda.random_state(rng))
        target = goal.target_numbers(T[:3, :3], T[:3, 3]).tolist()
        q = panda.random_state(rng)
        here = residual(problem, q.tolist(), [1.0, 1.0], [target])
        gradient = np.array(here.rows).T @ np.array(here.error)
        for i in range(7):
            step = np.eye(7)[i] * 1e-6
            up, down = (residual(problem, (q + s * step).tolist(), [1.0, 1.0], [target]).cost for s in (1, -1))
            assert (down - up) / 2e-6 == pytest.approx(gradient[i], abs=1e-7)


# --- tasks ---


def test_position_only(panda, rng):
    T = panda.pose(panda.random_state(rng, 50))
    by_pose, by_point = (panda.inverse_kinematics(x, task="position") for x in (T, T[:, :3, 3]))
    assert by_pose.success.all()
    np.testing.assert_array_equal(by_pose.q, by_point.q)
    assert apart(panda, by_point.q, T)[0].max() <= 1e-6


def test_orientation_only(panda, rng):
    T = panda.pose(panda.random_state(rng, 50))
    answer = panda.inverse_kinematics(T[:, :3, :3], task="orientation")
    assert answer.success.all()
    assert apart(panda, answer.q, T)[1].max() <= 1.1e-6


def test_an_axis_leaves_the_turn_about_it_free(panda, rng):
    T = panda.pose(panda.random_state(rng, 50))
    answer = panda.inverse_kinematics(T, task="axis", axis=(1, 0, 0))
    X = panda.pose(answer.q)
    assert answer.success.all()
    assert np.abs(X[:, :3, 0] - T[:, :3, 0]).max() < 2e-6
    assert np.abs(X[:, :3, 3] - T[:, :3, 3]).max() < 1e-6
    assert apart(panda, answer.q, T)[1].max() > 0.1


def test_pointing_asks_for_a_direction_alone(panda, rng):
    directions = rng.normal(size=(30, 3))
    answer = panda.inverse_kinematics(directions, task="pointing")
    assert answer.success.all()
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.abs(panda.pose(answer.q)[:, :3, 2] - unit).max() < 2e-6


def test_a_weight_of_zero_is_not_asked_for(panda, rng):
    """Free about the target's z axis: the tool's z axis is where it should be, and x is not."""
    T = panda.pose(panda.random_state(rng, 40))
    answer = panda.inverse_kinematics(T, weights=(1, 1, 0, 1, 1, 1))
    assert answer.success.mean() > 0.95
    X = panda.pose(answer.q[answer.success])
    assert np.abs(X[:, :3, 2] - T[answer.success, :3, 2]).max() < 3e-6
    assert np.abs(X[:, :3, 0] - T[answer.success, :3, 0]).max() > 0.1


def test_several_links_at_once(panda, rng):
    q = panda.random_state(rng, 20)
    targets = {"panda_link8": panda.pose(q), "panda_link4": panda.pose(q, "panda_link4")[:, :3, 3]}
    answer = panda.inverse_kinematics(targets, task={"panda_link8": "pose", "panda_link4": "position"})
    assert answer.success.all()
    assert set(answer.errors) == set(targets)
    assert apart(panda, answer.q, targets["panda_link8"])[0].max() <= 1e-6
    elbow = panda.pose(answer.q, "panda_link4")[:, :3, 3]
    assert np.abs(elbow - targets["panda_link4"]).max() <= 1e-6


def test_four_feet_of_a_floating_robot(rng):
    robot = cr.load("quadruped")
    q = robot.random_state(rng, 3)
    feet = {foot: robot.pose(q, foot)[:, :3, 3] for foot in robot.model.tips}
    answer = robot.inverse_kinematics(feet, task="position")
    assert answer.success.all()
    for foot, points in feet.items():
        assert np.abs(robot.pose(answer.q, foot)[:, :3, 3] - points).max() <= 1e-6


def test_joints_that_do_not_move_the_link_stay(rng):
    robot = cr.load("panda_hand")
    start = robot.random_state(rng)
    target = robot.pose(robot.random_state(rng), "panda_link8")
    answer = robot.inverse_kinematics(target, start, "panda_link8")
    assert answer.success
    assert answer.q[-1] == start[-1]


def test_a_posture_is_approached_without_leaving_the_target(panda, rng):
    q = panda.random_state(rng, 30)
    T = panda.pose(q)
    middle = (panda.limits.lower + panda.limits.upper) / 2
    plain, centred = panda.inverse_kinematics(T, q), panda.inverse_kinematics(T, q, posture="center")
    assert centred.success.all()
    before, after = (np.linalg.norm(a.q - middle, axis=-1) for a in (plain, centred))
    assert (after <= before + 1e-9).all()
    assert after.mean() < 0.95 * before.mean()
    own = panda.inverse_kinematics(T[0], q[0], posture=q[0])
    np.testing.assert_allclose(own.q, q[0], atol=1e-3)


def test_whole_turns_are_taken_out(rng):
    robot = cr.load("ur5")
    q = rng.uniform(-np.pi, np.pi, (10, 6)) * 0.9
    away = q + 2 * np.pi * np.array([1, 0, 0, -1, 0, 0])
    shifted = shift_by_periods(robot.model, away, q, Bounds.of_limits(robot))
    np.testing.assert_allclose(shifted, q, atol=1e-12)


# --- weights ---


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1e6])
def test_only_the_proportions_of_weights_matter(panda, size):
    targets = panda.pose(panda.random_state(np.random.default_rng(1), (10,)))
    answer = panda.inverse_kinematics(targets, weights=[size] * 6)
    assert answer.success.all()
    np.testing.assert_array_equal(answer.q, panda.inverse_kinematics(targets).q)


def test_proportions_between_links_are_kept(panda):
    q = panda.random_state(np.random.default_rng(1), (5,))
    targets = {"panda_link8": panda.pose(q), "panda_link4": panda.pose(q, "panda_link4")}
    few = panda.inverse_kinematics(targets, weights={"panda_link8": [1e-6] * 6, "panda_link4": [1e-7] * 6})
    many = panda.inverse_kinematics(targets, weights={"panda_link8": [1.0] * 6, "panda_link4": [0.1] * 6})
    np.testing.assert_allclose(few.q, many.q, atol=1e-5)


# --- large and small numbers ---


@pytest.mark.parametrize("length", [1e-310, 1e-200, 1e300])
def test_directions_may_have_any_length(panda, length):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = panda.inverse_kinematics([length, 0.0, 0.0], task="pointing")
        assert panda.workspace(50).reach([length, 0.0, 0.0]).distance > 0
    assert answer.success
    np.testing.assert_allclose(panda.pose(answer.q)[:3, 2], [1, 0, 0], atol=1e-5)


@pytest.mark.parametrize("far", [1e40, 1e100])
def test_a_place_far_away_is_not_reached_and_warns_of_nothing(panda, far):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not panda.inverse_kinematics([far, 0.0, 0.0], task="position").success


# --- against peers ---


def test_the_benchmark_compares_with_peers(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["inverse_kinematics.py", "--targets", "24", "--peer-targets", "2"])
    path = Path(__file__).parents[2] / "benchmarks" / "inverse_kinematics.py"
    runpy.run_path(str(path), run_name="__main__")
    out = capsys.readouterr().out
    assert out.count("100% failed") == 4
    cr.set_threads(None)


def test_newtons_method_says_that_its_start_is_singular():
    """From the stretched arm the Jacobian has no inverse; what rounding then leads to is no step of Newton's."""
    arm, target = cr.load("planar_2r"), [0.5, 1.2, 0.0]
    ask = {"method": "newton", "task": "position", "restarts": 0, "max_iterations": 3}
    one = arm.inverse_kinematics(target, [0.0, 0.0], **ask)
    assert not one.success
    assert one.reason == "singular start"
    assert str(one).startswith("Newton's method has no step from its start")
    starts = [[0.0, 0.0], [0.4, 1.0], [1.0, 0.0], [np.nan, 0.0]]
    some = arm.inverse_kinematics(target, starts, **{**ask, "max_iterations": 6})
    assert some.reason[0] == some.reason[2] == "singular start"
    assert some.reason[[1, 3]].tolist() == ["", "not finite"]
    far = arm.inverse_kinematics([5.0, 0.0, 0.0], [0.4, 1.0], **ask)
    assert far.reason == "not reached"
    told = arm.inverse_kinematics(target, [0.0, 0.0], method="newton", task="position", history=True)
    assert "the Jacobian is singular at the start" in " ".join(str(told).split())
    assert "from where the Jacobian is singular" in " ".join(str(told.history).split())
    regular = arm.inverse_kinematics(target, [0.4, 1.0], method="newton", task="position", history=True)
    assert "singular" not in str(regular) + str(regular.history)
    assert "singular" not in str(
        arm.inverse_kinematics(target, [0.0, 0.0], method="pseudo_inverse", task="position", history=True)
    )

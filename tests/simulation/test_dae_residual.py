"""F(x, dx/dt, t): zero along motions, exact Jacobians, the index that it says, and integrated by a DAE solver."""

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.algorithms import parent_child
from chainrule.core.derived import merged_model
from chainrule.robot.building import to_urdf


def pencil_index(F, x, x_dot):
    """The index of the linear pencil s dF/d(dx/dt) + dF/dx: how often its singular part must be differentiated."""
    A, E = (matrix.toarray() for matrix in F.jacobians(x, x_dot))
    power = step = np.linalg.solve(0.7 * E + A, E)
    ranks = [len(E)]
    for _ in range(5):
        ranks.append(np.linalg.matrix_rank(power, tol=1e-7 * np.linalg.norm(power, 2)))
        if ranks[-1] == ranks[-2]:
            return len(ranks) - 2
        power = power @ step
    raise AssertionError(ranks)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_on_trees_of_every_joint_kind_it_is_zero_for_forward_dynamics(seed):
    robot = tree(seed).without_friction().reference
    q, qd, tau = state(robot, seed)
    loads = {"tip_wrench": np.arange(6.0), "external": {"link3": np.ones(6)}, "frame": "world"}
    F = robot.textbook.dae_residual(tau, **loads)
    start = F.start(q, qd)
    assert np.abs(F(start.x, start.x_dot)).max() < 1e-7 * (1 + np.abs(start.x).max())
    parts = F.split(start.x_dot)
    assert_allclose(parts.qd, robot.forward_dynamics(q, qd, tau, **loads), rtol=1e-8, atol=1e-8)
    merged = robot.merge_fixed().reference
    assert_allclose(F.split(start.x).V, merged.velocities(q, qd, frame="body")[1:], atol=1e-9)
    assert F.drift(start.x).twists < 1e-9


def test_without_the_right_rates_it_is_not_zero():
    F = cr.load("planar_2r").reference.textbook.dae_residual([1.0, 2.0])
    start = F.start([0.3, 0.4], [1.0, -0.5])
    for k in np.flatnonzero(start.differential):
        wrong = start.x_dot.copy()
        wrong[k] += 1.0
        assert np.abs(F(start.x, wrong)).max() > 0.1
    assert np.abs(F(start.x, start.x_dot)).max() < 1e-12


CASES = [
    ("planar_2r", 1),
    ("planar_2r", 2),
    ("planar_rp", 1),
    ("planar_rp", 2),
    ("four_bar", 1),
    ("four_bar", 2),
    ("four_bar", 3),
]


def started(name, index, **options):
    robot = cr.load(name).reference
    q = robot.loops.close([1.0, 0.0, 0.0], hold=["crank"]) if robot.model.constraints else [0.3, 0.4]
    F = robot.textbook.dae_residual(index=index, **options)
    return F, F.start(q, robot.loops.consistent_velocity(q, np.linspace(1.0, 2.0, robot.nv)))


@pytest.mark.parametrize(("name", "index"), CASES)
def test_the_index_is_that_of_the_pencil_and_the_start_is_consistent(name, index):
    F, start = started(name, index)
    assert F.index == start.index == index
    assert pencil_index(F, start.x, start.x_dot) == index
    assert max(start.errors.values()) < 1e-12
    assert start.moved < 1e-12
    assert f"index {index}" in str(F)
    assert f"index {index}" in repr(start)


@pytest.mark.parametrize(("name", "index"), CASES)
def test_the_jacobian_is_the_derivative(name, index):
    def torque(t, q, qd):
        return -3.0 * np.sin(q) - 0.5 * qd + t

    F, start = started(name, index, torque=torque)
    rng = np.random.default_rng(0)
    x, x_dot, dx, c = start.x + 0.1 * rng.normal(size=F.size), rng.normal(size=F.size), rng.normal(size=F.size), 3.0
    h = 1e-6
    slope = (F(x + h * dx, x_dot + c * h * dx, 0.2) - F(x - h * dx, x_dot - c * h * dx, 0.2)) / (2 * h)
    assert_allclose(F.jacobian(x, x_dot, 0.2, c) @ dx, slope, rtol=1e-6, atol=1e-6)
    floats = parent_child.residual(
        merged_model(F.robot), x.tolist(), x_dot.tolist(), torque(0.2, x[: F.robot.nq], x[F.robot.nq : 2 * F.robot.nq]).tolist(),
        None, F.rows_in_use, index,
    )  # fmt: skip
    assert_allclose(F(x, x_dot, 0.2), floats, atol=1e-12)


def exact_motion(robot, q, qd, t):
    return robot.simulate(q, qd, t[-1], integrator=cr.DOP853(dt=t[1], rtol=1e-11, atol=1e-12))


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", pytest.param("four_bar", marks=pytest.mark.slow)])
def test_idas_integrates_index_one(name):
    F, start = started(name, 1)
    t = np.linspace(0.0, 0.15, 4)
    q, qd, *_ = F.split(start.x)
    x = F.integrate(q, qd, t)
    parts, motion = F.split(x), exact_motion(F.robot, q, qd, t)
    assert_allclose(parts.q, motion.q, atol=1e-6)
    assert_allclose(parts.qd, motion.qd, atol=1e-5)
    wrenches = F.robot.joint_wrenches(motion.q, motion.qd, motion.qdd, frame="body")
    assert_allclose(parts.W[1:-1], wrenches[1:-1], atol=1e-3)
    assert max(F.drift(x)) < 1e-5


@pytest.mark.parametrize(("name", "index"), [("planar_2r", 2), pytest.param("four_bar", 3, marks=pytest.mark.slow)])
def test_higher_indices_are_integrated_by_backward_differences(name, index):
    """BDF of order 2, with Newton's steps on F alone: what is exact at index 1 by accident would show here."""
    F, start = started(name, index)
    errors = []
    for steps in (20, 40):
        h = 0.04 / steps
        before, now = start.x - h * start.x_dot, start.x
        for _ in range(steps):
            x = 2 * now - before
            for _ in range(5):
                x_dot = (3 * x - 4 * now + before) / (2 * h)
                x = x - np.linalg.solve(F.jacobian(x, x_dot, 0.0, 1.5 / h).toarray(), F(x, x_dot))
            before, now = now, x
        q, qd, *_ = F.split(start.x)
        motion = exact_motion(F.robot, q, qd, [0.0, 0.04])
        errors.append(np.abs(now[: F.robot.nq] - motion.q[-1]).max())
        assert F.drift(now).twists < 1e-9
        assert F.drift(now).loop_positions < 1e-9 or index < 3
    assert errors[1] < 0.4 * errors[0] < 1e-3


def test_joints_with_quaternions():
    robot = tree(6, ["spherical", "revolute"], mimic=False).without_friction().reference
    q, qd, tau = state(robot, 3)
    F = robot.textbook.dae_residual(tau)
    x = F.integrate(q, qd, [0.0, 0.01])
    motion = robot.simulate(
        q, qd, 0.01, tau, integrator=cr.DOP853(dt=0.01, rtol=1e-11, atol=1e-12), torque_limits=False, limits=False
    )
    assert_allclose(F.split(x).q, motion.q, atol=1e-6)
    assert F.drift(x).quaternions < 1e-6


def test_the_problem_is_one_that_casadi_takes():
    F, start = started("planar_2r", 1)
    problem = F.casadi()
    assert problem["alg"].shape == (26, 1)
    solver = casadi.integrator("own", "collocation", problem, 0.0, 0.01)
    solution = solver(x0=start.x[:16], z0=np.concatenate([start.x_dot[2:16], start.x[16:]]))
    motion = exact_motion(F.robot, start.x[:2], start.x[2:4], [0.0, 0.01])
    assert_allclose(np.array(solution["xf"]).ravel()[:2], motion.q[-1], atol=1e-8)


def test_open_loops_at_a_start_are_closed_and_told():
    F = cr.load("four_bar").reference.textbook.dae_residual()
    start = F.start([1.0, 0.1, 0.0], [1.0, 0.0, 0.0])
    assert start.moved > 0.01
    assert max(start.errors.values()) < 1e-9
    assert "moved by" in str(start)


def test_it_is_shown_as_a_table():
    F, _ = started("four_bar", 2)
    assert "algebraic" in str(F)
    assert "lambda" in F._repr_html_()
    assert repr(F) == "<DAEResidual of 'four_bar': 44 equations, index 2>"


def test_what_it_cannot_do_is_refused():
    arm = cr.load("planar_2r").reference
    with pytest.raises(cr.ModelError, match="joint 'joint1' has dry friction, which jumps at rest"):
        arm.edit(joints={"*": {"coulomb": 1.0}}).textbook.dae_residual()
    with pytest.raises(cr.ShapeError, match="index must be at most 3, got 4"):
        arm.textbook.dae_residual(index=4)
    with pytest.raises(cr.ShapeError, match="dae_residual: index must be"):
        arm.textbook.dae_residual(index={"tip": 6})
    with pytest.raises(cr.ShapeError, match="without loops, joints are in velocities at most"):
        arm.textbook.dae_residual(index=3)
    with pytest.raises(cr.ShapeError, match=r"function of .* in plain arithmetic that can be differentiated"):
        arm.textbook.dae_residual(lambda t, q, qd: [float(q[0]), 0.0])
    with pytest.raises(cr.ShapeError, match="torque must be 2 numbers, or a function"):
        arm.textbook.dae_residual(np.zeros((3, 2)))
    with pytest.raises(cr.ShapeError, match="a wrench is constant"):
        arm.textbook.dae_residual(tip_wrench=np.zeros((2, 6)), frame="body")
    F = arm.textbook.dae_residual()
    with pytest.raises(cr.ShapeError, match="start takes one state"):
        F.start(np.zeros((2, 2)))
    with pytest.raises(cr.ShapeError, match="x must have 28 numbers"):
        F(np.zeros(3), np.zeros(28))
    with pytest.raises(cr.ShapeError, match="got a batch"):
        F(np.zeros((2, 28)), np.zeros(28))
    with pytest.raises(cr.ShapeError, match="increasing times"):
        F.integrate([0.0, 0.0], None, [1.0, 0.5])
    with pytest.raises(cr.ShapeError, match="take equations of index 1, these have 2"):
        arm.textbook.dae_residual(index=2).casadi()
    fixed = cr.Robot.from_urdf("<robot name='r'><link name='l'/></robot>", check=False)
    with pytest.raises(cr.ModelError, match="no degrees of freedom"):
        fixed.textbook.dae_residual()
    with pytest.raises(cr.ModelError, match="no degrees of freedom"):
        fixed.textbook.simulate_maximal([])


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_rates_and_wrenches_are_those_of_pinocchio(name):
    """One start of a real arm: dqd/dt of the DAE against Pinocchio's articulated-body algorithm."""
    pin = pytest.importorskip("pinocchio")
    robot = cr.load(name).without_friction().edit(joints={"*": {"rotor": 0}}).reference
    q, qd, tau = state(robot, 5)
    F = robot.textbook.dae_residual(tau)
    start = F.start(q, qd)
    model = pin.buildModelFromXML(to_urdf(robot))
    data = model.createData()
    assert_allclose(F.split(start.x_dot).qd, pin.aba(model, data, q, qd, tau), rtol=1e-8, atol=1e-8)
    pin.rnea(model, data, q, qd, F.split(start.x_dot).qd)
    ours = F.split(start.x).W
    theirs = np.array([[*f.angular, *f.linear] for f in list(data.f)[1:]])
    assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)

"""The controller that keeps clear: nothing is touched, limits hold, and where nothing is near it is resolved rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import chainrule as cr

PANDA = cr.load("panda")
HOME = PANDA.home()
DT = 1e-3


def ball_in_the_way(shift=(0.0, 0.25, 0.0), radius=0.08):
    return cr.World().sphere("ball", radius=radius, xyz=PANDA.pose(HOME)[:3, 3] + shift)


def run(controller, q, command, steps):
    """The configurations on the way, limits checked."""
    found = [q]
    for _ in range(steps):
        qd = command(controller, found[-1])
        assert (np.abs(qd) <= PANDA.limits.velocity * (1 + 1e-6)).all()
        found.append(found[-1] + DT * qd)
    q = np.array(found)
    assert (q >= PANDA.limits.lower - 1e-6).all()
    assert (q <= PANDA.limits.upper + 1e-6).all()
    return q


def test_an_obstacle_is_not_touched_while_the_target_goes_through_it():
    world = ball_in_the_way()
    controller = cr.KeepClear(PANDA, world, clearance=0.01)
    T = PANDA.pose(HOME)
    through = np.linspace(0.0, 0.5, 1500)
    ahead = iter(through)

    def command(c, q):
        goal = T.copy()
        goal[1, 3] += next(ahead)
        return c.towards(q, goal)

    q = run(controller, HOME, command, len(through))
    path = T[:3, 3] + np.outer(through, [0, 1, 0])
    assert np.linalg.norm(path - list(world["ball"].origin.translation), axis=1).min() < 0.08  # inside
    assert PANDA.clearance(q, world).min() > 0.0095
    assert PANDA.clearance(q, world).min() < 0.012  # it went as near as it may


def test_the_robot_does_not_touch_itself():
    T = PANDA.pose(HOME)
    T[:3, 3] = 0.0, 0.0, 0.1
    q = run(cr.KeepClear(PANDA, clearance=0.02), HOME, lambda c, q: c.towards(q, T), 1500)
    assert 0.0195 < PANDA.clearance(q).min() < 0.03


def test_far_from_everything_it_is_resolved_rates():
    controller = cr.KeepClear(PANDA, cr.World().sphere("far", radius=0.1, xyz=(5, 0, 0)))
    twist = [0.1, 0.0, -0.1, 0.05, 0.02, 0.1]
    assert (controller(HOME, twist) == PANDA.analysis.resolved_rate(HOME, twist, damping=0.01)).all()
    goal = PANDA.pose(HOME + 0.1)
    q = run(controller, HOME, lambda c, q: c.towards(q, goal), 1000)
    assert abs(PANDA.pose(q[-1]) - goal).max() < 1e-4


def test_the_answer_is_the_least_among_all_within_the_bounds():
    world = ball_in_the_way((0.0, 0.15, 0.0))
    controller = cr.KeepClear(PANDA, world, clearance=0.02)
    twist = np.array([0, 0, 0, 0.3, 1.5, 0.2])
    qd = controller(HOME, twist)
    J = PANDA.jacobian(HOME)

    def cost(x):
        return ((J @ x - twist) ** 2).sum() + 1e-4 * (x**2).sum()

    d, step = PANDA.distances(HOME, world), 1e-6
    D = np.array([(PANDA.distances(HOME + step * e, world) - d) / step for e in np.eye(7)]).T
    found = minimize(
        cost, np.zeros(7), method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
        bounds=list(zip(-PANDA.limits.velocity, PANDA.limits.velocity, strict=True)),
        constraints={"type": "ineq", "fun": lambda x: D @ x + 10.0 * (d - 0.02)},
    )  # fmt: skip
    assert (D @ qd >= -10.0 * (d - 0.02) - 1e-4).all()
    assert (D @ qd + 10.0 * (d - 0.02)).min() < 1e-4  # a bound holds it back
    assert cost(qd) == pytest.approx(found.fun, rel=1e-3)


def test_what_is_too_near_is_left():
    world = ball_in_the_way((0.0, 0.0, -0.1))
    before = PANDA.clearance(HOME, world)
    q = run(cr.KeepClear(PANDA, world, clearance=before + 0.02), HOME, lambda c, q: c(q, np.zeros(6)), 1000)
    clear = PANDA.clearance(q, world)
    assert clear[-1] > before + 0.019
    assert (np.diff(clear) > -1e-6).all()


def test_between_two_walls_that_are_too_near_it_stays():
    y, half = 0.0, 0.05
    world = cr.World()
    for name, side in (("left", 1), ("right", -1)):
        world = world.half_space(name, normal=(0, -side, 0), point=(0, y + side * half, 0))
    q = run(cr.KeepClear(PANDA, world, clearance=0.2), HOME, lambda c, q: c(q, [0, 0, 0, 0, 0.5, 0]), 200)
    d = PANDA.distances(q, world).min(axis=1)
    assert (d >= d[0] - 1e-3).all()


def test_a_world_may_move():
    controller = cr.KeepClear(PANDA, ball_in_the_way((0.0, 2.0, 0.0)))
    fast = [0, 0, 0, 0, 0.4, 0]
    free = controller(HOME, fast)
    controller.world = ball_in_the_way((0.0, 0.12, 0.0))
    assert abs(controller(HOME, fast) - free).max() > 0.05


def test_the_position_alone_may_be_meant():
    controller = cr.KeepClear(PANDA, ball_in_the_way(), task="position")
    free = PANDA.analysis.resolved_rate(HOME, [0.1, 0, 0], task="position", damping=0.01)
    assert (controller(HOME, [0.1, 0, 0]) == free).all()


def test_mistakes_are_named():
    with pytest.raises(cr.ShapeError, match=r"world must be a cr\.World"):
        cr.KeepClear(PANDA, "table")
    with pytest.raises(cr.ShapeError, match="one configuration"):
        cr.KeepClear(PANDA)(np.stack([HOME, HOME]), np.zeros(6))
    with pytest.raises(cr.ShapeError, match="damping"):
        cr.KeepClear(PANDA, damping=0.0)
    with pytest.raises(cr.ModelError, match="quaternions"):
        cr.KeepClear(cr.load("go2"))
    with pytest.raises(cr.ShapeError, match="frame='world'"):
        cr.KeepClear(PANDA, frame="body").towards(HOME, np.eye(4))
    with pytest.raises(cr.ChainruleError):
        cr.KeepClear(PANDA)(HOME * np.nan, np.zeros(6))

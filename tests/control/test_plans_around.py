"""Plans around obstacles: free and within limits at every place, by a peer too, or refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Box, Capsule

PANDA = cr.load("panda")
TABLE = cr.World().box("table", size=(1, 1, 0.05), xyz=(0.5, 0, -0.03))
WORLD = TABLE.box("wall", size=(0.3, 0.02, 0.7), xyz=(0.55, 0, 0.35))
CLEARANCE = 0.01


def beside(side):
    q = PANDA.home()
    q[[0, 1, 3]] = side * 0.8, 0.2, -1.8
    return q


LEFT, RIGHT = beside(-1), beside(1)


def check(motion, world=WORLD, clearance=CLEARANCE, acceleration=np.inf):
    t = np.linspace(0.0, motion.duration, 10_000)
    q, qd, qdd = motion(t)
    assert (q >= PANDA.limits.lower - 1e-9).all()
    assert (q <= PANDA.limits.upper + 1e-9).all()
    assert (np.abs(qd) <= PANDA.limits.velocity * (1 + 1e-5)).all()
    assert (np.abs(qdd) <= acceleration * (1 + 1e-5)).all()
    assert (np.abs(PANDA.inverse_dynamics(q, qd, qdd)[1:-1]) <= PANDA.limits.effort * (1 + 1e-5)).all()
    assert PANDA.clearance(q, world).min() >= clearance - 2e-6
    return q


def distances_by_coal(q, world):
    """The smallest distance (k,) of capsules and boxes by a peer."""
    coal = pytest.importorskip("coal")

    def made(body):
        shape = body.shape
        if isinstance(shape, Capsule):
            return coal.Capsule(shape.radius, shape.length)
        assert isinstance(shape, Box)
        return coal.Box(*map(float, shape.size))

    bodies = PANDA.bodies
    shapes = {body.name: made(body) for body in (*bodies, *world)}
    of_name = {body.name: body for body in (*bodies, *world)}
    pairs = bodies.pairs_with(world)
    least = []
    for T in PANDA.poses(q):
        placed = {}
        for name, body in of_name.items():
            frame = np.eye(4) if body.link is None else T[PANDA.link_names.index(body.link)]
            own = np.eye(4)
            own[:3, :3], own[:3, 3] = [list(row) for row in body.origin.rotation], list(body.origin.translation)
            X = frame @ own
            placed[name] = coal.Transform3s(X[:3, :3], X[:3, 3])
        least.append(min(
            coal.distance(shapes[a], placed[a], shapes[b], placed[b], coal.DistanceRequest(), coal.DistanceResult())
            for a, b in pairs
        ))  # fmt: skip
    return np.array(least)


@pytest.fixture(scope="module")
def around_the_wall():
    return cr.plan(PANDA, [LEFT, RIGHT], world=WORLD, clearance=CLEARANCE, acceleration=20.0)


def test_a_way_around_a_wall_is_free_and_within_limits(around_the_wall):
    q = check(around_the_wall, acceleration=20.0)
    assert np.allclose(q[[0, -1]], [LEFT, RIGHT], atol=1e-9)
    straight = LEFT + np.linspace(0, 1, 200)[:, None] * (RIGHT - LEFT)
    assert PANDA.clearance(straight, WORLD).min() < 0  # through the wall


def test_a_peer_finds_the_way_free_too(around_the_wall):
    q, _, _ = around_the_wall(np.linspace(0.0, around_the_wall.duration, 300))
    assert distances_by_coal(q, WORLD).min() >= CLEARANCE - 1e-5


def test_the_same_seed_gives_the_same_motion(around_the_wall):
    again = cr.plan(PANDA, [LEFT, RIGHT], world=WORLD, clearance=CLEARANCE, acceleration=20.0)
    assert again.duration == around_the_wall.duration


def test_what_is_free_is_straight():
    motion = cr.plan(PANDA, [LEFT, LEFT + 0.1], world=WORLD, clearance=CLEARANCE, acceleration=5.0, jerk=100.0)
    expected = cr.plan(PANDA, [LEFT, LEFT + 0.1], method="time_optimal", acceleration=5.0, jerk=100.0)
    assert motion.duration == pytest.approx(expected.duration, rel=1e-6)
    q = check(motion, acceleration=5.0)
    assert np.abs(np.diff((q - LEFT) / 0.1, axis=1)).max() < 1e-9


def test_a_free_spline_passes_its_way_points_without_a_stop():
    points = [LEFT, LEFT + 0.05 * np.array([1, 1, -1, 1, 1, 1, 1]), LEFT + 0.1]
    motion = cr.plan(PANDA, points, world=WORLD, clearance=CLEARANCE)
    check(motion)
    assert np.abs(motion(motion.times[1])[1]).max() > 0.1


def test_way_points_with_something_between_them_are_stops():
    motion = cr.plan(PANDA, [LEFT, LEFT - 0.1, RIGHT], world=WORLD, clearance=CLEARANCE)
    check(motion)
    assert np.allclose(motion(motion.times)[0], [LEFT, LEFT - 0.1, RIGHT], atol=1e-9)
    assert np.abs(motion(motion.times[1])[1]).max() < 1e-6


def test_a_pose_is_a_goal_after_a_way_point():
    over = PANDA.pose(RIGHT)
    motion = cr.plan(PANDA, [LEFT], poses=[over], world=WORLD, clearance=CLEARANCE)
    q = check(motion)
    assert np.allclose(PANDA.pose(q[-1]), over, atol=1e-5)


def test_without_a_world_the_robot_keeps_clear_of_itself():
    motion = cr.plan(PANDA, [LEFT, RIGHT], clearance=0.02)
    check(motion, None, 0.02)


def test_a_path_through_poses_is_refused_where_it_touches():
    poses = [PANDA.pose(LEFT), PANDA.pose(RIGHT)]
    free = cr.plan(PANDA, poses=poses, q0=LEFT, clearance=0.0)
    check(free, None, 0.0)
    with pytest.raises(cr.ModelError, match=r"% along the motion, 'panda_\w+' and 'wall' are .* mm inside each other"):
        cr.plan(PANDA, poses=poses, q0=LEFT, world=WORLD)


@pytest.mark.parametrize(
    ("points", "options", "words"),
    [
        (
            [LEFT, RIGHT],
            {"clearance": 0.3},
            r"at way-point 0, '\w+' and '\w+' are .* mm apart, and clearance is 300 mm",
        ),
        ([LEFT, LEFT - [0, -1.2, 0, 0, 0, 0, 0]], {}, r"at way-point 1, 'panda_\w+' and 'table' are .* inside each"),
        ([LEFT, RIGHT + 9], {}, "'panda_joint1' would be at .* rad at way-point 1, and its upper limit"),
        ([LEFT, LEFT], {}, "way-points 0 and 1 are the same"),
        ([LEFT, RIGHT], {"method": "cubic"}, "keeps clear is timed by method='time_optimal', not by 'cubic'"),
        ([LEFT, RIGHT], {"times": 2.0}, "does not take times"),
        ([LEFT, RIGHT], {"world": "table"}, "world must be a cr.World, got str"),
        ([LEFT, RIGHT], {"time_limit": 0.0}, "time_limit"),
        ([LEFT, RIGHT], {"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_is_refused_by_name(points, options, words):
    with pytest.raises(cr.ChainruleError, match=words):
        cr.plan(PANDA, points, **{"world": WORLD, **options})


def test_goals_in_the_table_are_refused_with_what_is_in_the_way():
    under = PANDA.pose(RIGHT)
    under[2, 3] = -0.02
    with pytest.raises(cr.ModelError, match=r"pose 0 has no configuration to go to: '\w+' and 'table' are nearer"):
        cr.plan(PANDA, [LEFT], poses=[under], world=WORLD)


def test_poses_after_way_points_need_something_to_keep_clear_of():
    with pytest.raises(cr.ShapeError, match="give either way-points"):
        cr.plan(PANDA, [LEFT], poses=[PANDA.pose(RIGHT)])


def test_a_search_without_a_way_ends_with_what_it_reached():
    closed = cr.load("planar_2r").edit(joints={"*": {"velocity": 2.0}}, gravity=(0, 0, 0))
    bar = cr.World().sphere("north", 0.3, (0, 0.7, 0)).sphere("south", 0.3, (0, -0.7, 0))
    with pytest.raises(cr.ModelError, match=r"no way from way-point 0 to way-point 1 was found in .* s: \d+ config"):
        cr.plan(closed, [[0, 0.1], [3.0, 0.1]], world=bar, time_limit=0.5, torque=False, acceleration=1.0)


LOW = TABLE.box("wall", size=(0.3, 0.02, 0.5), xyz=(0.55, 0, 0.25))


def beside_low(side):
    T = PANDA.pose(PANDA.home())
    T[:3, 3] = 0.5, 0.3 * side, 0.3
    return T


@pytest.fixture(scope="module")
def ends():
    found = PANDA.inverse_kinematics(
        np.array([beside_low(-1), beside_low(1)]), PANDA.home(), world=LOW, clearance=CLEARANCE
    )
    assert found.success.all()
    return found.q


@pytest.mark.parametrize("tilt", [0.2, 0.03])
def test_an_axis_stays_upright_on_the_way(ends, tilt):
    motion = cr.plan(PANDA, ends, world=LOW, clearance=CLEARANCE, upright=(0, 0, 2), tilt=tilt)
    axis = PANDA.pose(check(motion, LOW))[:, :3, 2]
    assert np.arccos((axis @ axis[0]).clip(-1, 1)).max() <= tilt + 1e-4
    assert np.allclose(motion.waypoints, ends)


def test_without_the_demand_the_axis_tilts(ends):
    axis = PANDA.pose(check(cr.plan(PANDA, ends, world=LOW, clearance=CLEARANCE), LOW))[:, :3, 2]
    assert np.arccos((axis @ axis[0]).clip(-1, 1)).max() > 0.2


def test_a_goal_pose_is_reached_upright(ends):
    motion = cr.plan(PANDA, ends[:1], poses=[beside_low(1)], world=LOW, clearance=CLEARANCE, upright=(0, 0, 1))
    T = PANDA.pose(check(motion, LOW))
    assert np.arccos((T[:, :3, 2] @ T[0, :3, 2]).clip(-1, 1)).max() <= 0.1 + 1e-4
    assert np.allclose(T[-1], beside_low(1), atol=1e-5)


def test_demands_that_cannot_be_met_are_refused(ends):
    tilted = ends[1] + np.array([0, 0, 0, 0, 0, 0.5, 0])
    with pytest.raises(cr.ModelError, match=r"way-point 1, the upright axis of '\w+' is 0\.5 rad from its direction"):
        cr.plan(PANDA, [ends[0], tilted], world=LOW, upright=(0, 0, 1))
    with pytest.raises(cr.ShapeError, match=r"upright=\.\.\. is for plans with a world"):
        cr.plan(PANDA, ends, upright=(0, 0, 1))
    with pytest.raises(cr.ShapeError, match="upright must not be zero"):
        cr.plan(PANDA, ends, world=LOW, upright=(0, 0, 0))
    with pytest.raises(cr.ShapeError, match="tilt"):
        cr.plan(PANDA, ends, world=LOW, upright=(0, 0, 1), tilt=-1)


def test_what_the_robot_holds_keeps_clear_too(ends):
    tip = beside_low(-1)[:3, 3]
    world = LOW.box("stick", size=(0.03, 0.03, 0.2), xyz=(tip[0], tip[1], tip[2] - 0.12))
    holding, rest = PANDA.bodies.hold(world, "stick", ends[0])
    empty = cr.plan(PANDA, ends, world=rest, clearance=CLEARANCE)
    q, _, _ = empty(np.linspace(0.0, empty.duration, 2000))
    assert holding.clearance(q, rest).min() < 0.0  # the stick would hit the wall
    motion = cr.plan(holding, ends, world=rest, clearance=CLEARANCE, upright=(0, 0, 1))
    q = check(motion, rest)
    assert holding.clearance(q, rest).min() >= CLEARANCE - 2e-6
    free, after = holding.bodies.put_down(rest, "stick", q[-1])
    assert len(free.bodies) == len(PANDA.bodies)
    assert abs(list(after["stick"].origin.translation)[1] - 0.3) < 0.03


def test_robots_that_it_does_not_know_are_refused():
    with pytest.raises(cr.ShapeError, match="closed loops"):
        cr.plan(cr.load("four_bar"), [cr.load("four_bar").home()] * 2, world=WORLD)

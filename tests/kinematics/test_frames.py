"""One default frame: Jacobians, velocities and accelerations of a frame's origin in base axes belong together."""

import inspect
from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.core.evaluation import options_of
from chainrule.functions.table import FUNCTIONS
from chainrule.robot.building import to_urdf

FRAMES = ["world", "body", "space"]
ROBOTS = ["planar_2r", "stanford", "panda", "panda_hand", "quadruped", "human_arm"]


def motion(robot, count=4, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng, (count,)), rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))


def links_of(robot):
    return [robot.link_names[-1], robot.link_names[1], *(frame.name for frame in robot.model.frames[:1])]


# --- one default ---


@pytest.mark.both_paths
@pytest.mark.parametrize("name", ROBOTS)
def test_the_jacobian_times_velocities_is_the_velocity(name):
    robot = cr.load(name)
    q, qd, _ = motion(robot)
    for link in links_of(robot):
        V = robot.velocity(q, qd, link)
        assert_allclose((robot.jacobian(q, link) @ qd[..., None])[..., 0], V, atol=1e-12)
        assert_allclose(robot.jacobian(q[0], link) @ qd[0], robot.velocity(q[0], qd[0], link), atol=1e-12)
        assert_allclose(V[:, 3:], (robot.jacobian(q, link, frame="world") @ qd[..., None])[:, 3:, 0], atol=1e-12)


def test_every_way_to_a_jacobian_has_the_same_default():
    robot = cr.load("panda")
    (q, *_), (qd, *_), _ = motion(robot)
    expected = robot.reference.jacobian(q, frame="world")
    for _ in range(2):  # the second call goes to machine code
        assert_allclose(robot.jacobian(q), expected, atol=1e-13)
    assert_allclose(robot.jacobian(q[None])[0], expected, atol=1e-13)
    assert_allclose(robot.reference.jacobian(q), expected, atol=1e-13)
    assert_allclose(robot.compiled.kernel("jacobian")(q), expected, atol=1e-13)
    rate = robot.reference.jacobian_dot(q, qd, frame="world")
    for _ in range(2):
        assert_allclose(robot.jacobian_dot(q, qd), rate, atol=1e-13)
    assert_allclose(robot.compiled.kernel("jacobian_dot")(q, qd), rate, atol=1e-13)


def test_a_lazy_jacobian_has_the_same_default():
    array = pytest.importorskip("dask.array")
    robot = cr.load("panda")
    q, qd, _ = motion(robot)
    J = robot.jacobian(array.from_array(q, chunks=(2, -1))).compute()
    assert_allclose((J @ qd[..., None])[..., 0], robot.velocity(q, qd), atol=1e-12)


def test_every_function_with_a_frame_has_the_same_default():
    for name in (
        "jacobian", "jacobian_dot", "velocity", "analysis.resolved_rate", "analysis.resolved_acceleration", "balanced_wrench",
        "analysis.wrench_capacity",
    ):  # fmt: skip
        assert inspect.signature(attrgetter(name)(cr.load("planar_2r"))).parameters["frame"].default == "world", name
    for name, function in FUNCTIONS.items():
        if "frame" in function.options and not function.loaded:
            assert options_of(cr.load("planar_2r"), name, {})["frame"] == "world", name


@pytest.mark.both_paths
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("seed", [3, 4])
def test_frames_of_a_jacobian_are_one_motion(frame, seed):
    robot = tree(seed)
    q, qd, _ = motion(robot)
    link = robot.link_names[-1]
    T, V = robot.pose(q, link), robot.velocity(q, qd, link)
    R, p = T[:, :3, :3], T[:, :3, 3]
    omega, v = V[:, :3], V[:, 3:]
    expected = {
        "world": (omega, v),
        "body": ((omega[:, None] @ R)[:, 0], (v[:, None] @ R)[:, 0]),
        "space": (omega, v + np.cross(p, omega)),
    }[frame]
    assert_allclose(robot.velocity(q, qd, link, frame=frame), np.concatenate(expected, axis=-1), atol=1e-11)


# --- accelerations of a frame and of a point ---


@pytest.mark.both_paths
def test_the_acceleration_is_that_of_the_jacobian_and_its_rate():
    for robot in (cr.load("panda"), tree(5), cr.load("quadruped")):
        q, qd, qdd = motion(robot)
        for link in links_of(robot):
            J, rate = robot.jacobian(q, link), robot.jacobian_dot(q, qd, link)
            expected = (J @ qdd[..., None] + rate @ qd[..., None])[..., 0]
            assert_allclose(robot.acceleration(q, qd, qdd, link), expected, rtol=1e-9, atol=1e-9)
            one = robot.acceleration(q[0], qd[0], qdd[0], link)
            assert_allclose(one, expected[0], rtol=1e-9, atol=1e-9)
            assert_allclose(robot.reference.acceleration(q, qd, qdd, link), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.both_paths
@pytest.mark.parametrize("seed", [6, 7, 8])
def test_the_acceleration_is_the_rate_of_the_velocity_on_every_joint_kind(seed):
    robot = tree(seed).reference
    (q, *_), (qd, *_), (qdd, *_) = motion(robot, seed=seed)
    h = 1e-5
    ends = [
        robot.velocity(robot.integrate(q, s * h * qd + h**2 / 2 * qdd), qd + s * h * qdd, "tool") for s in (-1.0, 1.0)
    ]
    A = robot.acceleration(q, qd, qdd, "tool")
    assert_allclose(A, (ends[1] - ends[0]) / (2 * h), rtol=1e-5, atol=1e-5 * (1 + np.abs(A).max()))


@pytest.mark.both_paths
def test_the_acceleration_of_a_point_is_the_second_derivative_of_its_place():
    robot = cr.load("panda")
    q, qd, qdd = motion(robot)
    point, h = np.array([0.1, -0.2, 0.3]), 1e-3

    def place(t):
        T = robot.pose(q + t * qd + t**2 / 2 * qdd)
        return T[..., :3, :3] @ point + T[..., :3, 3]

    second = (-place(2 * h) + 16 * place(h) - 30 * place(0) + 16 * place(-h) - place(-2 * h)) / (12 * h**2)
    A = robot.acceleration(q, qd, qdd, point=point)
    assert_allclose(A[:, 3:], second, rtol=1e-5, atol=1e-5)
    R = robot.pose(q)[:, :3, :3]
    own = robot.acceleration(q, qd, qdd, frame="body", point=np.broadcast_to(point, (4, 3)))
    assert_allclose((R @ own[:, 3:, None])[..., 0], A[:, 3:], atol=1e-10)
    assert_allclose((R @ own[:, :3, None])[..., 0], A[:, :3], atol=1e-10)
    carrier = np.eye(4)
    carrier[:3, 3] = point
    framed = robot.with_frame("spot", link=robot.end_effector, origin=carrier)
    assert_allclose(framed.acceleration(q, qd, qdd, "spot"), A, atol=1e-10)


@pytest.mark.both_paths
def test_rates_of_twists_and_the_acceleration_of_the_origin_differ_by_omega_times_v():
    robot = cr.load("panda").merge_fixed()
    q, qd, qdd = motion(robot)
    table = robot.edit(gravity=(0, 0, 0)).textbook.rnea_table(q, qd, qdd)
    for k, link in enumerate(robot.link_names[1:]):
        own, V, A = robot.acceleration(q, qd, qdd, link, frame="body"), table.V[:, k], table.V_dot[:, k]
        assert_allclose(own[:, :3], A[:, :3], atol=1e-11)
        assert_allclose(own[:, 3:], A[:, 3:] + np.cross(V[:, :3], V[:, 3:]), atol=1e-11)


@pytest.mark.both_paths
@pytest.mark.parametrize("frame", ["world", "body", "space"])
@pytest.mark.parametrize("seed", [3, 4])
def test_plurals_are_the_same_quantity_of_all_links(seed, frame):
    robot = tree(seed)
    q, qd, qdd = motion(robot)
    V, A = robot.velocities(q, qd, frame=frame), robot.accelerations(q, qd, qdd, frame=frame)
    T = robot.poses(q)
    for k, link in enumerate(robot.link_names):
        assert_allclose(V[:, k], robot.velocity(q, qd, link, frame=frame), atol=1e-10)
        assert_allclose(A[:, k], robot.acceleration(q, qd, qdd, link, frame=frame), atol=1e-10)
        assert_allclose(T[:, k], robot.pose(q, link), atol=1e-10)
        J, J_dot = robot.jacobian(q, link, frame=frame), robot.jacobian_dot(q, qd, link, frame=frame)
        assert_allclose(V[:, k], (J @ qd[..., None])[..., 0], atol=1e-10)
        if frame != "body":  # where axes turn along, the rate of v lacks omega x v
            assert_allclose(A[:, k], (J @ qdd[..., None] + J_dot @ qd[..., None])[..., 0], atol=1e-9)


@pytest.mark.both_paths
@pytest.mark.peer
def test_pinocchio_has_the_same_classical_acceleration(tmp_path):
    pin = pytest.importorskip("pinocchio")
    from peers import Pinocchio, stripped

    for name in ("panda", "ur5", "quadruped"):
        robot = cr.load(name)
        file = tmp_path / f"{name}.urdf"
        file.write_text(to_urdf(robot))
        peer = Pinocchio(robot, stripped(file))
        q, qd, qdd = motion(robot)
        for k in range(4):
            pin.forwardKinematics(peer.model, peer.data, peer.q(q[k]), peer.G @ qd[k], peer.G @ qdd[k])
            pin.updateFramePlacements(peer.model, peer.data)
            for i, link in peer.frames():
                for frame, axes in (("world", pin.LOCAL_WORLD_ALIGNED), ("body", pin.LOCAL)):
                    a = pin.getFrameClassicalAcceleration(peer.model, peer.data, i, axes)
                    ours = robot.acceleration(q[k], qd[k], qdd[k], link, frame=frame)
                    assert_allclose(ours, np.concatenate([a.angular, a.linear]), rtol=1e-9, atol=1e-9)


# --- gravity ---


@pytest.mark.both_paths
def test_an_accelerometer_reads_minus_g_at_rest_and_nothing_in_free_fall():
    robot = cr.load("panda")
    q, _, _ = motion(robot)
    still = np.zeros(7)
    reading = robot.acceleration(q, still, still, frame="body", gravity=True)
    R = robot.pose(q)[:, :3, :3]
    assert_allclose(reading[:, 3:], -robot.gravity @ R, atol=1e-12)
    assert_allclose(reading[:, :3], 0, atol=1e-12)
    dog = cr.load("quadruped")
    q = dog.neutral()
    falling = dog.forward_dynamics(q, np.zeros(dog.nv), np.zeros(dog.nv))
    foot = dog.acceleration(q, np.zeros(dog.nv), falling, "HL_FOOT", gravity=True)
    assert_allclose(foot, 0, atol=1e-9)


@pytest.mark.both_paths
@pytest.mark.parametrize("seed", [9, 10])
def test_accelerations_with_gravity_are_those_of_an_accelerating_base(seed):
    robot = tree(seed)
    q, qd, qdd = motion(robot)
    plain, felt = robot.accelerations(q, qd, qdd), robot.accelerations(q, qd, qdd, gravity=True)
    assert_allclose(felt[..., :3], plain[..., :3], atol=1e-10)
    assert_allclose(felt[..., 3:] - plain[..., 3:], np.broadcast_to(-robot.gravity, felt[..., 3:].shape), atol=1e-9)
    weightless = robot.edit(gravity=(0, 0, 0))
    assert_allclose(weightless.accelerations(q, qd, qdd, gravity=True), plain, atol=1e-9)
    for k in range(4):
        one = robot.accelerations(q[k], qd[k], qdd[k], gravity=True)
        assert_allclose(one, felt[k], rtol=1e-9, atol=1e-9)


# --- poses in other links ---


@pytest.mark.parametrize("name", ["planar_2r", "panda_hand", "quadruped"])
def test_a_relative_pose_is_the_pose_seen_from_the_other_link(name):
    robot = cr.load(name)
    q, _, _ = motion(robot)
    names = [*robot.link_names, *(frame.name for frame in robot.model.frames)]
    some = np.random.default_rng(0).choice(names, (8, 2))
    for b, a in [*some.tolist(), (names[-1], names[-1]), (names[0], names[-1])]:
        expected = np.linalg.inv(robot.pose(q, a)) @ robot.pose(q, b)
        assert_allclose(robot.pose(q, b, relative_to=a), expected, atol=1e-12)
        assert_allclose(robot.pose(q[0], b, relative_to=a), expected[0], atol=1e-12)
        assert_allclose(robot.reference.pose(q, b, relative_to=a), expected, atol=1e-12)
    assert_allclose(
        robot.compiled.kernel("pose", link=names[-1], relative_to=names[1])(q),
        robot.pose(q, names[-1], relative_to=names[1]),
    )


@pytest.mark.both_paths
def test_joints_that_carry_both_links_do_not_touch_a_relative_pose():
    robot = cr.load("panda")
    q, _, _ = motion(robot)
    other = q.copy()
    other[:, :3] += 0.5
    one, two = (robot.pose(x, "panda_link6", relative_to="panda_link3") for x in (q, other))
    np.testing.assert_array_equal(one, two)
    assert_allclose(
        robot.pose(q, robot.link_names[0], relative_to=robot.link_names[0]), np.broadcast_to(np.eye(4), (4, 4, 4))
    )


# --- refusals ---

Z = [0.0, 0.0]
REFUSED = [
    ("point", lambda r: r.acceleration(Z, Z, Z, point=[1, 2]), cr.ShapeError,
     r"acceleration: point must have 3 numbers .*\(x, y, z in the frame of the link\), got 2"),
    ("points", lambda r: r.acceleration([Z, Z], Z, Z, point=np.zeros((3, 3))), cr.ShapeError,
     r"acceleration: the leading \(batch\) dimensions .* do not fit together: q \(2, 6\), point \(3, 3\)"),
    ("gravity", lambda r: r.acceleration(Z, Z, Z, gravity="yes"), cr.ShapeError, "gravity must be True or False, got 'yes'"),
    ("gravity of all", lambda r: r.accelerations(Z, Z, Z, gravity=9.81), cr.ShapeError, "gravity must be True or False"),
    ("relative", lambda r: r.pose(Z, relative_to="link3"), cr.UnknownNameError, "no link or frame named 'link3'"),
    ("qdd", lambda r: r.acceleration(Z, Z, [0.0]), cr.ShapeError, "acceleration: qdd must have 2 numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_is_wrong_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call(cr.load("planar_2r"))

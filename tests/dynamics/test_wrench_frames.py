"""Wrenches in a link's own axes and in base axes: one load, two ways to write it."""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import looped, state, tree

import chainrule as cr
from chainrule.functions.table import FUNCTIONS
from chainrule.robot.building import to_urdf

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=6)
LOADED = {"inverse_dynamics": 3, "forward_dynamics": 3, "bias": 2, "joint_wrenches": 3}
"""Functions that take wrenches, and how many vectors of the state each takes."""


def turned(robot, q, link, wrench):
    """A wrench in the axes of a link, from base axes."""
    R = robot.pose(q, link)[..., :3, :3]
    return np.concatenate([(part[..., None, :] @ R)[..., 0, :] for part in (wrench[..., :3], wrench[..., 3:])], axis=-1)


def test_every_function_that_takes_wrenches_takes_their_frame():
    for name, function in FUNCTIONS.items():
        if function.loaded:
            assert "frame" in function.options or (name == "static_torque" and "frame" in function.options)


# --- the same load, written in both frames ---


@given(SEEDS)
@few
def test_a_wrench_in_base_axes_is_the_one_in_link_axes_turned(seed):
    robot = tree(seed).reference
    rng = np.random.default_rng(seed)
    x = state(robot, seed)
    links = ["link3", "tool", robot.link_names[0]]
    wrenches, tip = {link: rng.normal(size=6) for link in links}, rng.normal(size=6)
    own = {link: turned(robot, x[0], link, F) for link, F in wrenches.items()}
    own_tip = turned(robot, x[0], None, tip)
    for name, count in LOADED.items():
        function = attrgetter(name)(robot)
        base_axes = function(*x[:count], tip_wrench=tip, external=wrenches, frame="world")
        own_axes = function(*x[:count], tip_wrench=own_tip, external=own, frame="body")
        if name == "joint_wrenches":
            own_axes = np.stack([
                np.concatenate([robot.pose(x[0], robot.joints[joint].child)[:3, :3] @ part for part in (F[:3], F[3:])])
                for joint, F in zip(robot.joint_names, own_axes, strict=True)
            ])  # fmt: skip
        assert_allclose(base_axes, own_axes, rtol=1e-9, atol=1e-8)
    for name in ("textbook.newton_euler_table", "textbook.rnea_table"):
        tau = attrgetter(name)(robot)(*x, tip_wrench=tip, external=wrenches, frame="world").tau
        assert_allclose(
            tau, robot.inverse_dynamics(*x, tip_wrench=own_tip, external=own, frame="body"), rtol=1e-9, atol=1e-8
        )
    solution = robot.textbook.dae(*x, tip_wrench=tip, external=wrenches).solve()
    assert_allclose(
        solution.qdd, robot.forward_dynamics(*x, tip_wrench=own_tip, external=own, frame="body"), rtol=1e-7, atol=1e-7
    )


@given(SEEDS)
@few
def test_static_torque_in_base_axes_is_virtual_work(seed):
    robot = tree(seed).reference
    q, qd, _ = state(robot, seed)
    F = np.random.default_rng(seed).normal(size=6)
    for link in ("tool", "link3", None):
        tau = robot.static_torque(q, F, link, frame="world")
        assert_allclose(tau @ qd, F @ robot.velocity(q, qd, link), rtol=1e-9, atol=1e-9)
        assert_allclose(
            tau, robot.static_torque(q, turned(robot, q, link, F), link, frame="body"), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("name", ["panda", "panda_hand", "quadruped"])
def test_compiled_single_states_batches_and_kernels_agree(name):
    robot = cr.load(name) if name != "quadruped" else cr.load(name).with_end_effector("HL_FOOT")
    rng = np.random.default_rng(1)
    q, qd, x = robot.random_state(rng, (5,)), rng.normal(size=(5, robot.nv)), rng.normal(size=(5, robot.nv))
    F, tip = rng.normal(size=(5, 6)), robot.end_effector
    plain = robot.inverse_dynamics(q, qd, x)
    for function in ("inverse_dynamics", "forward_dynamics"):
        many = attrgetter(function)(robot)(q, qd, x, tip_wrench=F)
        assert_allclose(many, attrgetter(function)(robot.reference)(q, qd, x, tip_wrench=F), atol=1e-7)
        for k in range(5):
            one = attrgetter(function)(robot)(q[k], qd[k], x[k], tip_wrench=F[k])
            assert_allclose(one, many[k], rtol=1e-8, atol=1e-8)
        kernel = robot.compiled.kernel(function, loads=[tip], frame="world")
        assert_allclose(kernel(q, qd, x, -F), many, rtol=1e-8, atol=1e-8)  # what the world applies to the tip
    expected = robot.inverse_dynamics(q, qd, x) + (np.swapaxes(robot.jacobian(q), -1, -2) @ F[..., None])[..., 0]
    assert_allclose(robot.inverse_dynamics(q, qd, x, tip_wrench=F), expected, atol=1e-9)
    assert_allclose(robot.inverse_dynamics(q, qd, x), plain, rtol=0, atol=0)  # the call without wrenches is as it was


def test_inverse_and_forward_dynamics_undo_each_other_in_base_axes():
    robot = cr.load("panda")
    rng = np.random.default_rng(2)
    q, qd, qdd, F = robot.random_state(rng), *rng.normal(size=(2, 7)), rng.normal(size=6)
    loads = {"tip_wrench": F, "external": {"panda_link4": 2 * F}, "frame": "world"}
    tau = robot.inverse_dynamics(q, qd, qdd, **loads)
    assert_allclose(robot.forward_dynamics(q, qd, tau, **loads), qdd, atol=1e-9)
    assert (
        np.abs(
            robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, external={"panda_link4": 2 * F}, frame="body") - tau
        ).max()
        > 0.1
    )


def test_dask_arrays_take_wrenches_in_base_axes():
    array = pytest.importorskip("dask.array")
    robot = cr.load("ur5")
    rng = np.random.default_rng(3)
    q, F = robot.random_state(rng, (6,)), rng.normal(size=(6, 6))
    lazy = [array.from_array(a, chunks=(2, -1)) for a in (q, F)]
    still = np.zeros(6)
    made = robot.inverse_dynamics(lazy[0], still, still, tip_wrench=lazy[1], frame="body").compute()
    assert_allclose(made, robot.inverse_dynamics(q, still, still, tip_wrench=F, frame="body"), atol=1e-10)
    made = robot.static_torque(lazy[0], lazy[1], frame="world").compute()
    assert_allclose(made, robot.static_torque(q, F, frame="world"), atol=1e-12)


def test_closed_loops_take_wrenches_in_base_axes():
    robot = cr.load("four_bar")
    q = robot.loops.close(robot.neutral() + 0.3)
    qd = robot.loops.consistent_velocity(q, np.full(robot.nv, 0.7))
    qdd = robot.loops.consistent_acceleration(q, qd, np.full(robot.nv, 0.4))
    link = robot.link_names[2]
    F = np.array([0.3, -0.2, 0.5, 4.0, -2.0, 1.0])
    world = {"external": {link: F}, "frame": "world"}
    body = {"external": {link: turned(robot, q, link, F)}, "frame": "body"}
    assert_allclose(robot.inverse_dynamics(q, qd, qdd, **world), robot.inverse_dynamics(q, qd, qdd, **body), atol=1e-9)
    ends = [constraint.link_b for constraint in robot.model.constraints]
    for function, last in (
        (robot.loops.motion_forces, qdd),
        (robot.loops.forces, robot.inverse_dynamics(q, qd, qdd, **world)),
    ):
        one, other = function(q, qd, last, **world), function(q, qd, last, **body)
        own = np.stack([turned(robot, q, end, F) for end, F in zip(ends, one, strict=True)])
        assert_allclose(own, other, atol=1e-8)
    torques = robot.loops.torques(q, qd, qdd, **world)
    assert_allclose(torques.tau, robot.loops.torques(q, qd, qdd, **body).tau, atol=1e-9)
    assert_allclose(torques.forces, robot.loops.motion_forces(q, qd, qdd, **world), atol=1e-9)
    tau = torques.tau
    assert_allclose(robot.forward_dynamics(q, qd, tau, **world), robot.forward_dynamics(q, qd, tau, **body), atol=1e-9)
    static = robot.static_torque(q, F, link, frame="world")
    assert_allclose(static, robot.static_torque(q, turned(robot, q, link, F), link, frame="body"), atol=1e-9)


@pytest.mark.interpreted
@given(SEEDS)
@settings(max_examples=3)
def test_random_loops_take_wrenches_in_base_axes(seed):
    robot, q = looped(seed)
    _, qd, tau = state(robot, seed)
    F, link = np.random.default_rng(seed).normal(size=6), "link3"
    world = robot.forward_dynamics(q, qd, tau, tip_wrench=None, external={link: F})
    body = robot.forward_dynamics(q, qd, tau, tip_wrench=None, external={link: turned(robot, q, link, F)}, frame="body")
    assert_allclose(world, body, rtol=1e-6, atol=1e-6)


# --- by hand, and by another library ---


def test_a_weight_in_base_axes_needs_the_torques_of_its_levers():
    arm = cr.load("planar_2r").edit(gravity=(0, 0, 0))  # two links of 1 m in the x-y plane
    q, still = np.array([0.3, 0.9]), np.zeros(2)
    down = [0, 0, 0, 0, -10.0, 0]  # the hand presses on a table, along -y of the base
    levers = np.array([np.cos(0.3) + np.cos(1.2), np.cos(1.2)])  # from each joint to the hand, along x
    assert_allclose(arm.inverse_dynamics(q, still, still, tip_wrench=down), -10 * levers)
    assert_allclose(arm.static_torque(q, down, frame="world"), -10 * levers)
    held = {
        "link2": [0, 0, 0, 0, -10.0, 0]
    }  # a load that hangs on the elbow: the world pulls link 2 down at its origin
    assert_allclose(arm.inverse_dynamics(q, still, still, tip_wrench=None, external=held), [10 * np.cos(0.3), 0])


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_mujoco_has_the_same_accelerations_under_wrenches_in_base_axes(name, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    from peers import MuJoCo, stripped

    robot = cr.load(name).without_friction().edit(joints={"*": {"rotor": 0}})
    file = tmp_path / "robot.urdf"
    file.write_text(to_urdf(robot))
    peer = MuJoCo(robot, stripped(file, for_mujoco=True))
    rng = np.random.default_rng(4)
    worst = 0.0
    for _ in range(5):
        q, qd, tau = robot.random_state(rng), rng.normal(size=robot.nv), 5 * rng.normal(size=robot.nv)
        peer.set(q, qd)
        peer.data.xfrc_applied[:] = 0
        mujoco.mj_kinematics(peer.model, peer.data)
        mujoco.mj_comPos(peer.model, peer.data)
        wrenches = {}
        for link in robot.link_names[2:5]:
            F = rng.normal(size=6) * 5
            wrenches[link] = F
            place = mujoco.mj_name2id(peer.model, mujoco.mjtObj.mjOBJ_BODY, link)
            lever = peer.data.xpos[place] - peer.data.xipos[place]  # MuJoCo's wrench acts at the center of mass
            peer.data.xfrc_applied[place] = [*F[3:], *(F[:3] + np.cross(lever, F[3:]))]
        peer.data.qfrc_applied[:] = tau
        mujoco.mj_forward(peer.model, peer.data)
        qdd = robot.forward_dynamics(q, qd, tau, tip_wrench=None, external=wrenches)
        worst = max(worst, np.abs(peer.data.qacc - qdd).max() / (1 + np.abs(qdd).max()))
    assert worst < 1e-9


# --- refusals ---


def test_an_unknown_frame_of_a_wrench_is_refused():
    arm, z = cr.load("planar_2r"), [0.0, 0.0]
    text = r"no frame named 'wrld'; did you mean 'world'\?"
    calls = [
        lambda: arm.inverse_dynamics(z, z, z, frame="wrld"),
        lambda: arm.forward_dynamics(z, z, z, frame="wrld"),
        lambda: arm.bias(z, z, frame="wrld"),
        lambda: arm.joint_wrenches(z, z, z, frame="wrld"),
        lambda: arm.loops.motion_forces(z, z, z, frame="wrld"),
        lambda: arm.loops.forces(z, z, z, frame="wrld"),
        lambda: arm.loops.torques(z, z, z, frame="wrld"),
        lambda: arm.textbook.dae(z, z, z, frame="wrld"),
        lambda: arm.static_torque(z, [0] * 6, frame="wrld"),
        lambda: arm.simulate(z, duration=0.01, frame="wrld"),
        lambda: arm.simulation(z, frame="wrld"),
    ]
    for call in calls:
        with pytest.raises(cr.UnknownNameError, match=text):
            call()

"""Whole states in the order of Pinocchio, MuJoCo and Drake: the same poses, velocities, torques and energies there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainrule as cr

pytestmark = [pytest.mark.both_paths, pytest.mark.peer]

FILES = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
    "pr2": ("pr2_description/urdf/pr2.urdf", True),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "a1": ("a1_description/urdf/a1.urdf", True),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "baxter": ("baxter_description/urdf/baxter.urdf", True),
}
"""Robots of example-robot-data, and whether they float. The PR2 has continuous joints, mimic joints and branches."""


PHYSICAL = [name for name in FILES if name not in ("anymal", "pr2")]
"""Robots without bodies that cannot exist: MuJoCo refuses those, Drake gives them other inertias."""


def locate(name: str) -> tuple[Path, bool]:
    peers = pytest.importorskip("peers")
    path, floating = FILES[name]
    return peers.robots_folder() / path, floating


def load(path: Path, floating: bool) -> cr.Robot:
    robot = cr.load(path, check=False)
    return (
        (robot.floating() if floating else robot).without_friction().without_spring().edit(joints={"*": {"rotor": 0}})
    )


def states(robot: cr.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = robot.random_state(rng)
    q[[c.index for c in robot.model.layout.coordinates if c.unit == "m" and c.velocity is None]] = [0.3, -0.2, 0.8][
        : 3 * (robot.nq != robot.nv)
    ]
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal to eleven digits of the largest number."""
    assert np.abs(found - expected).max() <= 1e-11 * (1 + np.abs(expected).max())


def link_velocities(robot: cr.Robot, q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
    return {name: robot.velocity(q, qd, name, frame="world") for name in robot.link_names[1:]}


@pytest.mark.parametrize("by_model", [False, True], ids=["by rule", "by model"])
@pytest.mark.parametrize("name", FILES)
def test_pinocchio_agrees(name: str, by_model: bool) -> None:
    pin = pytest.importorskip("pinocchio")
    path, floating = locate(name)
    robot = load(path, floating)
    root = [pin.JointModelFreeFlyer()] if floating else []
    model = pin.buildModelFromUrdf(str(path), *root)
    model.armature[:] = 0.0
    data = model.createData()
    order = robot.states.order_of(model if by_model else "pinocchio")
    assert (order.nq, order.nv) == (model.nq, model.nv)
    q, v, a = states(robot)
    theirs = order.q_to(q), order.v_to(q, v), order.a_to(q, v, a)
    tau = pin.rnea(model, data, *theirs)
    close(order.tau_from(theirs[0], tau), robot.inverse_dynamics(q, v, a))
    close(np.array(pin.computeKineticEnergy(model, data, *theirs[:2])), robot.kinetic_energy(q, v))
    pin.forwardKinematics(model, data, *theirs[:2])
    pin.updateFramePlacements(model, data)
    for link, twist in link_velocities(robot, q, v).items():
        i = model.getFrameId(link, pin.FrameType.BODY)
        close(np.array(data.oMf[i].homogeneous), robot.pose(q, link))
        close(pin.getFrameVelocity(model, data, i, pin.LOCAL_WORLD_ALIGNED).vector[[3, 4, 5, 0, 1, 2]], twist)
    returns(order, robot, q, v, a, *theirs)


def returns(order, robot, q, v, a, their_q, their_v, their_a) -> None:  # type: ignore[no-untyped-def]
    """The way there and back leads to the same state, angles of continuous joints up to whole turns."""
    back = order.q_from(their_q)
    close(robot.poses(back), robot.poses(q))
    close(order.v_from(their_q, their_v), v)
    close(order.a_from(their_q, their_v, their_a), a)
    tau = np.arange(robot.nv) + 1.0
    close(order.tau_from(their_q, order.tau_to(q, tau)), tau)
    batch = np.stack([q, q, q])
    assert order.q_to(batch).shape == (3, order.nq)
    close(order.v_to(batch, v)[1], their_v)


@pytest.mark.parametrize("by_model", [False, True], ids=["by rule", "by model"])
@pytest.mark.parametrize("name", PHYSICAL)
def test_mujoco_agrees(name: str, by_model: bool) -> None:
    mujoco = pytest.importorskip("mujoco")
    peers = pytest.importorskip("peers")
    path, floating = locate(name)
    robot = load(path, floating)
    model = mujoco.MjModel.from_xml_string(peers.stripped(path, floating=floating, for_mujoco=True))
    off = mujoco.mjtDisableBit
    for flag in (off.mjDSBL_CONSTRAINT, off.mjDSBL_DAMPER, off.mjDSBL_SPRING):
        model.opt.disableflags |= flag
    model.dof_armature[:] = 0.0
    data = mujoco.MjData(model)
    order = robot.states.order_of(model if by_model else "mujoco")
    assert (order.nq, order.nv) == (model.nq, model.nv)
    q, v, a = states(robot)
    theirs = order.q_to(q), order.v_to(q, v), order.a_to(q, v, a)
    data.qpos[:], data.qvel[:], data.qacc[:] = theirs
    mujoco.mj_inverse(model, data)
    close(order.tau_from(theirs[0], np.array(data.qfrc_inverse)), robot.inverse_dynamics(q, v, a))
    mujoco.mj_energyVel(model, data)
    close(np.array(data.energy[1]), robot.kinetic_energy(q, v))
    for link, twist in link_velocities(robot, q, v).items():
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link)
        if i < 0:
            continue
        T = robot.pose(q, link)
        close(np.array(data.xpos[i]), T[:3, 3])
        close(np.array(data.xmat[i]).reshape(3, 3), T[:3, :3])
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
        close(velocity, twist)
    returns(order, robot, q, v, a, *theirs)


@pytest.mark.parametrize("by_model", [False, True], ids=["by rule", "by model"])
@pytest.mark.parametrize("name", PHYSICAL)
def test_drake_agrees(name: str, by_model: bool) -> None:
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    tree = pytest.importorskip("pydrake.multibody.tree")
    peers = pytest.importorskip("peers")
    path, floating = locate(name)
    robot = load(path, floating)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(peers.stripped(path), "urdf")
    base = robot.link_names[1] if floating else robot.link_names[0]
    if not floating and base != "world":
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(base))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    order = robot.states.order_of(plant if by_model else "drake")
    assert (order.nq, order.nv) == (plant.num_positions(), plant.num_velocities())
    q, v, a = states(robot)
    theirs = order.q_to(q), order.v_to(q, v), order.a_to(q, v, a)
    plant.SetPositions(context, theirs[0])
    plant.SetVelocities(context, theirs[1])
    forces = tree.MultibodyForces(plant)
    forces.SetZero()
    tau = plant.CalcInverseDynamics(context, theirs[2], forces)
    tau = tau - plant.CalcGravityGeneralizedForces(context)
    close(order.tau_from(theirs[0], tau), robot.inverse_dynamics(q, v, a))
    close(np.array(plant.CalcKineticEnergy(context)), robot.kinetic_energy(q, v))
    for link, twist in link_velocities(robot, q, v).items():
        body = plant.GetBodyByName(link)
        close(plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4(), robot.pose(q, link))
        V = plant.EvalBodySpatialVelocityInWorld(context, body)
        close(np.concatenate([V.rotational(), V.translational()]), twist)
    returns(order, robot, q, v, a, *theirs)


BALL = """<mujoco><worldbody>
  <body name="box" pos="0.1 0.2 0.9" quat="0.8 0.6 0 0"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="arm" pos="0 0 0.4" quat="0.6 0 0.8 0"><joint name="shoulder" type="ball"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.4"/>
      <body name="tip" pos="0 0 0.4"><joint name="wrist" type="hinge" axis="1 0 0" ref="0.3"/>
        <geom type="sphere" size="0.06" pos="0 0.1 0"/></body></body></body>
</worldbody></mujoco>"""


def test_ball_joints_and_placed_free_bodies_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = cr.Robot.from_mjcf(BALL)
    model = mujoco.MjModel.from_xml_string(BALL)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    order = robot.states.order_of(model)
    close(order.q_from(model.qpos0), order.q_from(order.q_to(order.q_from(model.qpos0))))
    q, v, a = states(robot)
    theirs = order.q_to(q), order.v_to(q, v), order.a_to(q, v, a)
    data.qpos[:], data.qvel[:], data.qacc[:] = theirs
    mujoco.mj_inverse(model, data)
    close(order.tau_from(theirs[0], np.array(data.qfrc_inverse)), robot.inverse_dynamics(q, v, a))
    for link in ("box", "arm", "tip"):
        close(np.array(data.body(link).xpos), robot.pose(q, link)[:3, 3])
        close(np.array(data.body(link).xmat).reshape(3, 3), robot.pose(q, link)[:3, :3])
    returns(order, robot, q, v, a, *theirs)


def test_names_in_any_order() -> None:
    hand = cr.load("panda_hand")
    names = ["panda_finger_joint2", *reversed(hand.joint_names)]
    order = hand.states.reorder(names)
    assert order.names == tuple(names)
    q, v, a = states(hand)
    theirs = order.q_to(q)
    assert np.array_equal(theirs[1:], q[::-1])
    assert theirs[0] == q[-1]
    assert np.array_equal(order.q_from(theirs), q)
    returns(order, hand, q, v, a, theirs, order.v_to(q, v), order.a_to(q, v, a))
    with pytest.raises(cr.ShapeError, match=r"'panda_finger_joint2' follows 'panda_finger_joint1', and is off by 0\.5"):
        order.q_from(theirs + np.eye(9)[0] * 0.5)
    with pytest.raises(cr.ShapeError, match=r"q_from: q must have 9 numbers .*in the order of names"):
        order.q_from(q)


def test_orders_that_lack_joints_are_refused() -> None:
    arm = cr.load("planar_2r")
    with pytest.raises(cr.UnknownNameError, match="the order of names lacks 'joint2'"):
        arm.states.reorder(["joint1"])
    with pytest.raises(cr.UnknownNameError, match="no moving joint named 'joint3'; did you mean"):
        arm.states.reorder(["joint1", "joint2", "joint3"])
    with pytest.raises(cr.UnknownNameError, match="'joint1' is given twice"):
        arm.states.reorder(["joint1", "joint1", "joint2"])
    with pytest.raises(cr.ShapeError, match="reorder takes a list of joints' names, got 'joint1'"):
        arm.states.reorder("joint1")
    with pytest.raises(cr.UnknownNameError, match="order_of has no order named 'gazebo'"):
        arm.states.order_of("gazebo")
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(cr.UnknownNameError, match="no moving joint named 'shoulder'"):
        cr.load("planar_2r").floating().states.order_of(mujoco.MjModel.from_xml_string(BALL))

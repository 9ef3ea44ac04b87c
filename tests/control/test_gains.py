"""Default gains scale with inertia: every bundled robot reaches its target and no energy comes from nowhere."""

import numpy as np
import pytest
from tiers import with_slow

import chainrule as cr
from chainrule.core.derived import driven_velocities
from chainrule.errors import ModelWarning

OPEN = [name for name in cr.robots() if not cr.load(name).model.constraints]
LOOPS = [name for name in cr.robots() if cr.load(name).model.constraints]


def inside(robot, q):
    """A configuration, moved inside the limits."""
    q = np.array(q, dtype=float)
    for c in robot.model.layout.coordinates:
        q[c.index] = np.clip(q[c.index], c.lower, c.upper)
    return q


def without_dry_friction(robot):
    """PD leaves an error of coulomb/kp, which is not what is tested here."""
    return robot.edit(joints={"*": {"coulomb": 0.0}})


def start_and_goal(robot):
    goal = inside(robot, robot.neutral())
    steps = np.random.default_rng(3).uniform(-0.5, 0.5, robot.nq)
    plain = [c.velocity is not None for c in robot.model.layout.coordinates]
    in_meters = np.array([c.unit == "m" for c in robot.model.layout.coordinates])
    return inside(robot, np.where(plain, goal + steps * np.where(in_meters, 0.2, 1.0), goal)), goal


@pytest.mark.parametrize("law", with_slow(["PD", "PID", "ComputedTorque"], "PID"))
@pytest.mark.parametrize("name", OPEN)
@pytest.mark.filterwarnings("ignore:.*no motor drives")
def test_every_robot_reaches_its_target_and_gains_no_energy_from_nowhere(name, law):
    robot = without_dry_friction(cr.load(name))
    start, goal = start_and_goal(robot)
    dt = 2.5e-4 if name == "humanoid" else 1e-3  # whose joints turn light parts on both sides, quickly
    motion = robot.simulate(start, None, 5.0, getattr(cr, law)(robot, goal), dt=dt, record=10)
    moved = float(np.abs(motion.work).max())
    assert np.abs(motion.energy_error).max() < 1e-3 * (1 + moved)
    driven = [
        v.index
        for v in robot.model.layout.velocities
        if v.joint not in ("root_joint", "floating_base") and v.coordinate is not None
    ]
    error = robot.difference(motion.q[-1], goal)[driven]
    if robot.nq == robot.nv:  # bases that float fall
        assert np.abs(error).max() < 1e-3


@pytest.mark.parametrize("name", with_slow(LOOPS, "stewart_platform"))
@pytest.mark.filterwarnings("ignore:.*no motor drives")
def test_linkages_are_held_against_their_weight(name):
    robot = cr.load(name)
    q = robot.loops.close(inside(robot, robot.neutral()))
    duration = 30.0 if name == "delta" else 5.0  # gains know the arms' inertia, not that of the platform they carry
    motion = robot.simulate(q, None, duration, cr.PID(robot, q, gravity=False), record=10)
    assert np.abs(motion.energy_error).max() < 1e-3
    assert np.abs(robot.difference(motion.q[-1], q)[list(driven_velocities(robot))]).max() < 1e-3


@pytest.mark.parametrize("name", ["planar_2r", "modern_robotics_3r", "ur5", "stanford"])
@pytest.mark.parametrize("law", ["Impedance", "OperationalSpace"])
def test_laws_of_poses_have_default_gains(name, law):
    robot = without_dry_friction(cr.load(name))
    q = inside(robot, np.full(robot.nq, 0.4))
    goal = robot.pose(inside(robot, q + 0.1))
    motion = robot.simulate(q, None, 5.0, getattr(cr, law)(robot, goal), record=10)
    assert np.abs(motion.energy_error).max() < 1e-3
    assert np.abs(robot.pose(motion.q[-1]) - goal).max() < 0.02


def test_operational_space_of_an_arm_that_cannot_turn():
    robot = cr.load(
        "cartesian_3p"
    )  # three rows of its Jacobian are zero, which the factors took for a lack of symmetry
    law = cr.OperationalSpace(robot, robot.pose([0.1, 0.0, 0.0]))
    assert robot.simulate([0.0, 0.0, 0.0], None, 3.0, law).q[-1] == pytest.approx([0.1, 0, 0], abs=1e-6)


def test_the_numbers_of_default_gains():
    arm = cr.load("planar_2r")
    m = np.diag(arm.mass_matrix([0.3, 0.5]))
    w = 2 * np.pi * 1.5
    kp, ki, kd = cr.default_gains(arm, [0.3, 0.5], bandwidth=1.5)
    np.testing.assert_allclose(kp, w * w * m)
    np.testing.assert_allclose(kd, 2 * w * m)
    np.testing.assert_allclose(ki, 0.2 * w * kp)


def test_viscous_friction_keeps_the_slow_pole():
    arm = cr.load("pendulum").edit(joints={"*": {"viscous": 30.0}})
    kp, _, kd = cr.default_gains(arm, [0.2], bandwidth=1.0)
    m = float(arm.mass_matrix([0.2])[0, 0])
    poles = np.sort(np.roots([m, 30.0 + kd[0], kp[0]]))
    np.testing.assert_allclose(poles, [-2 * np.pi - 30.0 / m, -2 * np.pi])
    chosen = cr.PD(arm, [0.2], kp=kp)
    np.testing.assert_allclose(chosen.parameters[1], kd[0])  # kd for a kp of one's own


def test_effort_limits_lower_the_gains():
    arm = cr.load("pendulum").edit(joints={"*": {"effort": 2.0}})
    assert cr.default_gains(arm, [0.0]).kp == pytest.approx([20.0])  # 0.1 rad asks for 2 N m


def test_gains_of_a_batch_of_targets():
    arm = cr.load("planar_2r")
    goals = np.array([[0.0, 0.0], [0.5, 2.0]])
    batch = cr.default_gains(arm, goals)
    assert batch.kp.shape == (2, 2)
    np.testing.assert_allclose(batch.kp[1], cr.default_gains(arm, goals[1]).kp)
    motion = arm.simulate(np.zeros((2, 2)), None, 3.0, cr.PD(arm, goals), record=100)
    np.testing.assert_allclose(motion.q[:, -1], goals, atol=1e-4)


def test_gains_at_the_end_of_a_motion():
    arm = cr.load("planar_2r")
    motion = cr.plan(arm, [[0.0, 0.0], [0.5, 2.0]], times=1.0)
    np.testing.assert_allclose(cr.PD(arm, motion).parameters[:2], cr.default_gains(arm, [0.5, 2.0]).kp)


def test_gains_by_joint_names_and_defaults_for_the_others():
    arm = cr.load("planar_2r")
    law = cr.PD(arm, [0.0, 0.0], kp={"joint2": 7.0}, kd={"joint1": 3.0})
    default = cr.default_gains(arm, [0.0, 0.0])
    m = np.diag(arm.mass_matrix([0.0, 0.0]))
    np.testing.assert_allclose(law.parameters[:4], [default.kp[0], 7.0, 3.0, 2 * np.sqrt(7.0 * m[1])])
    damped = cr.GravityCompensation(arm, {"joint2": 2.0})
    np.testing.assert_allclose(damped.parameters, [0.0, 2.0])
    both = cr.PD(arm, [0.0, 0.0], {"joint2": 2.0, "joint1": 1.0}, {"joint1": 3.0, "joint2": 4.0}, gravity=False)
    np.testing.assert_allclose(both.parameters[:4], [1.0, 2.0, 3.0, 4.0])


def test_gains_of_a_component_of_a_joint():
    base = cr.load("ur5").floating()
    with pytest.warns(ModelWarning, match="no motor drives"):
        law = cr.ComputedTorque(base, base.neutral(), {"floating_base.wx": 5.0, base.joint_names[1]: 6.0})
    assert law.parameters[0] == 5.0
    assert law.parameters[6] == 6.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kp": {"joint9": 1.0}}, "PD: kp: robot 'planar_2r' has no joint named 'joint9'; did you mean"),
        ({"kp": {"joint1": -1.0}}, "PD: kp of joint 'joint1' must not be negative"),
        ({"kp": {"joint1": [[1.0]]}}, "PD: kp of joint 'joint1' must be one number, got shape"),
        ({"kp": {"joint1": "stiff"}}, "PD: kp of joint 'joint1' must be real numbers"),
        ({"kp": 100.0, "bandwidth": 3.0}, "PD: bandwidth is for default gains, and kp was given as well"),
        ({"bandwidth": 0.0}, "PD: bandwidth must be positive, in Hz"),
        ({"bandwidth": np.nan}, "PD: bandwidth must be finite"),
    ],
)
def test_wrong_gains_are_refused(options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.PD(cr.load("planar_2r"), [0.0, 0.0], **options)


def test_a_joint_without_inertia_has_no_default():
    bare = cr.Robot.from_dh([(1, 0, 0, 0), (1, 0, 0, 0)], convention="standard", check=False)
    with pytest.raises(cr.ModelError, match="'joint1', 'joint2' of robot 'dh_robot' moves no mass; give kp and kd"):
        cr.PD(bare, [0.0, 0.0], gravity=False)
    assert cr.PD(bare, [0.0, 0.0], 1.0, 1.0, gravity=False).parameters.shape == (6,)
    idle = cr.Robot.from_dh(
        [(1, 0, 0, 0), (1, 0, 0, 0)], convention="standard", masses=[1, 0], coms=np.zeros((2, 3)),
        inertias=[[1, 1, 1], [0, 0, 0]], check=False,
    )  # fmt: skip
    with pytest.raises(cr.ModelError, match="'joint2' of robot 'dh_robot' moves no mass"):
        cr.default_gains(idle)

"""Springs and dampers between links, struts, and springs in ball joints: forces, energy, files, edits, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.core.derived import fingerprint
from chainrule.robot.building import to_urdf

BALL_AND_TENDON = """
<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option><worldbody>
  <site name="hook" pos="0.3 -0.2 0.4"/>
  <body name="upper" pos="0 0 0.1"><joint name="shoulder" type="ball"/>
    <inertial pos="0.1 0.02 -0.2" mass="1.2" diaginertia="0.03 0.02 0.01"/>
    <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/>
      <inertial pos="0.05 0 -0.15" mass="0.7" diaginertia="0.01 0.012 0.004"/>
      <site name="eye" pos="0.02 0.03 -0.2"/>
    </body>
  </body></worldbody>
  <tendon><spatial name="coil" stiffness="40" springlength="0.3" damping="2.5"><site site="hook"/><site site="eye"/>
  </spatial></tendon>
</mujoco>
"""


def ball_arm(**ball):
    arm = cr.build("arm").link("world").spherical("shoulder", xyz=(0, 0, 0.1), **ball)
    arm = arm.link("upper", mass=1.2, com=(0.1, 0.02, -0.2), inertia=(0.03, 0.02, 0.01))
    arm = arm.revolute("elbow", axis="y", xyz=(0, 0, -0.4))
    return arm.link("lower", mass=0.7, com=(0.05, 0, -0.15), inertia=(0.01, 0.012, 0.004))


def sprung(**numbers):
    chosen = {"stiffness": 40.0, "rest_length": 0.3, "damping": 2.5} | numbers
    return ball_arm().spring("coil", "world", "lower", (0.3, -0.2, 0.4), (0.02, 0.03, -0.2), **chosen).robot()


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def in_mujoco(text, q, qd):
    """The accelerations of MuJoCo for q (x, y, z, w of the quaternion first) and qd, and its model and data."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:4], data.qpos[4:] = q[[3, 0, 1, 2]], q[4:]
    data.qvel[:] = qd
    mujoco.mj_forward(model, data)
    return model, data


def test_accelerations_with_a_spring_and_damper_are_mujoco_s():
    robot = sprung()
    q, qd, _ = state(robot)
    _, data = in_mujoco(BALL_AND_TENDON, q, qd)
    assert_allclose(robot.forward_dynamics(q, qd, np.zeros(4)), data.qacc, atol=1e-9)
    assert_allclose(robot.analysis.spring_forces(q, qd), [40 * (data.ten_length[0] - 0.3) + 2.5 * data.ten_velocity[0]])


def test_a_ball_joint_s_spring_is_mujoco_s_and_its_torque_the_gradient_of_its_energy():
    robot = ball_arm(stiffness=8.0).robot()
    q, qd, _ = state(robot, 1)
    text = BALL_AND_TENDON.replace('type="ball"', 'type="ball" stiffness="8"').replace(
        'stiffness="40"', 'stiffness="0"'
    )
    _, data = in_mujoco(text.replace('damping="2.5"', ""), q, qd)
    assert_allclose(robot.forward_dynamics(q, qd, np.zeros(4)), data.qacc, atol=1e-9)
    bare = text[: text.index("<tendon>")] + "</mujoco>"
    for read in (cr.load(bare), cr.load(pytest.importorskip("mujoco").MjModel.from_xml_string(bare))):
        assert [(dof.stiffness, dof.rest) for dof in read.model.joints[0].dofs] == [(8.0, 0.0)] * 3
        assert_allclose(read.reference.spring_torque(q), robot.reference.spring_torque(q), atol=1e-12)
    rest = [0.3, -0.5, 0.2]
    turned = ball_arm(stiffness=8.0, rest=rest).robot()
    angle = (Rotation.from_rotvec(rest).inv() * Rotation.from_quat(q[:4])).magnitude()
    without = turned.without_spring()
    assert turned.potential_energy(q) - without.potential_energy(q) == pytest.approx(4.0 * angle**2)
    step = 1e-6
    for k, v in enumerate(np.eye(4)[:3]):
        ends = [turned.without_spring().potential_energy(turned.integrate(q, s * v)) for s in (step, -step)]
        whole = [turned.potential_energy(turned.integrate(q, s * v)) for s in (step, -step)]
        slope = ((whole[0] - ends[0]) - (whole[1] - ends[1])) / (2 * step)
        assert turned.spring_torque(q)[k] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("numbers", [{}, {"rest_length": 0.0, "damping": 0.0}, {"stiffness": 0.0, "force": -15.0}])
def test_the_torque_of_a_spring_is_the_gradient_of_its_energy_and_inverse_dynamics_knows_it(numbers):
    robot = sprung(**numbers).reference
    q, qd, qdd = state(robot, 2)
    step = 1e-6
    without = robot.without_spring()
    energy = lambda at: robot.potential_energy(at) - without.potential_energy(at)  # noqa: E731
    moves = np.eye(4) * step
    slope = [(energy(robot.integrate(q, v)) - energy(robot.integrate(q, -v))) / (2 * step) for v in moves]
    assert_allclose(robot.spring_torque(q), slope, atol=1e-6)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    terms = robot.torque_terms(q, qd, qdd)
    assert ("damper" in terms) == bool(robot.model.springs[0].damping)
    assert_allclose(terms["spring"], robot.spring_torque(q), atol=1e-12)
    assert_allclose(terms["total"], tau, atol=1e-9)
    assert_allclose(tau - without.inverse_dynamics(q, qd, qdd), terms["spring"] + terms.get("damper", 0), atol=1e-9)
    assert_allclose(robot.textbook.dae(q, qd, tau).solve().qdd, qdd, atol=1e-8)
    table = robot.textbook.newton_euler_table(q, qd, qdd)
    W = robot.joint_wrenches(q, qd, qdd, frame="body")
    assert_allclose(np.concatenate([table.n, table.f], axis=-1), W, atol=1e-9)


def test_energy_is_accounted_for_in_simulations_with_springs_and_dampers():
    robot = sprung()
    q, qd, _ = state(robot, 3)
    run = robot.simulate(q, qd, 0.5, dt=1e-3)
    assert np.abs(run.energy_error).max() < 1e-6
    assert run.energy[-1] < run.energy[0] - 0.1


def test_a_spring_without_rest_length_balances_an_arm_everywhere():
    arm = cr.load("pendulum").with_spring("base", "rod", (0, 0.5, 0), (0, -0.5, 0), stiffness=39.24)
    q = np.linspace(-3, 3, 7)[:, None]
    assert_allclose(arm.reference.inverse_dynamics(q, [0.0], [0.0]), 0, atol=1e-12)
    assert_allclose(arm.gravity_torque(q), -arm.reference.spring_torque(q), atol=1e-12)
    assert_allclose(cr.GravityCompensation(arm)(0.0, q, np.zeros((7, 1))), 0, atol=1e-12)


def plain_rate(robot, q, qd, step=1e-7):
    """The rate of the length of the only spring."""
    spring = robot.model.springs[0]

    def length(at):
        ends = [
            robot.pose(at, link) @ [*point, 1.0]
            for link, point in ((spring.link_a, spring.point_a), (spring.link_b, spring.point_b))
        ]
        return np.linalg.norm(ends[1] - ends[0])

    return (length(q + step * qd) - length(q - step * qd)) / (2 * step)


def test_springs_act_in_closed_loops_too():
    bar = cr.load("four_bar").with_spring("ground", "coupler_link", (0, 0.6, 0), (0.2, 0, 0), stiffness=50, damping=3)
    q = bar.loops.close([0.5, 0.0, 0.0], hold=["crank"])
    qd = bar.loops.consistent_velocity(q, [2.0, 0.0, 0.0], hold=["crank"])
    qdd = bar.loops.consistent_acceleration(q, qd, [1.0, 0.0, 0.0], hold=["crank"])
    plain = bar.reference
    tau = plain.inverse_dynamics(q, qd, qdd)
    power = plain.analysis.spring_forces(q, qd) * plain_rate(plain, q, qd)
    assert (tau - plain.without_spring().inverse_dynamics(q, qd, qdd))[0] * 2.0 == pytest.approx(power[0])
    assert_allclose(plain.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    run = bar.simulate(q, qd, 0.3, dt=1e-3)
    assert np.abs(run.energy_error).max() < 1e-6


def test_a_strut_carries_a_force_along_itself_only():
    """A boom held by a strut: the moments about the hinge give its force."""
    boom = cr.build("boom", along="x").link("wall").revolute("hinge", axis="y", effort=0)
    boom = boom.link("beam", length=2.0, mass=10.0)
    robot = boom.robot().with_constraint(
        "distance", "wall", "beam", at((0, 0, 1.5)), at((2.0, 0, 0)), distance=2.5, name="strut"
    )
    force = robot.reference.loops.forces([0.0], [0.0], [0.0])[0, 3:]
    pull = 10 * 9.81 * 1.0 / (2.0 * 0.6)  # the strut leaves the beam's end along (-0.8, 0, 0.6)
    assert_allclose(force, [-0.8 * pull, 0, 0.6 * pull], atol=1e-9)


def at(point):
    """A frame at a point."""
    T = np.eye(4)
    T[:3, 3] = point
    return T


def test_springs_go_through_files_and_edits():
    robot = sprung(force=1.0)
    again = cr.load(robot_text(robot))
    assert again.model == robot.model
    assert fingerprint(again) == fingerprint(robot)
    assert fingerprint(sprung(stiffness=41.0)) != fingerprint(sprung())
    q, qd, qdd = state(robot, 5)
    expected = robot.reference.inverse_dynamics(q, qd, qdd)
    named = robot.rename({"coil": "helper", "lower": "forearm"})
    assert (named.model.springs[0].name, named.model.springs[0].link_b) == ("helper", "forearm")
    mounted = cr.build("stand").link("floor").robot().attach(robot, link="floor", prefix="arm_")
    assert mounted.model.springs[0].name == "arm_coil"
    for other in (named, mounted, robot.merge_fixed()):
        assert_allclose(other.reference.inverse_dynamics(q, qd, qdd), expected, atol=1e-9)
    assert robot.without_spring("coil").model.springs == ()
    assert "stiffness" in str(robot.compare(sprung(force=1.0, stiffness=41.0)))
    with pytest.raises(cr.ModelError, match=r"spring 'coil' holds 'lower'.*without_spring\('coil'\)"):
        robot.chain("upper")
    with pytest.raises(cr.FormatError, match=r"springs between links \('coil'\), which URDF cannot express"):
        to_urdf(robot)


def robot_text(robot):
    from chainrule.formats.native import to_toml

    return to_toml(robot.model)


def test_what_is_refused():
    arm = cr.load("planar_2r")
    with pytest.raises(cr.UnknownNameError, match="has no link or frame named 'hand'"):
        arm.with_spring("base", "hand", stiffness=1.0)
    with pytest.raises(cr.ModelError, match="joins link 'link1' to itself"):
        arm.with_spring("link1", "link1", stiffness=1.0)
    with pytest.raises(cr.ModelError, match="a spring without any does nothing"):
        arm.with_spring("base", "link1", rest_length=1.0)
    with pytest.raises(cr.ModelError, match=r"spring 'spring0': stiffness must not be negative, got -1\.0"):
        arm.with_spring("base", "link1", stiffness=-1.0)
    with pytest.raises(cr.UnknownNameError, match="no spring named 'coil'"):
        arm.without_spring("coil")
    with pytest.raises(cr.ModelError, match=r"springs between links .*closed form"):
        arm.with_spring("base", "link1", stiffness=1.0).equations()
    with pytest.raises(cr.ModelError, match="one stiffness for all directions"):
        ball_arm(stiffness=[1.0, 2.0, 3.0]).robot()
    with pytest.raises(cr.ModelError, match="has 2 springs named 's'"):
        arm.with_spring("base", "link1", stiffness=1.0, name="s").with_spring("base", "tip", stiffness=1.0, name="s")

"""All laws, compiled and called, on random states; compiled code known by its law; joints without motors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tiers import with_slow
from trees import tree

import chainrule as cr

ARM = cr.load("planar_2r")
HAND = cr.load("panda_hand")
DOG = cr.load("quadruped")
LEGS = [name for name in DOG.joint_names if name != "floating_base"]
ROBOTS = {"arm": ARM, "mimic": HAND, "floating base": DOG.with_end_effector("FL_FOOT"), "every joint kind": tree(5)}


def laws(robot, actuated):
    rng = np.random.default_rng(1)
    goal, pose = robot.random_state(rng), robot.pose(robot.random_state(rng))
    yield "gravity", cr.GravityCompensation(robot, 0.3, actuated=actuated)
    yield "PD", cr.PD(robot, goal, 20.0, 3.0, actuated=actuated)
    yield "PID", cr.PID(robot, goal, 20.0, 5.0, 3.0, limit=1.0, actuated=actuated)
    yield "computed torque", cr.ComputedTorque(robot, goal, 9.0, actuated=actuated)
    yield "impedance", cr.Impedance(robot, pose, 20.0, 3.0, actuated=actuated)
    yield "operational space", cr.OperationalSpace(robot, pose, 9.0, task="position", damping=1e-2, actuated=actuated)


@pytest.mark.parametrize("name", with_slow(ROBOTS, "floating base", "every joint kind"))
def test_laws_compiled_and_called_agree_on_random_states(name):
    robot = ROBOTS[name]
    chosen = [joint for joint in robot.joint_names if joint != "floating_base"][: 12 if name == "floating base" else 4]
    rng = np.random.default_rng(0)
    q, v = robot.random_state(rng, (6,)), 0.3 * rng.normal(size=(6, robot.nv))
    for actuated in (chosen, True):
        for label, law in laws(robot, actuated):
            motion = robot.simulate(q, v, 1e-6, law, integrator="euler", dt=1e-6, limits=False, torque_limits=False)
            direct = law(0.0, q, v)
            assert_allclose(motion.tau[:, 0], direct, rtol=1e-8, atol=1e-8 * np.abs(direct).max(), err_msg=label)
            assert not direct[:, list(law.passive)].any()


# --- the key of compiled code ---


class Spring(cr.Controller):
    def __init__(self, robot, k):
        super().__init__(robot, {})
        self.k = k

    def torque(self, q, qd, z, s, p):
        return [-self.gain() * x for x in q], []

    def gain(self):
        return self.k[0] if isinstance(self.k, (list, dict)) else self.k


def torque_of(law):
    return ARM.simulate([0.1, 0.1], None, 0.01, law).tau[0]


def test_a_law_runs_its_own_attributes_always():
    assert_allclose(torque_of(Spring(ARM, 1.0)), -0.1)
    assert_allclose(torque_of(Spring(ARM, 1000.0)), -100.0)
    law = Spring(ARM, [2.0])
    assert_allclose(torque_of(law), -0.2)
    law.k[0] = 3.0
    assert_allclose(torque_of(law), -0.3)
    law.k = np.float64(4.0)
    assert_allclose(torque_of(law), -0.4)


def test_flags_changed_after_construction_count():
    law = cr.PD(ARM, [0.3, 0.2], 10.0, 1.0)
    start = ARM.simulate([0, 0], None, 0.01, law).tau[0]
    law.gravity = False
    after = ARM.simulate([0, 0], None, 0.01, law).tau[0]
    assert_allclose(after, law(0.0, [0, 0], [0, 0]))
    assert_allclose(start - after, ARM.gravity_torque([0, 0]))


GAIN = 1.0


class Global(cr.Controller):
    factor = 1.0

    def torque(self, q, qd, z, s, p):
        return [-GAIN * self.factor * x for x in q], []


def test_globals_class_attributes_and_closures_count(monkeypatch):
    law = Global(ARM, {})
    assert_allclose(torque_of(law), -0.1)
    monkeypatch.setitem(globals(), "GAIN", 5.0)
    assert_allclose(torque_of(law), -0.5)
    monkeypatch.setattr(Global, "factor", 2.0)
    assert_allclose(torque_of(law), -1.0)

    def make(gain):
        class Local(cr.Controller):
            def torque(self, q, qd, z, s, p):
                return [-gain * x for x in q], []

        return Local

    kind = make(1.0)
    assert_allclose(torque_of(kind(ARM, {})), -0.1)
    assert_allclose(torque_of(make(7.0)(ARM, {})), -0.7)

    class Deeper:
        value = 1.0

    helper = Deeper()
    law = Spring(ARM, 1.0)
    law.gain = lambda: helper.value
    assert_allclose(torque_of(law), -0.1)
    helper.value = 6.0
    assert_allclose(torque_of(law), -0.6)


def test_an_unchanged_law_is_traced_once(monkeypatch):
    from chainrule.control.laws import tracing

    law = Spring(ARM, 12.5)
    torque_of(law)
    monkeypatch.setattr(tracing, "trace", lambda *_: pytest.fail("traced again"))
    torque_of(law)
    torque_of(Spring(ARM, 12.5))


def test_a_law_that_is_not_arithmetic_is_refused():
    class Random(cr.Controller):
        def torque(self, q, qd, z, s, p):
            return [np.random.default_rng().normal() * x for x in q], []

    with pytest.raises(cr.ShapeError, match="when traced and"):
        torque_of(Random(ARM, {}))


def test_a_law_may_take_the_time():
    class Shaking(cr.Controller):
        def torque(self, q, qd, z, s, p, t):
            return [2.0 * t, -t], []

    law = Shaking(ARM, {})
    motion = ARM.simulate([0, 0], None, 0.1, law)
    assert_allclose(motion.tau, np.stack([2 * motion.t, -motion.t], axis=1), atol=1e-15)
    assert_array_equal(law([0.5, 1.0], [0, 0], [0, 0]), [[1.0, -0.5], [2.0, -1.0]])
    assert_allclose(ARM.simulate([0, 0], None, 0.1, law, integrator="dop853").tau, motion.tau, atol=1e-12)


def test_a_law_in_numpys_style_is_compiled_and_differentiated_as_it_is():
    class Soft(cr.Controller):
        states = 2

        def torque(self, q, qd, z, s, p):
            error = np.array([0.5, -0.2]) - np.array(q)
            return np.clip(20 * np.tanh(error) - 2 * np.array(qd) + z, -6.0, 6.0), error

    law = Soft(ARM, {})
    start = np.array([0.1, 0.4])
    motion = ARM.simulate(start, None, 0.2, law)
    assert_allclose(
        motion.tau, [law(t, *row) for t, *row in zip(motion.t, motion.q, motion.qd, motion.states, strict=True)]
    )
    forward = ARM.sensitivities(start, None, 0.2, law).forward(["q0"])["q0"][0]
    ends = [ARM.simulate(start + d, None, 0.2, law).q[-1] for d in (*1e-6 * np.eye(2), *-1e-6 * np.eye(2))]
    assert_allclose(forward[-1, :2], np.subtract(ends[:2], ends[2:]).T / 2e-6, atol=1e-6)


def test_a_law_that_returns_something_else_is_told_what_to_return():
    class Wrong(cr.Controller):
        def torque(self, q, qd, z, s, p):
            return self.answer

    law = Wrong(ARM, {})
    for law.answer, words in (
        ([0.0, 0.0], "must return two lists"),
        (([0.0], []), "2 torques and 0 rates.*got 1 and 0"),
    ):
        with pytest.raises(cr.ShapeError, match=words):
            torque_of(law)


# --- joints without motors ---


def test_a_floating_base_is_no_motor_and_falls():
    with pytest.warns(cr.ModelWarning, match="no motor drives 'floating_base'"):
        law = cr.GravityCompensation(DOG)
    motion = DOG.simulate(DOG.neutral(), None, 0.3, law)
    assert not motion.tau[:, :6].any()
    fall = DOG.center_of_mass(motion.q[-1]) - DOG.center_of_mass(motion.q[0])
    assert_allclose(fall, [0, 0, -0.5 * 9.81 * 0.3**2], atol=1e-6)


def test_computed_torque_brings_the_joints_with_motors_to_their_targets():
    rng = np.random.default_rng(2)
    q, v, goal = DOG.random_state(rng), rng.normal(size=DOG.nv), DOG.random_state(rng)
    law = cr.ComputedTorque(DOG, goal, 4.0, actuated=LEGS)
    tau = law(0.0, q, v)
    qdd = DOG.forward_dynamics(q, v, tau)
    assert not tau[:6].any()
    assert_allclose(qdd[6:], 4.0 * (goal[7:] - q[7:]) - 4.0 * v[6:], atol=1e-8)


def test_operational_space_moves_the_link_of_a_floating_robot_as_asked():
    rng = np.random.default_rng(3)
    q, v = DOG.random_state(rng), 0.3 * rng.normal(size=DOG.nv)
    link, goal = DOG.link_names[-1], DOG.pose(DOG.random_state(rng), DOG.link_names[-1])
    law = cr.OperationalSpace(DOG, goal, 9.0, link=link, task="position", damping=1e-12, actuated=LEGS)
    tau = law(0.0, q, v)
    J = DOG.jacobian(q, link, frame="world")
    drift = DOG.jacobian_dot(q, v, link, frame="world") @ v
    acceleration = (J @ DOG.forward_dynamics(q, v, tau) + drift)[3:]
    error = goal[:3, 3] - DOG.pose(q, link)[:3, 3]
    assert_allclose(acceleration, 9.0 * error - 6.0 * (J @ v)[3:], atol=1e-5)
    assert not tau[:6].any()


def test_joints_with_motors_may_be_named_or_be_all():
    goal = DOG.neutral()
    everything = cr.PD(DOG, goal, 1.0, 1.0, actuated=True)
    assert everything.passive == ()
    assert everything(0.0, goal, np.zeros(DOG.nv))[:6].any()
    assert cr.PD(ARM, [0, 0], 1.0, 1.0, actuated=["joint2"]).passive == (0,)
    for wrong in ("joint1", [1], 3):
        with pytest.raises(cr.ShapeError, match="actuated must be a list"):
            cr.PD(ARM, [0, 0], 1.0, 1.0, actuated=wrong)

"""Controllers called one moment after another: the compiled call against the law as it is written."""

import pickle
import threading

import numpy as np
import pytest

import chainrule as cr

PANDA, UR5 = cr.load("panda"), cr.load("ur5")
HOME = PANDA.home()
THERE = HOME + 0.2


GAIN = {"z": 1.0}


class Gains:
    """An object whose changes nothing can see."""

    kp = 3.0


class ByGains(cr.Controller):
    """A law that reads an object and a global dictionary."""

    def __init__(self, robot, own):
        super().__init__(robot, {})
        self.own = own

    def torque(self, q, qd, z, s, p):
        return [-(self.own.kp if self.own else 3.0) * GAIN["z"] * x for x in q], []


class Spring(cr.Controller):
    """A law of a user's, with gains and a list that it reads, the time, and a state."""

    states = 1

    def __init__(self, robot, kp):
        super().__init__(robot, {"kp": np.full(robot.nv, kp)})
        self.offset = [0.5]
        self.gain = 2.0

    def torque(self, q, qd, z, s, p, t):
        (kp,) = self.parts(p)
        return [-k * x + self.gain * t + z[0] + self.offset[0] for k, x in zip(kp, q, strict=True)], [q[0]]


def laws(robot, q):
    motion = cr.plan(robot, [q, q + 0.1, q - 0.1], times=[0.0, 0.6, 1.3])
    pose = robot.pose(q)
    there = robot.pose(q + 0.1)
    path = cr.plan_pose([pose, there, pose], times=[0.0, 0.5, 1.3], method="trapezoidal")
    return [
        cr.GravityCompensation(robot),
        cr.PD(robot, q + 0.1),
        cr.PD(robot, motion, gravity=False),
        cr.PID(robot, motion, limit=5.0),
        cr.ComputedTorque(robot, cr.plan(robot, [q, q + 0.1], times=1.3, method="trapezoidal")),
        cr.ComputedTorque(robot, cr.plan(robot, [q, q + 0.3])),
        cr.ComputedTorque(robot, motion),
        cr.Impedance(robot, path),
        cr.OperationalSpace(robot, path),
        cr.OperationalSpace(robot, pose),
    ]


@pytest.mark.parametrize("robot", [PANDA, UR5, PANDA.reference], ids=["panda", "ur5", "interpreted"])
def test_a_call_is_the_law_at_that_moment(robot):
    rng = np.random.default_rng(0)
    q, qd = robot.home() + 0.1 * rng.normal(size=robot.nq), rng.normal(size=robot.nv)
    for law in laws(robot, robot.home()):
        for t in (-1.0, 0.0, 0.2, 0.6, 1.1, 1.2999999, 5):
            expected = law.evaluate(t, q, qd)[0]
            law.reset()
            scale = 1e-11 * (1 + np.abs(expected).max())
            assert np.abs(law(t, q, qd) - expected).max() < scale, (law, t)
            law.reset()
            assert np.abs(law(t, q.tolist(), dict(zip(robot.velocity_names, qd, strict=True))) - expected).max() < scale


def test_a_batch_of_states_at_one_moment():
    motion = cr.plan(PANDA, [HOME, THERE], times=1.0)
    for law in (cr.ComputedTorque(PANDA, motion), cr.PID(PANDA, motion), cr.PD(PANDA, THERE)):
        q = PANDA.random_state(np.random.default_rng(1), (3, 2))
        for t in (0.3, 0.31):
            found = law(t, q, np.zeros(7))
        law.reset()
        one = law(0.3, q[1, 1], np.zeros(7)), law(0.31, q[1, 1], np.zeros(7))
        assert found.shape == (3, 2, 7)
        assert np.allclose(found[1, 1], one[1], atol=1e-11)


def test_many_moments_at_once_keep_nothing():
    law = cr.PID(PANDA, cr.plan(PANDA, [HOME, THERE], times=1.0))
    t = np.linspace(0, 1, 4)
    found = law(t, HOME, np.zeros(7))
    assert found.shape == (4, 7)
    law.reset()
    assert np.allclose(found[2], law(float(t[2]), HOME, np.zeros(7)), atol=1e-11)


def test_internal_states_go_on_with_the_time_until_reset():
    law = cr.PID(PANDA, THERE, ki=10.0)
    torques = [law(t, HOME, np.zeros(7)) for t in (2.0, 2.0, 2.5, 3.0)]
    gained = 10.0 * 0.5 * (THERE - HOME)
    assert np.allclose(torques[1], torques[0])
    assert np.allclose(torques[2] - torques[1], gained)
    assert np.allclose(torques[3] - torques[2], gained)
    with pytest.raises(cr.ArgumentError, match=r"PID: t is 1 s after a call at 3 s.*reset\(\)"):
        law(1.0, HOME, np.zeros(7))
    law.reset()
    assert np.array_equal(law(1.0, HOME, np.zeros(7)), torques[0])


def test_a_loop_of_ones_own_is_the_sampled_simulation():
    law, dt = cr.PID(PANDA, THERE, ki=40.0), 0.002
    motion = PANDA.simulate(HOME, None, 0.1, cr.Sampled(law, dt), integrator=cr.RK4(dt))
    steps = PANDA.simulation(HOME, integrator=cr.RK4(dt))
    for k in range(50):
        tau = law(k * dt, steps.q, steps.qd)
        assert np.allclose(tau, motion.tau[k], atol=1e-8)
        steps.step(tau)


def test_what_a_law_reads_may_change_between_calls():
    law = Spring(PANDA, 3.0)
    first = law(0.5, HOME, np.zeros(7))
    assert np.allclose(first, -3 * HOME + 1.0 + 0.5)
    law.gain = 4.0
    assert np.allclose(law(0.5, HOME, np.zeros(7)), first + 1.0)
    law.offset[0] = 1.5
    assert np.allclose(law(0.5, HOME, np.zeros(7)), first + 2.0)
    assert np.allclose(law(0.75, HOME, np.zeros(7)), first + 3.0 + 0.25 * HOME[0])  # the state went on all the while


@pytest.mark.parametrize("own", [None, Gains()], ids=["global", "object"])
def test_globals_and_objects_that_a_law_reads_may_change_too(own, monkeypatch):
    law = ByGains(PANDA, own)
    assert np.allclose(law(0.0, HOME, np.zeros(7)), -3.0 * HOME)
    monkeypatch.setitem(GAIN, "z", 2.0)
    assert np.allclose(law(0.1, HOME, np.zeros(7)), -6.0 * HOME)
    if own:
        own.kp = 5.0
        assert np.allclose(law(0.2, HOME, np.zeros(7)), -10.0 * HOME)


def test_controllers_are_pickled_without_what_calls_made():
    law = cr.PID(PANDA, THERE)
    law(0.0, HOME, np.zeros(7))
    again = pickle.loads(pickle.dumps(law))
    law.reset()
    assert np.array_equal(again(7.0, HOME, np.zeros(7)), law(7.0, HOME, np.zeros(7)))


def test_threads_have_moments_of_their_own():
    law = cr.ComputedTorque(PANDA, cr.plan(PANDA, [HOME, THERE], times=1.0))
    times = np.linspace(0, 1, 400)
    expected = law(times, HOME, np.zeros(7))
    wrong = []

    def run(order):
        for k in order:
            if not np.allclose(law(float(times[k]), HOME, np.zeros(7)), expected[k], atol=1e-9):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(np.random.default_rng(i).permutation(400),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_bad_calls_are_refused():
    law = cr.ComputedTorque(PANDA, cr.plan(PANDA, [HOME, THERE], times=1.0))
    assert np.isnan(law(float("nan"), HOME, np.zeros(7))).all()
    for arguments in (("now", HOME, np.zeros(7)), (0.1, HOME[:3], np.zeros(7)), (0.1, HOME, np.zeros(8))):
        with pytest.raises(cr.ChainruleError):
            law(*arguments)

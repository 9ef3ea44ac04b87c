"""The recipe of control/laws/controller.py, followed from outside the package: a sliding-mode law with an integral."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.control.laws.targets import JointTarget
from chainrule.control.requirements import gains, known_robot
from chainrule.spatial.scalar import where


class SlidingMode(cr.Controller):  # step 1
    """tau = g(q) + K sat(r / width), with r = slope e + (qd_ref - qd) + Ki z and dz/dt = e."""

    def __init__(self, robot, target, strength, slope, ki=None, *, width=0.1):  # step 2
        known_robot(robot, "SlidingMode")
        self.goal = JointTarget(robot, target, "SlidingMode")
        of = "one for each degree of freedom"
        numbers = {
            "strength": gains(strength, robot.nv, "SlidingMode: strength", of),
            "slope": gains(slope, robot.nv, "SlidingMode: slope", of),
            "width": gains(width, 1, "SlidingMode: width", "a number"),
        }
        self.integrates = ki is not None
        if self.integrates:
            numbers["ki"] = gains(ki, robot.nv, "SlidingMode: ki", of)
            self.states = robot.nv  # step 4
        super().__init__(robot, numbers, self.goal, (self.integrates,))

    def torque(self, q, qd, z, s, p):  # step 3
        strength, slope, (width,), *ki, target = self.parts(p)
        q_ref, qd_ref, _ = self.goal.at(s, target)
        e = [a - b for a, b in zip(q_ref, q, strict=True)]
        r = [k * x + v_ref - v for k, x, v_ref, v in zip(slope, e, qd_ref, qd, strict=True)]
        if ki:
            r = [x + k * y for x, k, y in zip(r, ki[0], z, strict=True)]
        rest = [0] * self.model.nv
        hold = inverse_dynamics(self.model, q, rest, rest)
        cut = [where(x > width, 1.0, where(x < -width, -1.0, x / width)) for x in r]
        return [g + k * x for g, k, x in zip(hold, strength, cut, strict=True)], e if ki else []


ARM = cr.load("planar_2r")


def test_it_is_evaluated_on_arrays():  # step 5
    goal, q, qd = np.array([0.5, -0.2]), np.array([0.1, 0.3]), np.array([0.2, -0.1])
    r = 2.0 * (goal - q) - qd
    expected = ARM.gravity_torque(q) + 30.0 * np.clip(r / 0.1, -1, 1)
    assert_allclose(SlidingMode(ARM, goal, 30.0, 2.0)(0.0, q, qd), expected, rtol=1e-12)
    law = SlidingMode(ARM, goal, 30.0, 2.0, 1.5)
    tau, rates = law.evaluate(0.0, q, qd, [0.05, -0.1])
    assert_allclose(rates, goal - q)
    assert_allclose(
        tau, ARM.gravity_torque(q) + 30.0 * np.clip((r + np.array([0.075, -0.15])) / 0.1, -1, 1), rtol=1e-12
    )


@pytest.mark.parametrize("ki", [None, 0.5])
def test_it_is_simulated_as_machine_code_and_as_written(ki):
    plan = cr.plan(ARM, [[0.0, 0.0], [0.8, -0.4]], times=0.5)
    law = SlidingMode(ARM, plan, 60.0, 8.0, ki)
    compiled = ARM.simulate([0.05, 0.0], None, 1.0, law)
    written = ARM.reference.simulate([0.05, 0.0], None, 0.02, law)
    assert_allclose(compiled.q[: len(written.q)], written.q, rtol=1e-9, atol=1e-12)
    assert_allclose(compiled.q[-1], plan(1.0)[0], atol=0.02)


def test_gains_vary_over_a_batch_and_the_structure_is_part_of_the_key():
    laws = [SlidingMode(ARM, [0.5, -0.2], k, 2.0) for k in (10.0, 20.0)]
    both = SlidingMode(ARM, [0.5, -0.2], [[10.0] * 2, [20.0] * 2], 2.0)
    tau = both(0.0, [0.1, 0.3], [0.0, 0.0])
    assert_allclose(tau, [law(0.0, [0.1, 0.3], [0.0, 0.0]) for law in laws])
    assert laws[0].key == laws[1].key
    assert laws[0].key != SlidingMode(ARM, [0.5, -0.2], 10.0, 2.0, 1.0).key

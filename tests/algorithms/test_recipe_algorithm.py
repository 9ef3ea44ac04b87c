"""The recipe of `chainrule.algorithms`, followed from outside the package: the power of gravity on all links."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.core.declaration import function
from chainrule.functions.table import FUNCTIONS, QD, Q


def gravity_power(model, q, qd):  # step 1
    """Power of gravity on all links, the sum of m g . v, in W."""
    bodies = model.at(q)
    T, V = poses_of(bodies), twists_of(bodies, qd)
    power = 0
    for body in bodies:
        momentum = T[body.index] * (body.inertia * V[body.index])
        power = power + momentum.force.dot(model.gravity)
    return power


@function(gravity_power, takes=(Q, QD), gives=(), unit="W", answer="power of gravity on all links (W)")  # step 2
def power(robot, q, qd=0, *, out=None):
    """Power of gravity on all links, in W: (...)."""


ENTRY = FUNCTIONS.declared.pop("power")


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """The table has it in these tests alone."""
    monkeypatch.setitem(FUNCTIONS.declared, "power", ENTRY)


@pytest.mark.parametrize("seed", range(3))
def test_gravity_takes_what_its_torques_hold_on_trees_of_every_joint_kind(seed):  # step 3
    robot = tree(seed).reference
    q, qd, _ = state(robot, seed)
    assert_allclose(power(robot, q, qd), -robot.gravity_torque(q) @ qd, rtol=1e-9, atol=1e-9)


def test_it_is_compiled_batched_and_checked_like_the_others():
    robot = cr.load("panda")
    q, qd, _ = state(robot, 1)
    assert_allclose(power(robot, q, qd), power(robot.reference, q, qd), rtol=1e-12)
    many = power(robot, np.stack([q] * 5), qd)
    assert many.shape == (5,)
    assert_allclose(many, power(robot, q, qd), rtol=1e-12)
    with pytest.raises(cr.ShapeError, match=r"power: qd must have 7 numbers .*got 3"):
        power(robot, q, [0.0] * 3)
    out = np.empty(5)
    assert power(robot, np.stack([q] * 5), qd, out=out) is out
    assert power(robot, q) == 0


def test_it_has_a_kernel_and_can_be_exported(tmp_path):
    robot = cr.load("planar_2r")
    kernel = robot.compiled.kernel("power")
    assert kernel([0.3, 0.4], [1.0, 2.0]) == pytest.approx(power(robot, [0.3, 0.4], [1.0, 2.0]))
    robot.compiled.export("c", functions=["power"], path=tmp_path / "power.c")
    assert "power" in (tmp_path / "power.c").read_text()

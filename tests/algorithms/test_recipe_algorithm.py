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


class Powered(cr.Robot):
    """A robot that lists the function, as `robot/robot.py` does."""

    power = power


def test_views_and_frameworks_take_it_without_another_line():
    robot = Powered(cr.load("planar_2r").edit({"gravity.y": -9.81}).model).reference
    q, qd = np.array([[0.3, 0.4], [0.5, -0.2]]), np.array([1.0, 2.0])
    expected = -robot.gravity_torque(q) @ qd
    assert_allclose(robot.at({"gravity.y": [-9.81, -1.62]}).power(q, qd), expected * [1.0, 1.62 / 9.81], rtol=1e-12)
    assert_allclose(robot.degrees.power(np.degrees(q), np.degrees(qd)), expected, rtol=1e-12)
    gradient = robot.derivatives.vjp("power", (q, qd), np.ones(2), wrt=["qd"])["qd"]
    assert_allclose(gradient, -robot.gravity_torque(q), rtol=1e-12)
    by_gravity = robot.derivatives.by_parameters("power", ["gravity.y"], (q, qd))["gravity.y"]
    assert_allclose(by_gravity, expected / -9.81, rtol=1e-12)


def test_packages_that_are_installed_take_it_without_another_line():
    pytest.importorskip("pint")
    casadi, dask = pytest.importorskip("casadi"), pytest.importorskip("dask.array")
    robot = Powered(cr.load("planar_2r").model).reference
    q, qd = np.array([[0.3, 0.4], [0.5, -0.2]]), np.array([1.0, 2.0])
    expected = robot.power(q, qd)
    assert robot.units.power(q, qd).units == "watt"
    assert_allclose(robot.power(dask.from_array(q, chunks=1), qd).compute(), expected, rtol=1e-12)
    symbols = casadi.SX.sym("q", 2), casadi.SX.sym("qd", 2)
    call = casadi.Function("power", symbols, [robot.casadi.power(*symbols)])
    assert_allclose(float(call(q[0], qd)), expected[0], rtol=1e-12)

"""Intermediate variables: the same numbers, assignment by assignment."""

import numpy as np
import pytest

import chainrule as cr


@pytest.mark.parametrize("name", ["planar_3r", "puma560", "stanford", "panda"])
def test_intermediate_variables_compute_the_same(name):
    robot = cr.load(name).without_friction()
    listed = robot.equations().intermediate("mass_matrix", "gravity_torque")
    q = robot.random_state(np.random.default_rng(0))
    values = dict(robot.equations().parameters) | dict(zip(robot.equations().q, q.tolist(), strict=True))
    for symbol, expression in listed.assignments:
        values[symbol] = float(expression.subs(values))
    M = np.array([float(x.subs(values)) for x in listed.results["mass_matrix"]]).reshape(robot.n, robot.n)
    assert np.abs(M - robot.mass_matrix(q)).max() < 1e-10
    g = np.array([float(x.subs(values)) for x in listed.results["gravity_torque"]])
    assert np.abs(g - robot.gravity_torque(q)).max() < 1e-9

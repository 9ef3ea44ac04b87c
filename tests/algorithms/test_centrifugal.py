"""Centrifugal torques, of all joints in one pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

from chainrule.algorithms.centrifugal import centrifugal_torque
from chainrule.algorithms.rnea import velocity_torque
from chainrule.core.derived import merged_model

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mimic", [False, True])
def test_they_are_the_torques_of_each_velocity_alone(seed, mimic):
    model = merged_model(tree(seed, KINDS, mimic=mimic))
    q, qd, _ = (x.tolist() for x in state(tree(seed, KINDS, mimic=mimic), seed))
    alone = [[rate if i == j else 0.0 for i, rate in enumerate(qd)] for j in range(model.nv)]
    expected = np.sum([velocity_torque(model, q, rates) for rates in alone], axis=0)
    assert_allclose(centrifugal_torque(model, q, qd), expected, rtol=1e-11, atol=1e-11)


def test_they_grow_with_the_square_of_the_rates():
    robot = tree(1, ["revolute", "universal", "revolute"])
    q, qd, _ = state(robot, 2)
    one = centrifugal_torque(merged_model(robot), q.tolist(), qd.tolist())
    assert_allclose(
        centrifugal_torque(merged_model(robot), q.tolist(), (3 * qd).tolist()), 9 * np.array(one), rtol=1e-11
    )

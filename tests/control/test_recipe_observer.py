"""The recipe of control/observers/observer.py, followed from outside the package: velocities through a low-pass filter."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.control.laws.gains import joint_gains
from chainrule.control.observers.observer import Observer
from chainrule.spatial.scalar import where

ARM = cr.load("planar_2r")


class Smooth(Observer):  # step 1
    """qd through a filter of first order, that begins with the first sample."""

    inputs = ("qd",)

    def __init__(self, robot, rate, cutoff):  # step 2
        share = 1 - np.exp(-joint_gains(robot, cutoff, "Smooth: cutoff") / rate)
        super().__init__(robot, rate, {"share": share}, 1 + robot.nv)

    def step(self, qd, z, p):  # step 3
        (share,) = self.parts(p)
        new = [where(z[0] > 0.5, a + k * (v - a), v) for a, k, v in zip(z[1:], share, qd, strict=True)]
        return new, [1.0, *new]

    def __call__(self, qd):  # step 4
        return self.advance(qd)


@pytest.mark.parametrize("robot", [ARM, ARM.reference], ids=["compiled", "reference"])
def test_the_recipe_gives_an_observer(robot):
    observer = Smooth(robot, 100.0, {"joint1": 10.0, "joint2": 20.0})
    found = np.array([observer([1.0, 2.0]), *(observer([0.0, 0.0]) for _ in range(50))])
    t = np.arange(51)[:, None] / 100
    np.testing.assert_allclose(found, [1.0, 2.0] * np.exp(-np.array([10.0, 20.0]) * t), rtol=1e-12)
    observer.reset()
    assert observer([3.0, 4.0]).tolist() == [3.0, 4.0]

"""What the tests of compiled code share."""

import numpy as np
from numpy.testing import assert_allclose
from trees import state

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.compile.runtime import engine
from chainrule.functions.table import FUNCTIONS

LANES = engine.vector_bits() // 64


OF_LOOPS = {name for name in FUNCTIONS if name.startswith("loops.")}


SMALL = ["revolute", "prismatic", "universal", "spherical", "fixed"]


def close(ours, theirs, tolerance=1e-12):
    assert ours.shape == theirs.shape
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1.0, np.abs(theirs).max(initial=0)))


def arguments_of(robot, name, seed, shape=()):
    rng = np.random.default_rng(seed)
    values = {
        "q": lambda: robot.random_state(rng, shape),
        "q0": lambda: robot.random_state(rng, shape),
        "q1": lambda: robot.random_state(rng, shape),
    }
    return [values.get(a, lambda: rng.normal(size=(*shape, robot.nv)))() for a in FUNCTIONS[name].arguments]


PANDA = cr.load("panda")


Q, QD, QDD = state(PANDA, 0, (64,))


def built(name="gravity_torque", robot="planar_2r"):
    model = cr.load(robot).model
    return Kernel(model, name, model.digest(), {})


def works(kernel):
    q = np.array([[0.3, 0.4], [0.1, -2.0]])
    close(kernel(q), cr.load("planar_2r").reference.gravity_torque(q))

"""The recipe of `chainrule.control.tick`, followed from outside the package: a low-pass filter of velocities."""

import numpy as np

import chainrule as cr
from chainrule.control.tick import Running, Signal, Tick

PANDA = cr.load("panda")


class LowPass:
    """dy/dt = (qd - y) / constant."""

    def __init__(self, robot, constant):
        self.robot, self.constant = robot, constant

    def tick(self, rate=None):
        rate = rate or 1000.0
        velocity = Signal.of_joints(self.robot, "qd", "measured velocities", "velocity")
        filtered = Signal.of_joints(self.robot, "filtered", "their low-frequency part", "velocity")

        def compute(inputs, memory, s, p):
            y = [a + p[0] * (v - a) for a, v in zip(memory, inputs[0], strict=True)]
            return y, y

        share = np.array([1 / (rate * self.constant)])
        return Tick(
            "LowPass", self.robot, 1 / rate, (velocity,), (filtered,), compute, "low pass", np.zeros(7), "y", share
        )


def test_a_tick_runs_with_its_memory():
    running = Running(LowPass(PANDA, 0.01).tick())
    y, rng = np.zeros(7), np.random.default_rng(0)
    for _ in range(5):
        qd = rng.normal(size=7)
        y = y + 0.1 * (qd - y)
        assert np.array_equal(running(qd)[0], y)  # each operation is rounded by itself, as NumPy does
    running.reset()
    assert np.allclose(running(dict(zip(PANDA.velocity_names, np.ones(7), strict=True)))[0], 0.1)


def test_the_interpreter_gives_the_same():
    compiled, interpreted = Running(LowPass(PANDA, 0.02).tick()), Running(LowPass(PANDA.reference, 0.02).tick())
    for k in range(3):
        assert np.array_equal(compiled(np.full(7, k))[0], interpreted(np.full(7, k))[0])

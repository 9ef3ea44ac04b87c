"""How stiff must a controller be when it is wrong about the payload? Thousands of rollouts in one call."""

import time

import numpy as np

import chainrule as cr
from chainrule.algorithms.jacobians import jacobian
from chainrule.algorithms.rnea import gravity_torque
from chainrule.spatial import Wrench


class PayloadPD(cr.Controller):
    """A law of one's own: PD, gravity, and a payload that is believed to weigh so much.

    All that is handed on as numbers may differ from row to row of a batch: goals, gains and beliefs alike.
    """

    def __init__(self, robot, goal, kp, kd, believed):
        numbers = {"goal": goal, "kp": kp, "kd": kd, "believed": believed}
        super().__init__(robot, {name: np.asarray(value, dtype=float) for name, value in numbers.items()})

    def torque(self, q, qd, z, s, p):
        """Kp (q_ref - q) - Kd qd + g(q) + J^T F, with F what it takes to hold the payload up."""
        goal, kp, kd, (mass,) = self.parts(p)
        lift = Wrench.of([0, 0, 0, 0, 0, mass * 9.81])
        J = jacobian(self.model, q, self.model.tip, "world")
        rows = zip(kp, goal, q, kd, qd, gravity_torque(self.model, q), J, strict=True)
        return [k * (r - x) - d * v + g + S.dot(lift) for k, r, x, d, v, g, S in rows], []


rows = 2000
rng = np.random.default_rng(0)
robot = cr.load("panda")
goal = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8])
strength = np.array([1, 1, 1, 1, 0.2, 0.2, 0.05])  # of the joints, beside each other
kp = rng.uniform(100, 1000, (rows, 1))
believed = rng.uniform(0.0, 2.0, (rows, 1))  # kg; in truth it is 1
law = PayloadPD(robot, goal, kp * strength, 2 * np.sqrt(kp) * strength, believed)
start = goal + rng.uniform(-0.2, 0.2, (rows, 7))

began = time.perf_counter()
motion = robot.with_payload(1.0).simulate(start, None, 2.0, law, dt=5e-4, record=200)
spent = time.perf_counter() - began
print(f"{rows} rollouts of 2 s in {spent:.2f} s, {rows * 2 / spent:.0f} times faster than life, compiling included")

error = np.degrees(np.abs(motion.q[:, -1] - goal).max(axis=-1))
print(f"{'kp of the large joints':24} {'median':>8} {'95%':>8} {'within 1 deg':>14}")
for low, high in ((100, 300), (300, 600), (600, 1000)):
    some = error[(kp[:, 0] >= low) & (kp[:, 0] < high)]
    median, most = np.percentile(some, [50, 95])
    print(f"{low:8} to {high:<12} {median:6.2f} deg {most:4.2f} deg {np.mean(some < 1):13.0%}")

# the error that is left is the wrong weight over the stiffness
product = error * kp[:, 0] / np.abs(believed[:, 0] - 1)
print(f"error times kp, for each kg of error: {np.median(product):.0f} deg N m/rad, whatever the gain")
soft, stiff = np.median(product[kp[:, 0] < 400]), np.median(product[kp[:, 0] > 700])
assert abs(soft / stiff - 1) < 0.2

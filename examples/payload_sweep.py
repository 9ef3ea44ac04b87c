"""How much does a Panda sag under what it carries? A thousand payloads in one batch, then a pick-and-place."""

import time

import numpy as np

import chainrule as cr

HAND = "panda_link8.payload"
robot = cr.load("panda")
home = robot.home()

# The controller knows the arm, and not what it carries. The payloads are those of the arm that moves.
law = cr.ComputedTorque(robot, home, 400.0, 40.0)
masses = np.linspace(0.0, 3.0, 1000)
payloads = np.column_stack([masses, np.zeros((1000, 2)), np.full(1000, 0.1)])  # points, 10 cm in front of the flange


def sweep():
    """The motions of all payloads."""
    return robot.at({HAND: payloads}).simulate(home, None, 0.5, law, record=50)


sweep()  # compiles
started = time.perf_counter()
motion = sweep()
seconds = time.perf_counter() - started
height = robot.pose(motion.q[:, -1])[:, 2, 3]
sag = height[0] - height
print(f"{len(masses)} payloads, 500 steps each, in {seconds:.2f} s")
for mass in (0.5, 1.0, 2.0, 3.0):
    print(f"  {mass:.1f} kg: the hand is {1e3 * np.interp(mass, masses, sag):.1f} mm lower after 0.5 s")
allowed = masses[sag < 0.01].max()
print(f"  up to {allowed:.2f} kg it stays within 10 mm")

# Pick and place, step by step: the payload changes on the way, and nothing is compiled.
sim = robot.at({HAND: None}).simulation(home, dt=1e-3)
gains = np.array([600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0])
for phase, payload in (("empty", None), ("holding 2 kg", [2.0, 0.0, 0.0, 0.1]), ("empty again", None)):
    sim.change({HAND: payload})
    for _ in range(400):
        sim.step(gains * (home - sim.q) - 0.1 * gains * sim.qd + robot.gravity_torque(sim.q))
    print(f"{phase:>13}: the hand is at {robot.pose(sim.q)[2, 3]:.4f} m")

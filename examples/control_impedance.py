"""Impedance: push the flange of an iiwa, and it gives way as the springs it is told to be."""

import numpy as np

import chainrule as cr

iiwa = cr.load("iiwa14")
q0 = np.array([0.2, 0.6, 0.0, -1.4, 0.0, 0.9, 0.0])
home = iiwa.pose(q0)
stiffness = np.array([100, 100, 100, 800, 400, 1600.0])  # N m/rad about, N/m along x, y, z of the base
springs = cr.Impedance(iiwa, home, stiffness, joint_damping=0.5)

force = np.array([8.0, 4.0, -16.0])  # N, that the world applies to the flange, in base axes; it has no moment
pushed = iiwa.simulate(q0, None, 4.0, springs, external={iiwa.end_effector: [0, 0, 0, *force]}, record=20)
moved = iiwa.pose(pushed.q[-1])[:3, 3] - home[:3, 3]
print("pushed by", force, "N: gave way by", (1e3 * moved).round(2), "mm; springs say", 1e3 * force / stiffness[3:])
assert np.allclose(moved, force / stiffness[3:], atol=2e-4)

loaded = iiwa.with_payload(1.0).simulate(q0, None, 4.0, springs, record=20)
sunk = home[2, 3] - iiwa.pose(loaded.q[-1])[2, 3]
print(f"an unknown kilogram in its hand: {1e3 * sunk:.2f} mm lower; springs say {1e3 * 9.81 / 1600:.2f} mm")
assert abs(sunk - 9.81 / 1600) < 2e-4

print(f"energy that came from nowhere: {np.abs(pushed.energy_error).max():.1e} J, so that the step was small enough")
assert np.abs(pushed.energy_error).max() < 1e-6

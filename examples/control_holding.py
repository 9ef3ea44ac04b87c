"""Gravity compensation, PD and PID, each holding up an arm that is not quite the one it knows."""

import numpy as np

import chainrule as cr


def worst(error):
    """The largest joint error, in degrees."""
    return np.degrees(np.abs(error).max())


# Gravity compensation: a human arm of 5% more mass than an orthosis was fitted to. It does not fall, it drifts.
arm = cr.load("human_arm")
wearer = arm.scale_masses(1.05)
q0 = np.array([0.6, 0.3, -0.2, 1.2, 0.0, 0.0, 0.0])
fallen = worst(wearer.simulate(q0, None, 0.3).q[-1] - q0)
drifted = worst(wearer.simulate(q0, None, 0.3, cr.GravityCompensation(arm, damping=0.2)).q[-1] - q0)
print("human arm, 5% heavier than it is thought to be, after 0.3 s")
print(f"  no torque             fallen by {fallen:.1f} deg")
print(f"  gravity compensation  drifted by {drifted:.1f} deg")
assert drifted < fallen / 10

# PD and PID: 3 kg in the hand of a UR5 that nobody told its controller of.
ur5 = cr.load("ur5")
carrying = ur5.with_payload(3.0, com=(0.0, 0.0, 0.1))
goal = np.array([0.3, -1.2, 1.0, -0.6, 0.5, 0.2])
kp, kd = np.array([800, 800, 500, 100, 100, 100.0]), np.array([80, 80, 50, 8, 4, 2.0])
print(f"UR5 with an unknown 3 kg, from {worst(0.3):.1f} deg away")
left = {}
for controller in (cr.PD(ur5, goal, kp, kd), cr.PID(ur5, goal, kp, 1.5 * kp, kd)):
    name = type(controller).__name__
    left[name] = worst(carrying.simulate(goal - 0.3, None, 8.0, controller, record=10).q[-1] - goal)
    print(f"  {name:20}  {left[name]:.5f} deg off after 8 s")
assert left["PD"] > 1.0  # a spring gives under the weight ..
assert left["PID"] < 1e-3  # .. and an integral takes up what is left

"""
Two controllers and an unknown payload
======================================

PD control stays off its goal; the integral of a PID takes the error away.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("ur5")
carrying = robot.with_payload(3.0, com=(0, 0, 0.1))
goal = np.array([0.3, -1.2, 1.0, -0.6, 0.5, 0.2])
kp, kd = np.array([800, 800, 500, 100, 100, 100]), np.array([80, 80, 50, 8, 4, 2])
figure, ax = plt.subplots(figsize=(6, 3))
for controller in (cr.PD(robot, goal, kp, kd), cr.PID(robot, goal, kp, 1.5 * kp, kd)):
    motion = carrying.simulate(goal - 0.3, None, 4.0, controller)
    ax.plot(motion.t, np.degrees(motion.q - goal)[:, 1], label=type(controller).__name__)
ax.set(xlabel="time, s", ylabel="error of the second joint, degrees")
ax.legend()

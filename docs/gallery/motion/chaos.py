"""
Starts that differ by a thousandth of a degree
==============================================

Sixteen double pendulums: one batch, one call.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("double_pendulum")
start = np.array([2.0, 2.0]) + np.radians(1e-3) * np.arange(16)[:, None]
motion = robot.simulate(start, None, 12.0, record=10)
figure, ax = plt.subplots(figsize=(6, 3))
ax.plot(motion.t, motion.q[:, :, 1].T, linewidth=0.8)
ax.set(xlabel="time, s", ylabel="second angle, rad")

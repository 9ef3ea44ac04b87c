"""
Energy that integrators lose
============================

Each method with a step of 2 ms, on a double pendulum.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("double_pendulum")
figure, ax = plt.subplots(figsize=(6, 3))
for method in ("semi_implicit_euler", "implicit_midpoint", "rk4"):
    motion = robot.simulate([1.6, 0.4], None, 5.0, integrator=method, dt=2e-3)
    ax.semilogy(motion.t[1:], np.abs(motion.energy - motion.energy[0])[1:] + 1e-12, label=method.replace("_", " "))
ax.set(xlabel="time, s", ylabel="error of the energy, J")
ax.legend(fontsize="small")

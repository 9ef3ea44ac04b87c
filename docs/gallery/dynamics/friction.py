"""
Dry friction that sticks
========================

A pendulum comes to rest away from its lowest point: friction holds it there exactly.
"""

import matplotlib.pyplot as plt

import chainrule as cr

robot = cr.load("pendulum")
joint = robot.joint_names[0]
figure, ax = plt.subplots(figsize=(6, 3))
for coulomb in (0.0, 0.3, 1.0, 2.0):
    motion = robot.edit({f"{joint}.coulomb": coulomb}).simulate([1.2], None, 6.0)
    ax.plot(motion.t, motion.q[:, 0], label=f"{coulomb:g} N m")
ax.set(xlabel="time, s", ylabel="angle, rad")
ax.legend(title="Coulomb friction")

"""
The quickest motion within the limits
=====================================

Speeds of a SCARA by two methods: the quickest one uses its limits all the time.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("scara")
points = [[0, 0, 0, 0], [1, 1, -0.1, 0], [2, 0, 0, 0]]
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
for ax, method in zip(axes, ("minimum_jerk", "time_optimal"), strict=True):
    plan = cr.plan(robot, points, method=method)
    t = np.linspace(0.0, plan.duration, 400)
    ax.plot(t, plan(t)[1], label=robot.joint_names)
    ax.set(xlabel="time, s", title=method.replace("_", " "))
axes[0].set_ylabel("speed, rad/s or m/s")
axes[0].legend()

"""
Gravity over two angles
=======================

What the first motor of a planar arm holds, in every posture.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("planar_2r")
angles = np.linspace(-np.pi, np.pi, 181)
q = np.stack(np.meshgrid(angles, angles), axis=-1)
figure, ax = plt.subplots(figsize=(5, 4))
colors = ax.contourf(angles, angles, robot.gravity_torque(q)[..., 0], levels=15, cmap="RdBu")
ax.set(xlabel="joint 1, rad", ylabel="joint 2, rad", title="torque of joint 1 against gravity, N m")
figure.colorbar(colors)

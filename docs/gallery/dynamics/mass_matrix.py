"""
The mass matrix of a Panda
==========================

Each entry is the torque of one joint for a unit acceleration of another.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("panda")
M = robot.mass_matrix(robot.home())
figure, ax = plt.subplots(figsize=(5, 4))
colors = ax.imshow(M, cmap="RdBu", vmin=-np.abs(M).max(), vmax=np.abs(M).max())
ax.set(
    xlabel="joint",
    ylabel="joint",
    title="M, kg m²",
    xticks=range(7),
    yticks=range(7),
    xticklabels=range(1, 8),
    yticklabels=range(1, 8),
)
figure.colorbar(colors)

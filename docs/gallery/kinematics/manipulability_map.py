"""
Where the hand can do most
==========================

Manipulability of a planar arm of three links over two of its angles. It is zero where all links are in one line.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("planar_3r")
angles = np.linspace(-np.pi, np.pi, 181)
second, third = np.meshgrid(angles, angles)
q = np.stack([np.zeros_like(second), second, third], axis=-1)
figure, ax = plt.subplots(figsize=(5, 4))
colors = ax.pcolormesh(angles, angles, robot.manipulability(q))
ax.set(xlabel="joint 2, rad", ylabel="joint 3, rad", title="manipulability")
figure.colorbar(colors)

"""
Where wheels believe to be
==========================

A robot of two wheels on an arc, and how the uncertainty of its odometry grows.
"""

import matplotlib.pyplot as plt
import numpy as np

from chainrule.wheels import DifferentialDrive, odometry

drive = DifferentialDrive(radius=0.1, separation=0.4)
track = odometry(drive, np.tile([5.0, 6.0], (60, 1)), dt=0.1, noise=2e-3)
figure, ax = plt.subplots(figsize=(5, 4))
ax.plot(*track.pose[:, :2].T)
turn = np.linspace(0.0, 2.0 * np.pi, 60)
for pose, covariance in zip(track.pose[::15], track.covariance[::15], strict=True):
    values, axes = np.linalg.eigh(covariance[:2, :2])
    ellipse = axes @ (2.0 * np.sqrt(np.maximum(values, 0.0))[:, None] * np.array([np.cos(turn), np.sin(turn)]))
    ax.plot(*(pose[:2, None] + ellipse), color="tab:red")
ax.set(xlabel="x, m", ylabel="y, m", aspect="equal")

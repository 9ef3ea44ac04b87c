"""
Torques of a thousand payloads
==============================

A sweep is one batch of one compiled function.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("panda")
mass = np.linspace(0.0, 5.0, 1000)
payload = np.zeros((1000, 4))
payload[:, 0] = mass
tau = robot.at({"panda_link8.payload": payload}).gravity_torque(robot.home())
figure, ax = plt.subplots(figsize=(6, 3))
ax.plot(mass, np.abs(tau) / robot.limits.effort, label=robot.joint_names)
ax.set(xlabel="payload, kg", ylabel="torque, share of the limit")
ax.legend(fontsize="small")

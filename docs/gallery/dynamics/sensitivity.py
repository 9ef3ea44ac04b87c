"""
Which mass matters
==================

The derivative of the first joint's torque with respect to the mass of each link.
"""

import matplotlib.pyplot as plt
import numpy as np

import chainrule as cr

robot = cr.load("panda")
links = [name for name, link in robot.links.items() if link.mass > 0][1:]
change = [robot.edit({f"{name}.mass": robot.links[name].mass + 0.1}).gravity_torque(robot.home())[1] for name in links]
figure, ax = plt.subplots(figsize=(6, 3))
ax.bar(links, (np.array(change) - robot.gravity_torque(robot.home())[1]) / 0.1)
ax.tick_params(axis="x", rotation=30)
ax.set(ylabel="N m of joint 2 for each kg")

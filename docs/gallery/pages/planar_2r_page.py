"""
A planar arm in a page
======================

One file of HTML, without a server and without a network. The frame at the end is the page itself.
"""

import chainrule as cr

robot = cr.load("planar_2r")
robot.show(path="planar_2r.html")
figure = robot.plot(names=False)

# %%
# .. robot:: planar_2r

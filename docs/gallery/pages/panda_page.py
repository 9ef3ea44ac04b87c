"""
A Panda in a page
=================

One file of HTML, without a server and without a network. The frame at the end is the page itself.
"""

import chainrule as cr

robot = cr.load("panda")
robot.show(path="panda.html")
figure = robot.plot(names=False)

# %%
# .. robot:: panda

"""
A four-bar linkage in a page
============================

One file of HTML, without a server and without a network. The frame at the end is the page itself.
"""

import chainrule as cr

robot = cr.load("four_bar")
robot.show(path="four_bar.html")
figure = robot.plot(names=False)

# %%
# .. robot:: four_bar

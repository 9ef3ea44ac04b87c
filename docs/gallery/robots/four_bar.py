"""
A four-bar linkage in three postures
====================================

The crank is held at an angle, and the loop is closed. Earlier postures are paler.
"""

import chainrule as cr

robot = cr.load("four_bar")
turns = [robot.loops.close([angle, 0, 0], hold=["crank"]) for angle in (2.2, 1.2, 0.2)]
figure = robot.plot(turns, frames=False)

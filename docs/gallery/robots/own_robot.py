"""
A robot of one's own
====================

Ten lines of code, no file.
"""

import chainrule as cr

robot = (
    cr.build("crane", along="z")
    .revolute("turn", axis="z", effort=200.0)
    .link("mast", mass=40.0, length=1.2)
    .revolute("lift", axis="y", lower=-0.2, upper=1.3, effort=400.0)
    .link("boom", mass=15.0, length=1.5, along="x")
    .prismatic("reach", axis="x", lower=0.0, upper=1.0, effort=300.0)
    .link("jib", mass=6.0, length=1.0, along="x")
    .frame("hook")
    .robot()
)
figure = robot.plot([0.5, -0.1, 0.4])

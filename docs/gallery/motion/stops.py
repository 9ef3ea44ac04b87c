"""
A joint between two stops
=========================

Each impact takes a part of the energy; what is lost is accounted for.
"""

import chainrule as cr

robot = cr.load("pendulum").edit({"hinge.lower": -0.8, "hinge.upper": 0.8})
motion = robot.simulate([0.7], [3.0], 4.0, stops=cr.Impacts(0.7))
figure = motion.plot(quantities=["q", "qd", "energy"])

"""
A UR5e
======

An arm of six joints, and the frames of all its links.
"""

import chainrule as cr

figure = cr.load("ur5e").plot(frames=True)

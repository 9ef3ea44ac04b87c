"""
A Unitree Go2
=============

A quadruped on a free joint, without the names of its joints.
"""

import chainrule as cr

figure = cr.load("go2").plot(names=False)

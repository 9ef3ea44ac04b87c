"""
Denavit and Hartenberg, modified
================================

Frames and parameters, derived from the robot.
"""

import chainrule as cr

figure = cr.load("puma560").textbook.dh_figure(convention="modified")

"""
Screw axes
==========

The axes of the product of exponentials.
"""

import chainrule as cr

figure = cr.load("ur5").textbook.screw_figure()

"""
The phase portrait of a pendulum
================================

Grey lines show where it goes without torque.
"""

import chainrule as cr

figure = cr.load("pendulum").simulate([2.6], None, 3.0).plot_phase()

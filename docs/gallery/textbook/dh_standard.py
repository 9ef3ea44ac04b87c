"""
Denavit and Hartenberg, standard
================================

The other convention, of the same arm.
"""

import chainrule as cr

figure = cr.load("scara").textbook.dh_figure(convention="standard")

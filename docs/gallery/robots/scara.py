"""
A SCARA
=======

Three joints turn about vertical axes, one slides.
"""

import chainrule as cr

figure = cr.load("scara").plot()

"""
An SO-101
=========

A small arm that people print.
"""

import chainrule as cr

figure = cr.load("so101").plot()

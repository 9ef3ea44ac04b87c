"""
An arm in space with its symbols
================================

The projection is chosen so that axes, joints and links do not coincide.
"""

import chainrule as cr

figure = cr.load("stanford").textbook.figure()

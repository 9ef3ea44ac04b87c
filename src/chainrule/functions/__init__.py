"""The table of functions of a robot, and their evaluation as they are written."""

from chainrule.functions.table import FUNCTIONS, Function

__all__ = ["FUNCTIONS", "Function"]

"""chainrule: kinematics and dynamics of robots, each algorithm written once.

>>> import chainrule as cr
>>> robot = cr.load("planar_2r")
>>> robot.mass_matrix([0.0, 0.0]).tolist()
[[5.0, 2.0], [2.0, 1.0]]
"""

from chainrule.lazy import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__, "chainrule.robot.advice")  # the names are in __init__.pyi
__all__ += ["__version__"]

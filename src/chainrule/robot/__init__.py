"""The Robot, the ways to make one, and the bundled ones."""

from chainrule.robot.robot import Robot

__all__ = ["Robot"]

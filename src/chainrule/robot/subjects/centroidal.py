"""`robot.centroidal`: the center of mass, and the momentum about it."""

from __future__ import annotations

from chainrule.core.subject import RobotSubject, method
from chainrule.dynamics import centroidal


class Centroidal(RobotSubject):
    """The momentum about the center of mass, and the velocity of that."""

    momentum = method(centroidal.momentum)
    matrix = method(centroidal.matrix)
    com_jacobian = method(centroidal.com_jacobian)

"""`robot.loops`: closed loops."""

from __future__ import annotations

from chainrule.core.subject import RobotSubject, method
from chainrule.loops import constraints, mobility, motion
from chainrule.loops import forces as statics


class Loops(RobotSubject):
    """The closed loops of a robot: closing them, their equations, mobility, motions and forces."""

    close = method(constraints.close)
    closing_step = method(constraints.closing_step)
    mobility = method(mobility.mobility)
    residual = method(constraints.residual)
    jacobian = method(constraints.jacobian)
    velocity_terms = method(constraints.velocity_terms)
    poses = method(constraints.poses)
    forces = method(statics.forces)
    motion_forces = method(statics.motion_forces)
    torques = method(statics.torques)
    consistent_velocity = method(motion.consistent_velocity)
    consistent_acceleration = method(motion.consistent_acceleration)

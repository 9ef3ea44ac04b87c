"""`robot.loops`: closed loops."""

from __future__ import annotations

from chainrule.core.subject import RobotSubject, method
from chainrule.loops import closure, mobility, motion
from chainrule.loops import forces as statics


class Loops(RobotSubject):
    """The closed loops of a robot: closing them, their equations, mobility, motions and forces."""

    close = method(closure.close)
    closing_step = method(closure.closing_step)
    mobility = method(mobility.mobility)
    residual = method(closure.residual)
    jacobian = method(closure.jacobian)
    velocity_terms = method(closure.velocity_terms)
    poses = method(closure.poses)
    forces = method(statics.forces)
    motion_forces = method(statics.motion_forces)
    torques = method(statics.torques)
    consistent_velocity = method(motion.consistent_velocity)
    consistent_acceleration = method(motion.consistent_acceleration)

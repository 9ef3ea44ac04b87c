"""`robot.analysis`: singularities, ellipsoids, null spaces, and how much a robot can push and carry."""

from __future__ import annotations

from chainrule import lazy
from chainrule.core.subject import RobotSubject, method
from chainrule.dynamics.dynamics import apply_inverse_mass, spring_forces
from chainrule.kinematics import capacity, differential, manipulability, reduced, singularities, tasks


class Analysis(RobotSubject):
    """Analysis of a posture: motions that are lost, directions that are easy, forces within limits."""

    singularity = method(singularities.singularity)
    condition_number = method(singularities.condition_number)
    task_rank = method(tasks.task_rank)
    ellipsoid = method(manipulability.ellipsoid)
    dynamic_manipulability = method(manipulability.dynamic_manipulability)
    gradient = method(manipulability.gradient)
    null_space = method(differential.null_space)
    resolved_rate = method(differential.resolved_rate)
    resolved_acceleration = method(differential.resolved_acceleration)
    reduced_jacobian = method(reduced.reduced_jacobian)
    payload = method(capacity.payload)
    push = method(capacity.push)
    wrench_capacity = method(capacity.wrench_capacity)
    apply_inverse_mass = method(apply_inverse_mass)
    spring_forces = method(spring_forces)
    plot = lazy.method("chainrule.plots.manipulability", "plot_manipulability", method)

"""`robot.textbook`: the forms that textbooks print."""

from __future__ import annotations

from chainrule import lazy
from chainrule.core.subject import RobotSubject, method
from chainrule.dynamics import textbook as dynamics
from chainrule.dynamics import unit_check
from chainrule.kinematics import moving_point, poses
from chainrule.kinematics import textbook as kinematics
from chainrule.robot import building, edits
from chainrule.simulation.state_dot import state_dot


class Textbook(RobotSubject):
    """Recursions as tables, products of exponentials, the closed matrix form, the DAE, DH and screws, units."""

    newton_euler_table = method(dynamics.newton_euler_table)
    rnea_table = method(dynamics.rnea_table)
    velocity_table = method(kinematics.velocity_table)
    exponential_table = method(kinematics.exponential_table)
    velocity_terms = method(moving_point.velocity_terms)
    acceleration_terms = method(moving_point.acceleration_terms)
    matrix_form = method(dynamics.matrix_form)
    dae = lazy.method("chainrule.dynamics.dae", "dae", method)
    dae_equations = lazy.method("chainrule.symbolic.closed_form.dae", "dae_equations", method)
    parent_child = lazy.method("chainrule.symbolic.closed_form.parent_child", "parent_child", method)
    dae_residual = lazy.method("chainrule.simulation.dae_residual", "dae_residual", method)
    simulate_maximal = lazy.method("chainrule.simulation.maximal", "simulate_maximal", method)
    state_dot = method(state_dot)
    analytic_jacobian = method(poses.analytic_jacobian)
    pose_vector = method(poses.pose_vector)
    angles_are_singular = method(poses.angles_are_singular)
    to_dh = method(building.to_dh)
    to_screws = method(building.to_screws)
    with_frames_at_mass_centers = method(edits.with_frames_at_mass_centers)
    figure = lazy.method("chainrule.figures.textbook", "figure", method)
    dh_figure = lazy.method("chainrule.figures.dh", "dh_figure", method)
    free_body = lazy.method("chainrule.figures.free_body", "free_body", method)
    velocity_figure = lazy.method("chainrule.figures.velocities", "velocity_figure", method)
    screw_figure = lazy.method("chainrule.figures.screws", "screw_figure", method)
    check_units = method(unit_check.check_units)

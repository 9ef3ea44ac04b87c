"""Old module paths of the algorithms offer what they offered."""

from importlib import import_module

import pytest

OLD = {
    "constraints": (
        "Tie ties residual wrenches_of wrench_rates residuals constraint_jacobian relative_screws velocity_terms "
        "relative_motion chosen constrained_dynamics constrained_motion closing_step consistent_velocity "
        "consistent_acceleration constraint_wrenches loop_wrenches Rows"
    ),
    "loop_torques": "loop_torques shared_torque",
    "drives": "drive_torque armature rotor_torque spring_torque friction_torque dry_friction stop_torque",
}


@pytest.mark.parametrize("module", OLD)
def test_every_name_is_there(module):
    old = import_module(f"chainrule.algorithms.{module}")
    assert all(hasattr(old, name) for name in OLD[module].split())
    assert not hasattr(old, "no_such_name")


def test_a_name_is_the_thing_of_today():
    from chainrule.algorithms.constraints import constrained_dynamics, ties

    from chainrule.algorithms import loop_dynamics, loop_equations

    assert ties is loop_equations.posed_constraints
    assert constrained_dynamics is loop_dynamics.constrained_dynamics

"""`chainrule demo`: a robot's tree, its mass matrix, torques at a state, and identities that hold there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import (
    ConsoleTable,
    command,
    degrees_option,
    json_option,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.info import heading, tree
from chainrule.cli.joints import (
    coordinate_units,
    describe_positions,
    in_shown_units,
    joint_table,
    velocities_in_shown_units,
    velocity_units,
)
from chainrule.cli.torque import torque_table

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

DIFFERENCE_STEP_S = 1e-6
"""The time by which the mass matrix is moved along qd, to both sides, for its derivative."""


class Identity(NamedTuple):
    """An identity at a state: its name, by how much it is off, and by how much it may be."""

    name: str
    error: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the error is that of rounding."""
        return self.error < self.tolerance


@command(
    "chainrule demo", "chainrule demo ur5 --degrees", "chainrule demo planar_2r --json", failure="an identity fails"
)
@degrees_option
@json_option
@partial(robot_options, default="panda")
def demo(robot: Robot, degrees: bool, as_json: bool) -> None:
    """A tour in seconds: a robot's tree, its mass matrix, torques, and three identities checked."""
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    qd = robot.loops.consistent_velocity(q, qd)
    qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    terms = robot.torque_terms(q, qd, qdd)
    checks = identities(robot, q, qd, qdd)
    if as_json:
        facts = {
            "robot": robot.name, **describe_positions(robot, q, degrees=degrees), "dofs": robot.velocity_names,
            "qd": velocities_in_shown_units(robot, qd, degrees=degrees),
            "qdd": velocities_in_shown_units(robot, qdd, degrees=degrees), "mass_matrix": robot.mass_matrix(q),
            "torques": terms, "identities": [{**check._asdict(), "holds": check.holds} for check in checks],
        }  # fmt: skip
        print_json(facts)
    else:
        console = terminal()
        console.print(f"{heading(robot)}\n")
        console.print(tree(robot))
        console.print("\na random state within the joint limits")
        console.print(_configuration(robot, q, degrees))
        console.print(_rates(robot, qd, qdd, degrees))
        console.print("\nmass matrix M(q), in kg m^2, kg m and kg")
        for row in robot.mass_matrix(q):
            console.print("  " + " ".join(f"{x: 9.4f}" for x in row))
        console.print("\ntorques")
        console.print(torque_table(robot, terms))
        console.print("\nidentities")
        for check in checks:
            verdict = "[green]holds[/green]" if check.holds else "[red]FAILS[/red]"
            console.print(f"  {verdict}  {check.name}: off by {check.error:.1e}")
    if not all(check.holds for check in checks):
        raise SystemExit(1)


def _configuration(robot: Robot, q: Array, degrees: bool) -> ConsoleTable:
    """A row for each coordinate."""
    columns = {"q": [f"{x: .4f}" for x in in_shown_units(robot, q, degrees=degrees)]}
    return joint_table("coordinate", robot.coordinate_names, coordinate_units(robot, degrees=degrees), columns)


def _rates(robot: Robot, qd: Array, qdd: Array, degrees: bool) -> ConsoleTable:
    """A row for each degree of freedom."""
    shown = {"qd": qd, "qdd (unit/s)": qdd}
    columns = {
        name: [f"{x: .4f}" for x in velocities_in_shown_units(robot, rates, degrees=degrees)]
        for name, rates in shown.items()
    }
    return joint_table("velocity", robot.velocity_names, velocity_units(robot, degrees=degrees), columns)


def identities(robot: Robot, q: Array, qd: Array, qdd: Array) -> list[Identity]:
    """Three identities of the dynamics at a state, and how well they hold."""
    M = robot.mass_matrix(q)
    tau = robot.inverse_dynamics(q, qd, qdd)
    checks = [_identity("forward dynamics undoes inverse dynamics", robot.forward_dynamics(q, qd, tau), qdd)]
    if robot.model.constraints:
        with_loops = tau - robot.torque_terms(q, qd, qdd)["loop"]
        checks.append(_identity("tau + G^T lambda = M qdd + h", M @ qdd + robot.bias(q, qd), with_loops))
    else:
        checks.append(_identity("tau = M qdd + h", M @ qdd + robot.bias(q, qd), tau))
    h = DIFFERENCE_STEP_S
    ahead, behind = (robot.mass_matrix(robot.integrate(q, step * qd)) for step in (h, -h))
    skew = (ahead - behind) / (2 * h) - 2 * robot.coriolis_matrix(q, qd)
    return [*checks, _identity("dM/dt - 2 C is skew-symmetric (dM/dt by differences)", skew, -skew.T, 1e-6)]


def _identity(name: str, left: Array, right: Array, tolerance: float = 1e-9) -> Identity:
    error = float(np.abs(left - right).max(initial=0.0)) / max(1.0, float(np.abs(right).max(initial=0.0)))
    return Identity(name, error, tolerance)

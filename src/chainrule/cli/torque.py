"""`chainrule torque`: joint torques of a state by their causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np
from rich.table import Table

from chainrule.arguments import Array
from chainrule.cli.console import NUMBERS, in_radians, load_robot, plain, print_json, terminal

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

ROUNDING = 1e-13
"""Terms below this share of the largest term are printed as zero."""


@click.command()
@click.argument("robot")
@click.option("--q", type=NUMBERS, help="Positions, rad or m; zero if left out.")
@click.option("--qd", type=NUMBERS, help="Velocities.")
@click.option("--qdd", type=NUMBERS, help="Accelerations.")
@click.option("--tip-wrench", type=NUMBERS, help="Moment and force of the end-effector on its surroundings, 6 numbers.")
@click.option("--degrees", is_flag=True, help="Angles, and their rates, are in degrees.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def torque(
    robot: str,
    q: Array | None,
    qd: Array | None,
    qdd: Array | None,
    tip_wrench: Array | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint torques of a state, by their causes: inertial, centrifugal, Coriolis, gravity, friction."""
    loaded = load_robot(robot)
    q = loaded.neutral() if q is None else q
    qd = np.zeros(loaded.n) if qd is None else qd
    qdd = np.zeros(loaded.n) if qdd is None else qdd
    if degrees:
        q, qd, qdd = (in_radians(loaded, values) for values in (q, qd, qdd))
    terms = _terms(loaded, q, qd, qdd, tip_wrench)
    if as_json:
        names = list(loaded.layout.velocity_names)
        print_json({"robot": loaded.name, "dofs": names, **{k: v.tolist() for k, v in terms.items()}})
    else:
        terminal().print(torque_table(loaded, terms))


def _terms(robot: Robot, q: Array, qd: Array, qdd: Array, tip_wrench: Array | None) -> dict[str, Array]:
    """The torque terms, with that of a wrench at the tip."""
    terms = robot.torque_terms(q, qd, qdd)
    total = robot.inverse_dynamics(q, qd, qdd, tip_wrench=tip_wrench)
    if tip_wrench is None:
        return terms
    return {**terms, "tip wrench": total - terms["total"], "total": total}


def torque_table(robot: Robot, terms: dict[str, Array]) -> Table:
    """A row for each degree of freedom, a column for each cause."""
    columns = [term for term, values in terms.items() if term != "spring" or values.any()]
    table = Table("", "", *columns, box=None, padding=(0, 1, 0, 0))
    smallest = ROUNDING * max((np.abs(values).max(initial=0.0) for values in terms.values()), default=0.0)
    for i, velocity in enumerate(robot.layout.velocities):
        values = (f"{terms[term][i]: .5g}" if not abs(terms[term][i]) <= smallest else " 0" for term in columns)
        table.add_row(plain(velocity.name), "N m" if velocity.unit == "rad" else "N", *values)
    return table

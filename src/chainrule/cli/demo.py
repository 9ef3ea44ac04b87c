"""`chainrule demo`: a robot's tree, its mass matrix, torques at a state, and identities that hold there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import load_robot, terminal
from chainrule.cli.info import heading, tree
from chainrule.cli.torque import torque_table

if TYPE_CHECKING:
    from rich.console import Console

    from chainrule.robot.robot import Robot

DIFFERENCE_STEP_S = 1e-6
"""The time by which the mass matrix is moved along qd, to both sides, for its derivative."""


@click.command()
@click.argument("robot", default="panda")
def demo(robot: str) -> None:
    """A tour in seconds: a robot's tree, its mass matrix, torques, and three identities checked."""
    loaded, console = load_robot(robot), terminal()
    console.print(f"{heading(loaded)}\n")
    console.print(tree(loaded))
    rng = np.random.default_rng(0)
    q, qd, qdd = loaded.random_state(rng), rng.normal(size=loaded.n), rng.normal(size=loaded.n)
    qd = loaded.consistent_velocity(q, qd)
    qdd = loaded.consistent_acceleration(q, qd, qdd)
    for name, values in (("q  ", q), ("qd ", qd), ("qdd", qdd)):
        console.print(f"{name} = " + " ".join(f"{x: .4f}" for x in values))
    console.print("\nmass matrix M(q)")
    for row in loaded.mass_matrix(q):
        console.print("  " + " ".join(f"{x: 9.4f}" for x in row))
    console.print("\ntorques")
    console.print(torque_table(loaded, loaded.torque_terms(q, qd, qdd)))
    console.print("\nidentities")
    _print_identities(console, loaded, q, qd, qdd)


def _print_identities(console: Console, robot: Robot, q: Array, qd: Array, qdd: Array) -> None:
    M = robot.mass_matrix(q)
    tau = robot.inverse_dynamics(q, qd, qdd)
    _print_identity(console, "forward dynamics undoes inverse dynamics", robot.forward_dynamics(q, qd, tau), qdd)
    if robot.model.constraints:
        with_loops = tau - robot.torque_terms(q, qd, qdd)["loop"]
        _print_identity(console, "tau + G^T lambda = M qdd + h", M @ qdd + robot.bias(q, qd), with_loops)
    else:
        _print_identity(console, "tau = M qdd + h", M @ qdd + robot.bias(q, qd), tau)
    h = DIFFERENCE_STEP_S
    ahead, behind = (robot.mass_matrix(robot.integrate(q, step * qd)) for step in (h, -h))
    skew = (ahead - behind) / (2 * h) - 2 * robot.coriolis_matrix(q, qd)
    _print_identity(console, "dM/dt - 2 C is skew-symmetric (dM/dt by differences)", skew, -skew.T, 1e-6)


def _print_identity(console: Console, name: str, left: Array, right: Array, tolerance: float = 1e-9) -> None:
    error = float(np.abs(left - right).max(initial=0.0)) / max(1.0, float(np.abs(right).max(initial=0.0)))
    verdict = "[green]holds[/green]" if error < tolerance else "[red]FAILS[/red]"
    console.print(f"  {verdict}  {name}: off by {error:.1e}")

"""`chainrule info`: the bundled robots, or all about one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.tree import Tree

from chainrule.cli.console import load_robot, plain, terminal
from chainrule.robot.library import load, robots

if TYPE_CHECKING:
    from chainrule.model import Joint
    from chainrule.robot.robot import Robot


@click.command()
@click.argument("robot", required=False)
def info(robot: str | None) -> None:
    """Show a robot: its tree, joints, limits, masses and where its numbers come from. Without ROBOT, list them."""
    if robot is None:
        print_bundled()
    else:
        print_robot(load_robot(robot))


def print_bundled() -> None:
    """Print the bundled robots, a line each."""
    table = Table("robot", "dof", "links", "what it is", box=None)
    for name in robots():
        robot = load(name)
        table.add_row(name, str(robot.n), str(len(robot.link_names)), robot.model.notes[0])
    terminal().print(table)


def print_robot(robot: Robot) -> None:
    """Print a robot: its tree, its joints in the order of q, its masses, its notes."""
    console = terminal()
    console.print(heading(robot))
    console.print(tree(robot))
    console.print(_joints(robot))
    console.print(_links(robot))
    if robot.model.frames:
        console.print("frames: " + ", ".join(f"{plain(f.name)} on {plain(f.link)}" for f in robot.model.frames))
    for constraint in robot.model.constraints:
        ends = f"{plain(constraint.link_a)} and {plain(constraint.link_b)}"
        console.print(f"constraint: {plain(constraint.name)} ({constraint.kind}) ties {ends}")
    tips = robot.model.tips
    effector = robot.model.end_effector or (tips[0] if len(tips) == 1 else None)
    console.print(
        f"end-effector: {plain(effector) if effector else 'none named; tips are ' + ', '.join(map(plain, tips))}"
    )
    gravity = ", ".join(f"{g:g}" for g in robot.gravity)
    console.print(f"gravity: ({gravity}) m/s^2; moving mass: {robot.mass:.6g} kg")
    for note in robot.model.notes:
        console.print(f"note: {plain(note)}")


def heading(robot: Robot) -> str:
    """The robot's name, degrees of freedom and number of links, as markup."""
    coordinates = "" if robot.nq == robot.nv else f" ({robot.nq} coordinates)"
    size = f"{robot.n} degrees of freedom{coordinates}, {len(robot.link_names)} links"
    return f"[bold]{plain(robot.name)}[/bold]: {size}"


def tree(robot: Robot) -> Tree:
    """The links of a robot, each below its parent, with the joints between them."""
    model = robot.model
    branches = [Tree(plain(model.links[0].name))]
    for body in model.bodies:
        branches.append(branches[body.parent].add(f"{plain(body.link.name)}  [dim]{_joint(body.joint)}[/dim]"))
    return branches[0]


def _joint(joint: Joint) -> str:
    mimic = f", follows {plain(joint.mimic.joint)}" if joint.mimic else ""
    return f"{plain(joint.name)} ({joint.type}{mimic})"


def _joints(robot: Robot) -> Table:
    table = Table("q", "joint", "type", "lower", "upper", "velocity", "effort", "friction", "rotor", box=None)
    layout = robot.layout
    for joint, q, v in layout.joints:
        places = f"{q.start}" if q.stop - q.start == 1 else f"{q.start}-{q.stop - 1}"
        for k, velocity in enumerate(layout.velocities[v]):
            dof, unit = velocity.dof, velocity.unit
            friction = f"{dof.viscous:.4g}, {dof.coulomb:.4g}/{dof.coulomb_negative:.4g}"
            table.add_row(
                places if k == 0 else "",
                plain(joint.name) if k == 0 else "",
                joint.type if k == 0 else "",
                *(f"{x:.4g}" for x in (dof.lower, dof.upper)),
                f"{dof.velocity:.4g} {unit}/s",
                f"{dof.effort:.4g} {'N m' if unit == 'rad' else 'N'}",
                friction if any((dof.viscous, dof.coulomb, dof.coulomb_negative)) else "-",
                f"{dof.armature:.4g}" if dof.rotor else "-",
            )
    return table


def _links(robot: Robot) -> Table:
    table = Table("link", "mass kg", "centre of mass m", "inertia kg m^2 (xx, yy, zz)", box=None)
    for link in robot.model.links:
        com = ", ".join(f"{x:.4g}" for x in link.com)
        inertia = ", ".join(f"{x:.4g}" for x in link.inertia.entries()[:3])
        table.add_row(plain(link.name), f"{link.mass:.6g}", com, inertia)
    return table

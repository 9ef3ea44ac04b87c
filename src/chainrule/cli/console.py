"""What the command line prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from chainrule.arguments import Array
from chainrule.robot.library import load, robots
from chainrule.simulation.trajectory import coordinate_names

if TYPE_CHECKING:
    from chainrule.model import Joint
    from chainrule.robot.robot import Robot
    from chainrule.simulation.trajectory import Trajectory


def _console() -> Console:
    """As wide as the terminal; what goes to a file or a pipe is never cut."""
    return Console(highlight=False, emoji=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)


def bundled() -> None:
    """The bundled robots, a line each."""
    table = Table("robot", "dof", "links", "what it is", box=None)
    for name in robots():
        robot = load(name)
        table.add_row(name, str(robot.n), str(len(robot.link_names)), robot.model.notes[0])
    _console().print(table)


def info(robot: Robot) -> None:
    """A robot: its tree, its joints in the order of q, its masses, its notes."""
    console = _console()
    console.print(f"[bold]{_plain(robot.name)}[/bold]: {_count(robot)}")
    console.print(_tree(robot))
    console.print(_joints(robot))
    console.print(_links(robot))
    if robot.model.frames:
        console.print("frames: " + ", ".join(f"{_plain(f.name)} on {_plain(f.link)}" for f in robot.model.frames))
    for constraint in robot.model.constraints:
        ends = f"{_plain(constraint.link_a)} and {_plain(constraint.link_b)}"
        console.print(f"constraint: {_plain(constraint.name)} ({constraint.kind}) ties {ends}")
    tips = robot.model.tips
    effector = robot.model.end_effector or (tips[0] if len(tips) == 1 else None)
    console.print(
        f"end-effector: {_plain(effector) if effector else 'none named; tips are ' + ', '.join(map(_plain, tips))}"
    )
    gravity = ", ".join(f"{g:g}" for g in robot.gravity)
    console.print(f"gravity: ({gravity}) m/s^2; moving mass: {robot.mass:.6g} kg")
    for note in robot.model.notes:
        console.print(f"note: {_plain(note)}")


def _count(robot: Robot) -> str:
    coordinates = "" if robot.nq == robot.nv else f" ({robot.nq} coordinates)"
    return f"{robot.n} degrees of freedom{coordinates}, {len(robot.link_names)} links"


def _plain(text: str) -> str:
    """Names and notes come from files: nothing in them is markup, and nothing commands the terminal."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def _tree(robot: Robot) -> Tree:
    model = robot.model
    branches = [Tree(_plain(model.links[0].name))]
    for body in model.bodies:
        branches.append(branches[body.parent].add(f"{_plain(body.link.name)}  [dim]{_joint(body.joint)}[/dim]"))
    return branches[0]


def _joint(joint: Joint) -> str:
    mimic = f", follows {_plain(joint.mimic.joint)}" if joint.mimic else ""
    return f"{_plain(joint.name)} ({joint.type}{mimic})"


def _joints(robot: Robot) -> Table:
    table = Table("q", "joint", "type", "lower", "upper", "velocity", "effort", "friction", "rotor", box=None)
    place = 0
    for joint in robot.model.moving:
        places = f"{place}" if joint.kind.nq == 1 else f"{place}-{place + joint.kind.nq - 1}"
        place += joint.kind.nq
        for k, (dof, unit) in enumerate(zip(joint.dofs, joint.kind.units, strict=True)):
            friction = f"{dof.viscous:.4g}, {dof.coulomb:.4g}/{dof.coulomb_negative:.4g}"
            table.add_row(
                places if k == 0 else "",
                _plain(joint.name) if k == 0 else "",
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
        table.add_row(_plain(link.name), f"{link.mass:.6g}", com, inertia)
    return table


def in_radians(robot: Robot, values: Array) -> Array:
    """Degrees to radians, for the coordinates that are angles; lengths and quaternions stay."""
    angles: list[bool] = []
    for joint in robot.model.moving:
        wide = joint.kind.nq if len(values) == robot.nq else joint.kind.nv
        flat = joint.kind.nq == joint.kind.nv
        angles += [unit == "rad" for unit in joint.kind.units] if flat else [False] * wide
    if len(angles) != len(values):
        return values
    return np.where(angles, np.radians(values), values)


def torque(
    robot: Robot, q: Array, qd: Array, qdd: Array, *, tip_wrench: Array | None = None, as_json: bool = False
) -> None:
    """Torques of a state by their causes."""
    terms = robot.torque_terms(q, qd, qdd)
    total = robot.inverse_dynamics(q, qd, qdd, tip_wrench=tip_wrench)
    if tip_wrench is not None:
        terms = {**terms, "tip wrench": total - terms["total"], "total": total}
    if as_json:
        print(json.dumps({"robot": robot.name, "dofs": _dof_names(robot), **{k: v.tolist() for k, v in terms.items()}}))
        return
    shown = [term for term, values in terms.items() if term != "spring" or values.any()]
    table = Table("", "", *shown, box=None, padding=(0, 1, 0, 0))
    units = [unit for joint in robot.model.moving for unit in joint.kind.units]
    dust = 1e-13 * max((np.abs(values).max(initial=0.0) for values in terms.values()), default=0.0)
    for i, name in enumerate(_dof_names(robot)):
        values = (f"{terms[term][i]: .5g}" if not abs(terms[term][i]) <= dust else " 0" for term in shown)
        table.add_row(_plain(name), "N m" if units[i] == "rad" else "N", *values)
    _console().print(table)


def _dof_names(robot: Robot) -> list[str]:
    return [
        joint.name if joint.kind.nv == 1 else f"{joint.name}.{k}"
        for joint in robot.model.moving
        for k in range(joint.kind.nv)
    ]


def demo(robot: Robot) -> None:
    """Tree, mass matrix, torque terms at a state, and three identities that must hold there."""
    console = _console()
    console.print(f"[bold]{_plain(robot.name)}[/bold]: {_count(robot)}\n")
    console.print(_tree(robot))
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), rng.normal(size=robot.n), rng.normal(size=robot.n)
    qd = robot.consistent_velocity(q, qd)
    qdd = robot.consistent_acceleration(q, qd, qdd)
    _vector(console, "q  ", q)
    _vector(console, "qd ", qd)
    _vector(console, "qdd", qdd)
    M = robot.mass_matrix(q)
    console.print("\nmass matrix M(q)")
    for row in M:
        console.print("  " + " ".join(f"{x: 9.4f}" for x in row))
    console.print("\ntorques")
    torque(robot, q, qd, qdd)
    tau = robot.inverse_dynamics(q, qd, qdd)
    console.print("\nidentities")
    _identity(console, "forward dynamics undoes inverse dynamics", robot.forward_dynamics(q, qd, tau), qdd)
    if robot.model.constraints:
        carried = tau - robot.torque_terms(q, qd, qdd)["loop"]
        _identity(console, "tau + G^T lambda = M qdd + h", M @ qdd + robot.bias(q, qd), carried)
    else:
        _identity(console, "tau = M qdd + h", M @ qdd + robot.bias(q, qd), tau)
    step = 1e-6
    dM = (robot.mass_matrix(robot.integrate(q, step * qd)) - robot.mass_matrix(robot.integrate(q, -step * qd))) / (
        2 * step
    )
    skew = dM - 2 * robot.coriolis_matrix(q, qd)
    _identity(console, "dM/dt - 2 C is skew-symmetric (dM/dt by differences)", skew, -skew.T, 1e-6)


def _vector(console: Console, name: str, values: Sequence[float] | Array) -> None:
    console.print(f"{name} = " + " ".join(f"{x: .4f}" for x in values))


def _identity(console: Console, name: str, left: Array, right: Array, tolerance: float = 1e-9) -> None:
    error = float(np.abs(left - right).max(initial=0.0)) / max(1.0, float(np.abs(right).max(initial=0.0)))
    verdict = "[green]holds[/green]" if error < tolerance else "[red]FAILS[/red]"
    console.print(f"  {verdict}  {name}: off by {error:.1e}")


def motion(trajectory: Trajectory, *, as_json: bool = False) -> None:
    """A simulated motion: where each joint started and ended, how fast and how hard it went, and the energy."""
    names = coordinate_names(trajectory.robot)
    balance = float(np.abs(trajectory.energy_error).max()) if len(trajectory) else 0.0
    if as_json:
        facts = {
            "robot": trajectory.robot.name, "method": trajectory.method, "status": trajectory.status,
            "samples": len(trajectory), "t": trajectory.t[-1:].tolist(), "q": trajectory.q[-1].tolist(),
            "qd": trajectory.qd[-1].tolist(), "largest_tau": np.abs(trajectory.tau).max(axis=0).tolist(),
            "energy": trajectory.energy[[0, -1]].tolist(), "energy_error": balance,
        }  # fmt: skip
        print(json.dumps(facts))
        return
    console = _console()
    console.print(_plain(repr(trajectory)[1:-1]))
    ends = Table("coordinate", "start", "end", box=None)
    for k, name in enumerate(names[0]):
        ends.add_row(_plain(name), f"{trajectory.q[0, k]: .6g}", f"{trajectory.q[-1, k]: .6g}")
    console.print(ends)
    most = Table("velocity", "at the end", "largest", "largest torque", box=None)
    for k, name in enumerate(names[1]):
        speed, torque = (np.abs(a[:, k]).max() for a in (trajectory.qd, trajectory.tau))
        most.add_row(_plain(name), f"{trajectory.qd[-1, k]: .6g}", f"{speed:.6g}", f"{torque:.6g}")
    console.print(most)
    first, last = trajectory.energy[[0, -1]]
    work = trajectory.work[-1]
    console.print(
        f"energy: {first:.6g} J at the start, {last:.6g} J at the end; torques did {work[0]:.6g} J, friction and"
    )
    console.print(f"stops took {work[1]:.6g} J; not accounted for at any time: at most {balance:.2g} J")
    residual = trajectory.constraint_residual
    if residual.size:
        console.print(f"loops: open by at most {np.abs(residual).max():.2g}")

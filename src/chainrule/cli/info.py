"""`chainrule info`: the bundled robots, or all about one robot."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from chainrule.cli.console import (
    ConsoleTable,
    command,
    degrees_option,
    json_option,
    plain,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.joints import in_shown_units
from chainrule.robot.library import load, robots

if TYPE_CHECKING:
    from chainrule.model import Joint
    from chainrule.model.layout import Velocity
    from chainrule.robot.robot import Robot


@command(
    "chainrule info                       # the bundled robots",
    "chainrule info panda --degrees",
    "chainrule info arm.urdf --floating   # a file, with a free base",
    "chainrule info panda --json",
)
@degrees_option
@json_option
@partial(robot_options, required=False)
def info(robot: Robot | None, degrees: bool, as_json: bool) -> None:
    """Show a robot: its tree, joints, limits, masses and where its numbers come from. Without ROBOT, list them."""
    if robot is None:
        rows = bundled_robots()
        print_json(rows) if as_json else print_bundled(rows)
    elif as_json:
        print_json(describe(robot, degrees=degrees))
    else:
        print_robot(robot, degrees=degrees)


def bundled_robots() -> list[dict[str, Any]]:
    """The bundled robots: name, degrees of freedom, links, and what each is."""
    loaded = {name: load(name) for name in robots()}
    return [
        {"robot": name, "dof": robot.nv, "links": len(robot.link_names), "what": robot.model.notes[0]}
        for name, robot in loaded.items()
    ]


def print_bundled(rows: list[dict[str, Any]]) -> None:
    """Print the bundled robots, a line each."""
    table = ConsoleTable("robot", "dof", "links", "what it is")
    for row in rows:
        table.add_row(row["robot"], str(row["dof"]), str(row["links"]), row["what"])
    terminal().print(table)


def describe(robot: Robot, *, degrees: bool) -> dict[str, Any]:
    """The robot as JSON has it: what the tables show, by name."""
    model, layout = robot.model, robot.model.layout
    coordinates = [
        {"name": c.name, "joint": c.joint, "unit": _shown_unit(c.unit, degrees), "neutral": c.neutral}
        for c in layout.coordinates
    ]
    velocities = [{"name": v.name, "joint": v.joint, **_limits(v, degrees)} for v in layout.velocities]
    joints = [
        {
            "name": joint.name, "type": joint.type, "parent": joint.parent, "child": joint.child,
            "follows": joint.mimic.joint if joint.mimic else None,
        }
        for joint in model.joints
    ]  # fmt: skip
    links = [
        {"name": link.name, "mass": link.mass, "center_of_mass": [*link.com], "inertia": [*link.inertia.entries()]}
        for link in model.links
    ]
    return {
        "robot": robot.name, "dof": robot.nv, "coordinates": coordinates, "velocities": velocities, "joints": joints,
        "links": links, "frames": [{"name": f.name, "link": f.link} for f in model.frames],
        "constraints": [{"name": c.name, "kind": c.kind, "links": [c.link_a, c.link_b]} for c in model.constraints],
        "springs": [
            {
                "name": s.name, "links": [s.link_a, s.link_b], "stiffness": s.stiffness, "rest_length": s.rest_length,
                "damping": s.damping, "force": s.force,
            }
            for s in model.springs
        ],
        "configurations": {
            name: in_shown_units(robot, q, degrees=degrees) for name, q in robot.configurations.items()
        },
        "end_effector": end_effector(robot), "tips": [*model.tips], "gravity": robot.gravity, "mass": robot.mass,
        "conventions": conventions(robot),
        "notes": [*model.notes],
    }  # fmt: skip


def _limits(velocity: Velocity, degrees: bool) -> dict[str, Any]:
    dof, scale = velocity.dof, _scale(velocity.unit, degrees)
    return {
        "unit": f"{_shown_unit(velocity.unit, degrees)}/s", "lower": dof.lower * scale, "upper": dof.upper * scale,
        "velocity": dof.velocity * scale, "effort": dof.effort, "effort_unit": _effort_unit(velocity.unit),
        "passive": dof.passive,
        "viscous": dof.viscous, "coulomb": [dof.coulomb, dof.coulomb_negative],
        "static": [dof.static, dof.static_negative], "stribeck": dof.stribeck * scale,
        "ripple": [dof.ripple, dof.ripple_waves, dof.ripple_phase], "armature": dof.armature,
    }  # fmt: skip


def _shown_unit(unit: str, degrees: bool) -> str:
    return "deg" if degrees and unit == "rad" else unit


def _scale(unit: str, degrees: bool) -> float:
    return math.degrees(1.0) if degrees and unit == "rad" else 1.0


def _effort_unit(unit: str) -> str:
    return "N m" if unit == "rad" else "N"


def end_effector(robot: Robot) -> str | None:
    """The link or frame that is the end-effector, if one is named or there is only one tip."""
    tips = robot.model.tips
    return robot.model.end_effector or (tips[0] if len(tips) == 1 else None)


def print_robot(robot: Robot, *, degrees: bool = False) -> None:
    """Print a robot: its tree, its joints in the order of q, its masses, its notes."""
    console = terminal()
    console.print(heading(robot))
    console.print(tree(robot))
    console.print()
    console.print(_joints(robot, degrees))
    console.print()
    console.print(_links(robot))
    console.print()
    if robot.model.frames:
        console.print("frames: " + ", ".join(f"{plain(f.name)} on {plain(f.link)}" for f in robot.model.frames))
    for constraint in robot.model.constraints:
        ends = f"{plain(constraint.link_a)} and {plain(constraint.link_b)}"
        console.print(f"constraint: {plain(constraint.name)} ({constraint.kind}) ties {ends}")
    for spring in robot.model.springs:
        ends = f"{plain(spring.link_a)} and {plain(spring.link_b)}"
        console.print(f"spring: {plain(spring.name)} between {ends}, {spring.stiffness:g} N/m")
    if robot.configurations:
        console.print(f"configurations: {', '.join(map(plain, robot.configurations))}")
    effector = end_effector(robot)
    tips = ", ".join(map(plain, robot.model.tips))
    console.print(f"end-effector: {plain(effector) if effector else f'none named; tips are {tips}'}")
    gravity = ", ".join(f"{g:g}" for g in robot.gravity)
    console.print(f"gravity: ({gravity}) m/s^2, in base axes; moving mass: {robot.mass:.6g} kg")
    for subject, text in conventions(robot).items():
        console.print(f"{subject}: {text}", style="dim")
    for note in robot.model.notes:
        console.print(f"note: {plain(note)}")


def conventions(robot: Robot) -> dict[str, str]:
    """Order, units and frames of what the robot's functions take and give, by subject, in words."""
    quaternions = "; quaternions are (x, y, z, w), their joints' velocities in the axes of the child"
    return {
        "order": "q, qd and tau are in the order of the table" + (quaternions if robot.model.quaternions else ""),
        "velocities and Jacobians": "angular part first; of the frame's origin, in base axes (frame world)",
        "wrenches": "moment first; about the frame's origin, in base axes (frame world)",
    }


def heading(robot: Robot) -> str:
    """The robot's name, degrees of freedom and number of links, as markup."""
    coordinates = "" if robot.nq == robot.nv else f" ({robot.nq} coordinates)"
    freedom = "degree of freedom" if robot.nv == 1 else "degrees of freedom"
    size = f"{robot.nv} {freedom}{coordinates}, {len(robot.link_names)} links"
    return f"[bold]{plain(robot.name)}[/bold]: {size}"


def tree(robot: Robot) -> str:
    """The links of a robot as lines of markup, each with the joint that hangs it on the link above it.

    A chain goes straight down; lines go in where it branches.
    """
    model = robot.model
    hanging: list[list[int]] = [[] for _ in model.links]
    for k, body in enumerate(model.bodies, 1):
        hanging[body.parent].append(k)
    lines = [plain(model.links[0].name)]
    below = [(k, "", len(hanging[0]) > 1, k == hanging[0][-1]) for k in reversed(hanging[0])]
    while below:
        k, indent, branches, last = below.pop()
        body = model.bodies[k - 1]
        mark = ("└── " if last else "├── ") if branches else ""
        lines.append(f"{indent}{mark}{plain(body.link.name)}  [dim]{_joint(body.joint)}[/dim]")
        indent += ("    " if last else "│   ") if branches else ""
        below += [(i, indent, len(hanging[k]) > 1, i == hanging[k][-1]) for i in reversed(hanging[k])]
    return "\n".join(lines)


def _joint(joint: Joint) -> str:
    mimic = f", follows {plain(joint.mimic.joint)}" if joint.mimic else ""
    return f"{plain(joint.name)} ({joint.type}{mimic})"


def _joints(robot: Robot, degrees: bool) -> ConsoleTable:
    """A row for each degree of freedom; friction is viscous and Coulomb (both directions)."""
    layout = robot.model.layout
    has_friction = any(dof.viscous or dof.coulomb or dof.coulomb_negative for dof in layout.dofs)
    has_rotors = any(dof.rotor for dof in layout.dofs)
    further = ["friction"] * has_friction + ["rotor kg m^2"] * has_rotors
    table = ConsoleTable("q", "joint", "type", "unit", "lower", "upper", "velocity", "effort", *further, names=2)
    for joint, q, v in layout.joints:
        places = f"{q.start}" if q.stop - q.start == 1 else f"{q.start}-{q.stop - 1}"
        for k, velocity in enumerate(layout.velocities[v]):
            dof, unit, scale = velocity.dof, _shown_unit(velocity.unit, degrees), _scale(velocity.unit, degrees)
            friction = f"{dof.viscous:.4g}, {dof.coulomb:.4g}/{dof.coulomb_negative:.4g}"
            table.add_row(
                places if k == 0 else "",
                velocity.name,
                joint.type if k == 0 else "",
                unit,
                *(f"{x * scale:.4g}" for x in (dof.lower, dof.upper)),
                f"{dof.velocity * scale:.4g} {unit}/s",
                "passive" if dof.passive else f"{dof.effort:.4g} {_effort_unit(velocity.unit)}",
                *[friction if any((dof.viscous, dof.coulomb, dof.coulomb_negative)) else "-"] * has_friction,
                *[f"{dof.armature:.4g}" if dof.rotor else "-"] * has_rotors,
            )
    return table


def _links(robot: Robot) -> ConsoleTable:
    table = ConsoleTable("link", "mass kg", "center of mass m, link axes", "inertia about it kg m^2 (xx, yy, zz)")
    for link in robot.model.links:
        com = ", ".join(f"{x:.4g}" for x in link.com)
        inertia = ", ".join(f"{x:.4g}" for x in link.inertia.entries()[:3])
        table.add_row(link.name, f"{link.mass:.6g}", com, inertia)
    return table

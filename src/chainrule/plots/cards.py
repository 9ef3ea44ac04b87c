"""Robots and trajectories as a notebook shows them: tables, and a picture where Matplotlib is installed."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.core.mechanism import Mechanism
from chainrule.display import tables as display
from chainrule.errors import ChainruleError, visible
from chainrule.kinematics.configurations import home
from chainrule.kinematics.poses import poses
from chainrule.model import Joint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.simulation.trajectory import Trajectory

PICTURE_WIDTH = 380
"""The width of the picture of a robot on a page, in pixels."""

MAX_CURVES = 12
"""A trajectory of more joints is shown without curves."""


def robot_card(robot: Mechanism) -> str:
    """A robot in HTML: its picture, its joints with limits, its links with masses, and its tree."""
    coordinates = "" if robot.nq == robot.nv else f" ({robot.nq} coordinates)"
    size = f"{robot.nv} degrees of freedom{coordinates}, {len(robot.link_names)} links, {robot.mass:.4g} kg"
    parts = [display.heading(robot.name, size)]
    picture = _posture(robot)
    if picture:
        parts.append(picture)
    if robot.nv:
        parts.append(robot.limits._repr_html_())
    masses = [(link.name, float(link.mass), _vector(link.com)) for link in robot.model.links]
    parts.append(display.fold("links", display.table(("link", "mass, kg", "center of mass, m"), masses)))
    parts.append(display.fold("tree", f"<pre>{display.no_math_lines(tree_lines(robot))}</pre>"))
    if robot.model.constraints:
        ties = [(tie.name, tie.kind, tie.link_a, tie.link_b) for tie in robot.model.constraints]
        parts.append(display.fold("constraints", display.table(("constraint", "kind", "ties", "to"), ties)))
    if robot.model.springs:
        springs = [(s.name, s.link_a, s.link_b, float(s.stiffness), float(s.damping)) for s in robot.model.springs]
        header = ("spring", "between", "and", "stiffness, N/m", "damping, N s/m")
        parts.append(display.fold("springs", display.table(header, springs)))
    if robot.model.frames:
        frames = [(frame.name, frame.link) for frame in robot.model.frames]
        parts.append(display.fold("frames", display.table(("frame", "on link"), frames)))
    return "<div>" + "".join(parts) + "</div>"


def tree_lines(robot: Mechanism) -> list[str]:
    """The links of a robot, each below its parent, with the joints between them."""
    model = robot.model
    children: dict[int, list[int]] = {}
    for body in model.bodies:
        children.setdefault(body.parent, []).append(body.index)
    lines = [model.links[0].name]
    stack = [(child, "", k == len(children[0]) - 1) for k, child in enumerate(children.get(0, []))][::-1]
    while stack:
        index, before, last = stack.pop()
        lines.append(
            f"{before}{'└─ ' if last else '├─ '}{model.links[index].name}  ({_joint(model.joints[index - 1])})"
        )
        below = children.get(index, [])
        inner = before + ("   " if last else "│  ")
        stack += [(child, inner, k == len(below) - 1) for k, child in enumerate(below)][::-1]
    return lines


def _joint(joint: Joint) -> str:
    follows = f", follows {joint.mimic.joint}" if joint.mimic else ""
    return f"{joint.name}: {joint.type}{follows}"


def _vector(vector: Any) -> str:
    return ", ".join(display.figure_text(x) for x in vector)


def _posture(robot: Mechanism) -> str:
    """The picture of a robot's home posture; none where it cannot be drawn."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from chainrule.plots.bodies import bodies
        from chainrule.plots.posture import draw_names, new_stage

        canvas = Figure(layout="constrained")
        FigureCanvasAgg(canvas)
        body, T = bodies(robot), poses(robot, home(robot))
        stage = new_stage(robot, body, T[None], None, figure=canvas)
        stage.new_posture(robot, "auto").move(T)
        draw_names(stage, robot, body, T)
        return display.image(_png(canvas), visible(robot.name), PICTURE_WIDTH)
    except (ChainruleError, ImportError, ValueError, ArithmeticError):
        return ""


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()


def trajectory_card(trajectory: Trajectory) -> str:
    """A trajectory in HTML: what it is, how far each joint goes and how hard it works, and curves."""
    many = f", {int(np.prod(trajectory.batch))} motions of shape {trajectory.batch}" if trajectory.batch else ""
    span = f"{len(trajectory)} samples, {trajectory.duration:g} s, {trajectory.method}, {trajectory.status}{many}"
    parts = [display.heading(trajectory.robot.name, span)]
    if len(trajectory) and trajectory.q.size:
        parts.append(_extremes(trajectory))
        if trajectory.robot.nv <= MAX_CURVES:
            parts.append(_curves(trajectory))
    if trajectory.events:
        parts.append(display.heading(f"{len(trajectory.events)} events"))
    return "<div>" + "".join(parts) + "</div>"


def _extremes(trajectory: Trajectory) -> str:
    """The range of each joint, and its largest speed and torque, with the share of their limits."""
    layout, rows = trajectory.robot.model.layout, []
    for place in layout.velocities:
        turning = place.unit == "rad"
        q = None if place.coordinate is None else trajectory.q[..., place.coordinate]
        span = "" if q is None else f"{display.figure_text(np.min(q))} to {display.figure_text(np.max(q))} {place.unit}"
        speed = float(np.max(np.abs(trajectory.qd[..., place.index])))
        torque = float(np.max(np.abs(trajectory.tau[..., place.index])))
        rows.append((
            place.name,
            span,
            f"{display.figure_text(speed)} {place.unit}/s{_share(speed, place.dof.velocity)}",
            f"{display.figure_text(torque)} {'N m' if turning else 'N'}{_share(torque, place.dof.effort)}",
        ))  # fmt: skip
    return display.table(("joint", "position", "largest speed", "largest torque"), rows)


def _share(value: float, limit: Any) -> str:
    return f" ({100 * value / float(limit):.0f} % of its limit)" if 0 < float(limit) < np.inf else ""


def _curves(trajectory: Trajectory) -> str:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from chainrule.plots.trajectory import draw_panels, drawn_row, write_legend

        canvas = Figure(figsize=(7.0, 4.4), layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.subplots(3, 1, sharex=True)
        names = draw_panels(axes, drawn_row(trajectory), ("q", "qd", "tau"))
        write_legend(canvas, names, True, True)
        return display.image(_png(canvas), visible(trajectory.robot.name), 620)
    except (ChainruleError, ImportError, ValueError, ArithmeticError):
        return ""

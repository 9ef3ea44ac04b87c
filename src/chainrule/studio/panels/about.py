"""What one is looking at: the robot in words, its joints and links in tables, and what the shapes and colors mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from chainrule.shapes.skeleton import skeleton
from chainrule.studio.charts.style import STYLE, css_color, in_frame, number, safe
from chainrule.studio.panels.panel import Panel
from chainrule.studio.postures import default_tip
from chainrule.studio.scene import appearance
from chainrule.studio.scene.visuals import drawing
from chainrule.studio.summary import summary

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.studio.session import Session

MAX_ROWS = 60
"""Joints and links that are listed."""


def joint_table(robot: Robot) -> str:
    """The degrees of freedom, with their limits, as HTML."""
    rows, kinds = [], {joint.name: joint.type for joint in robot.model.joints}
    for velocity in robot.model.layout.velocities[:MAX_ROWS]:
        dof, turns = velocity.dof, velocity.unit == "rad"
        scale, unit = (180 / math.pi, "°") if turns else (1.0, " m")
        low, high = float(dof.lower) * scale, float(dof.upper) * scale
        ends = "no end" if math.isinf(low) and math.isinf(high) else f"{number(low, 3)} to {number(high, 3)}{unit}"
        effort = float(dof.effort)
        most = "" if math.isinf(effort) else f"{number(effort, 3)} {'N m' if turns else 'N'}"
        cells = (safe(velocity.name), kinds[velocity.joint], ends, "no motor" if dof.passive else most)
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "<tr><th>joint</th><th>kind</th><th>range</th><th>at most</th></tr>"
    return f'<div class="wide"><table class="grid">{head}{"".join(rows)}</table></div>'


def link_table(robot: Robot) -> str:
    """The links with their masses, as HTML."""
    links = [link for link in robot.model.links if float(link.mass) > 0][:MAX_ROWS]
    rows = "".join(
        f"<tr><td>{safe(link.name)}</td><td>{number(float(link.mass), 3)}</td><td>"
        f"{', '.join(number(float(x), 2) for x in link.com)}</td></tr>"
        for link in links
    )
    head = "<tr><th>link</th><th>kg</th><th>center of mass, m</th></tr>"
    return f'<div class="wide"><table class="grid">{head}{rows}</table></div>'


def key_of_shapes(robot: Robot) -> str:
    """The shapes in the scene and their colors, in words, as HTML."""
    if drawing(robot).has_geometry:
        lines = [("", "Bodies have the shapes and colors of the robot's own files.")]
    else:
        lines = [
            (_chip(appearance.SHELL), "links: bars from joint to joint, thinner towards the tip"),
            (_chip(appearance.BASE), "the base, which stands still"),
            (_chip(appearance.JOINT) + _chip(appearance.ACCENT), "a joint that turns, with rings about its axis"),
        ]
        if any(joint.kind == "slides" for joint in skeleton(robot).joints):
            lines.append((_chip(appearance.SLIDE), "a joint that slides"))
        lines.insert(0, ("", "The robot has no shapes of its own: it is drawn from its joints."))
    lines += [
        ("", "Red, green and blue arrows at the tip: x, y and z; drag them, and the robot follows."),
        ("", "Arcs about joints, once Dynamics has been opened: torques, green to red by their share of the limit."),
        ("", "Arrows in magenta, then: directions in which the tip can hardly move in this posture."),
    ]
    return "".join(f"<p>{chip} {text}</p>" for chip, text in lines)


def _chip(color: appearance.Color) -> str:
    return (
        f'<i style="display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:3px;'
        f'background:{css_color(np.array(color))}"></i>'
    )


class AboutPanel(Panel):
    """The robot in words and tables."""

    title = "What this is"
    tab = "Robot"
    icon = "info-circle"

    def build(self, session: Session) -> None:
        """Write what is known of the robot."""
        gui, robot = session.client.gui, session.robot
        gui.add_html(STYLE)
        facts = [*summary(robot), f"gravity {number(float(np.linalg.norm(robot.gravity)), 3)} m/s²"]
        if robot.nv:
            facts.append(f"its tip is {default_tip(robot)}")
        lines = "".join(f"<p>{safe(text)}</p>" for text in facts)
        source = "".join(f'<p class="dim">{safe(note)}</p>' for note in robot.model.notes[:6])
        gui.add_html(
            in_frame(f"<h4>{safe(robot.name)}</h4>{lines}{source}<h4>What is drawn</h4>{key_of_shapes(robot)}")
        )
        with gui.add_folder("Joints and links", expand_by_default=False):
            gui.add_html(in_frame(joint_table(robot) + link_table(robot)))

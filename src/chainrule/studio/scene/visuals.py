"""What the scene shows of a robot, in a style: one surface for each link and color, so that it has few nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chainrule.bodies.drawing import collision_parts
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.shapes import parts as shapes
from chainrule.shapes.parts import Look, Part
from chainrule.shapes.surfaces import FINE, Surface, join
from chainrule.studio.scene.appearance import ACCENT, BASE, COLLISION, JOINT, ROD, SHELL, SHELL_SECOND, SLIDE, Color

STYLES = ("visual", "model", "collision")
"""What is drawn of a robot: its visual geometry, what the model itself gives, or its collision bodies."""

LOOK = Look(radius=0.028, slimming=0.5, fineness=FINE, triangles=24_000)

COLORS = {
    "base": BASE, "foot": BASE, "chassis": BASE, "joint": JOINT, "tie": JOINT, "wheel": JOINT, "ring": ACCENT,
    "slide": SLIDE, "rod": ROD, "collision": COLLISION,
}  # fmt: skip
"""By role; links are drawn one after the other in two other colors."""

COLLISION_OPACITY = 0.45


class DrawnPart(NamedTuple):
    """A surface of one color on a link, in the link's frame."""

    link: int
    surface: Surface
    color: Color
    opacity: float = 1.0


class StyledDrawing(NamedTuple):
    """The parts of a robot in one style, and a sentence for each piece of geometry that could not be drawn."""

    parts: tuple[DrawnPart, ...]
    problems: tuple[str, ...] = ()
    has_geometry: bool = False
    """Whether any of the parts is geometry of the robot's files."""


def drawing(robot: Mechanism, style: str = "visual") -> StyledDrawing:
    """The parts of a robot in a style, as of shapes/parts.py, worked out once for all tabs that show it."""
    return remember(robot, ("studio", style), lambda: _drawing(robot, style))


def has(robot: Mechanism, role: str) -> bool:
    """Whether a robot has geometry of this role; every robot has collision bodies."""
    return role == "collision" or any(geometry.role == role for geometry in robot.model.geometries)


def _drawing(robot: Mechanism, style: str) -> StyledDrawing:
    if style == "model":
        return StyledDrawing(merge(shapes.model_parts(robot, LOOK)))
    if style == "collision":
        return StyledDrawing(merge(collision_parts(robot, LOOK.fineness)), bodies_of(robot).problems, has_geometry=True)
    found = shapes.drawing(robot, LOOK)
    return StyledDrawing(merge(found.parts), found.problems, found.has_geometry)


def merge(parts: Iterable[Part]) -> tuple[DrawnPart, ...]:
    """The parts of each link and color as one surface."""
    groups: dict[tuple[int, Color, float], list[Surface]] = {}
    for part in parts:
        is_given = part.color is not None and part.role != "collision"
        color = part.color if is_given and part.color is not None else color_of(part.role, part.link)
        opacity = COLLISION_OPACITY if part.role == "collision" else part.opacity
        groups.setdefault((part.link, color, opacity), []).append(part.surface.for_shading())
    return tuple(DrawnPart(link, join(found), color, opacity) for (link, color, opacity), found in groups.items())


def color_of(role: str, link: int) -> Color:
    """The color of a part that has none of its own."""
    return COLORS.get(role, SHELL if link % 2 else SHELL_SECOND)

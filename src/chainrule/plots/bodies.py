"""The bodies of a robot as Matplotlib draws them: their parts in the colors of pictures, placed in a posture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainrule.arguments import Array, one_of
from chainrule.bodies.drawing import collision_parts
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.plots.canvas import BASE_COLOR, BODY_COLORS, JOINT_COLOR, SLIDE_COLOR, TIE_COLOR
from chainrule.shapes import surfaces
from chainrule.shapes.parts import Bar, Look, Part, bars, drawing, model_parts, warn_of_problems
from chainrule.shapes.skeleton import Skeleton, skeleton
from chainrule.shapes.surfaces import COARSE

STYLES = ("auto", "visual", "capsules", "lines", "collision")

LOOK = Look(radius=0.018, slimming=0.4, fineness=COARSE, triangles=1500, detail=False)
LINES = LOOK._replace(radius=0.35 * LOOK.radius)

COLORS = {
    "base": BASE_COLOR, "foot": BASE_COLOR, "chassis": BASE_COLOR, "joint": JOINT_COLOR, "ring": JOINT_COLOR,
    "wheel": JOINT_COLOR, "tie": TIE_COLOR, "slide": SLIDE_COLOR, "rod": TIE_COLOR,
}  # fmt: skip
"""By role; links are drawn one after the other in BODY_COLORS."""


def color_of(part: Part) -> Any:
    """The color of a part: that of its file, or that of its role."""
    if part.color is not None:
        return tuple(x / 255 for x in part.color)
    return COLORS.get(part.role, BODY_COLORS[part.link % len(BODY_COLORS)])


@dataclass(frozen=True)
class Bodies:
    """The parts that move along with links, and the bars that change their length with the posture."""

    skeleton: Skeleton
    parts: tuple[Part, ...]
    bars: tuple[Bar, ...]
    radius: float
    style: str

    def at(self, poses: Array) -> Iterator[Part]:
        """All parts in one posture, in the base frame, for the poses (links, 4, 4) of all links."""
        for part in self.parts:
            yield replace(part, surface=part.surface.at(poses[part.link]))
        for bar in self.bars:
            start, end = bar.ends(poses)
            if np.linalg.norm(end - start) > 1e-9 * self.skeleton.reach:
                yield Part(0, surfaces.cylinder(start, end, bar.radius, fineness=COARSE), bar.role, bar.name)


def bodies(robot: Mechanism, style: str = "auto") -> Bodies:
    """The parts of a robot in a style: "visual", "capsules", "lines", "collision", or "auto", what there is."""
    chosen = one_of(STYLES, style, "style of bodies", "a picture")
    return remember(robot, ("bodies", chosen), lambda: _build(robot, chosen))


def _build(robot: Mechanism, style: str) -> Bodies:
    frame, look = skeleton(robot), LINES if style == "lines" else LOOK
    if style in ("auto", "visual"):
        found = drawing(robot, look)
        warn_of_problems(robot, found.problems)
        if found.has_geometry or style == "visual":
            parts = found.parts if style == "auto" else tuple(part for part in found.parts if part.role == "visual")
            return Bodies(frame, parts, bars(robot, look, slides=False), look.radius * frame.reach, "visual")
    if style == "collision":
        return Bodies(frame, collision_parts(robot, COARSE), (), look.radius * frame.reach, "visual")
    return Bodies(
        frame, model_parts(robot, look), bars(robot, look, slides=True), look.radius * frame.reach, "capsules"
    )

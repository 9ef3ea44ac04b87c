"""Colors of the studio, light and dark, as red, green and blue from 0 to 255."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Color: TypeAlias = tuple[int, int, int]

BRAND: Color = (28, 100, 210)
"""Of buttons and sliders."""

SHELL: Color = (226, 230, 236)
"""Links drawn from the model, one after the other in these two."""
SHELL_SECOND: Color = (205, 212, 222)
BASE: Color = (92, 101, 116)
JOINT: Color = (52, 60, 74)
ACCENT: Color = (242, 140, 40)
"""Rings that mark the axes of joints, and ends of constraints."""
SLIDE: Color = (132, 142, 156)
ROD: Color = (70, 160, 130)

COLLISION: Color = (230, 150, 60)
HIGHLIGHT: Color = (236, 64, 92)
MASS: Color = (250, 200, 60)
"""One half of the balls at centers of mass; the other is DARK_MASS."""
DARK_MASS: Color = (30, 34, 42)
TOTAL_MASS: Color = (236, 64, 92)
INERTIA: Color = (108, 142, 230)
SLIDING_AXIS: Color = (40, 160, 160)
TRAIL: Color = (236, 84, 60)

AXES: tuple[Color, Color, Color] = ((222, 70, 62), (62, 168, 86), (52, 116, 224))
"""x, y and z."""


class Theme(NamedTuple):
    """Colors that differ between light and dark, and the strengths of light and shadow."""

    bottom: Color
    """Of the background, which runs from the bottom to the top."""
    top: Color
    ground: Color
    lines: Color
    sections: Color
    shadow: float
    """Opacity of the shadow on the ground."""
    lamp: float


LIGHT = Theme((238, 241, 245), (206, 216, 229), (250, 251, 253), (222, 228, 235), (196, 204, 214), 0.30, 2.6)
DARK = Theme((34, 39, 48), (16, 19, 25), (44, 50, 61), (58, 66, 79), (78, 88, 105), 0.55, 2.4)


def theme(dark: bool) -> Theme:
    """The colors of a theme."""
    return DARK if dark else LIGHT

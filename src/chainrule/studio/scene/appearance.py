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
    """Colors that differ between light and dark."""

    background: Color
    ground: Color
    lines: Color
    sections: Color
    shadow: float
    """Opacity of the shadow on the ground."""


LIGHT = Theme((244, 246, 249), (250, 251, 252), (222, 227, 233), (198, 205, 214), 0.28)
DARK = Theme((24, 28, 35), (30, 35, 43), (46, 53, 64), (66, 75, 90), 0.55)


def theme(dark: bool) -> Theme:
    """The colors of a theme."""
    return DARK if dark else LIGHT

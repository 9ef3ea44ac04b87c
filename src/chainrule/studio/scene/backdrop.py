"""The backdrop: a ground that fades into the background, and the light that throws the robot's shadow on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.shapes import surfaces
from chainrule.studio.scene.appearance import Color, theme
from chainrule.studio.scene.nodes import quaternions
from chainrule.studio.scene.view import Ground

if TYPE_CHECKING:
    from viser import SceneApi

LAMP_DISTANCE = 6.0
"""Distance of the lamp from the robot, as a multiple of the robot's size."""

SKY, FLOOR = (255, 255, 255), (176, 184, 196)
"""Colors of the light that comes from everywhere, from above and from below."""

LAMP_DIRECTION = (-0.35, -0.45, 1.0)
"""Toward the lamp, in axes whose z points up."""

LIT_SIZE = 2.2
"""Radius of what the lamp lights, and so of where shadows fall, as a multiple of the robot's size."""


def gradient(bottom: Color, top: Color) -> NDArray[np.uint8]:
    """The image of a background: a column of colors from the top to the bottom, (64, 2, 3)."""
    share = np.linspace(0, 1, 64)[:, None]
    column = (1 - share) * np.array(top) + share * np.array(bottom)
    return np.repeat(column[:, None, :], 2, axis=1).round().astype(np.uint8)


def grid_spacing(size: float) -> float:
    """The distance of the strong lines of the grid, in m: a power of ten near the size of the robot."""
    return float(10.0 ** np.round(np.log10(size / 3)))


class Backdrop:
    """Ground, lamp and background of a tab; without the lamp, the lights are those that viser has by itself."""

    def __init__(self, scene: SceneApi, ground: Ground, *, dark: bool, lamp: bool = True) -> None:
        self._scene, self.place, self._has_lamp = scene, ground, lamp
        self._turn = surfaces.rotation_along(ground.up)
        self._dark, self._has_ground, self._has_shadow = dark, True, True
        self._ground: Any = None
        self._lights: list[Any] = []
        self._draw()

    def show(self, *, ground: bool, shadow: bool, dark: bool) -> None:
        """Show or hide ground and shadow, in light or dark colors."""
        if (ground, shadow, dark) != (self._has_ground, self._has_shadow, self._dark):
            self._has_ground, self._has_shadow, self._dark = ground, shadow, dark
            self._draw()

    def _draw(self) -> None:
        colors, place, size = theme(self._dark), self.place, self.place.size
        spacing = grid_spacing(size)
        self._scene.set_background_image(gradient(colors.bottom, colors.top), format="png")
        self._ground = self._scene.add_grid(
            "/ground",
            infinite_grid=True,
            cell_size=spacing / 5,
            section_size=spacing,
            cell_color=colors.lines,
            section_color=colors.sections,
            cell_thickness=0.5,
            section_thickness=0.9,
            plane_color=colors.ground,
            plane_opacity=1.0,
            shadow_opacity=colors.shadow,
            fade_distance=7 * size,
            fade_strength=1.4,
            fade_from="origin",
            position=place.point - 1e-3 * size * place.up,
            wxyz=quaternions(self._turn),
            visible=self._has_ground,
        )
        if self._has_lamp:
            self._lights = self._new_lights(colors.lamp)

    def _new_lights(self, strength: float) -> list[Any]:
        """Add the lamp, whose shadow has soft edges, and a weak light from the other side."""
        place = self.place
        toward = self._turn @ np.array(LAMP_DIRECTION) / np.linalg.norm(LAMP_DIRECTION)
        middle: Array = place.point + 0.4 * place.size * place.up
        distance = LAMP_DISTANCE * place.size
        self._scene.configure_default_lights(enabled=False)
        self._scene.configure_environment_map(hdri=None)  # reflections take seconds where there is no graphics card
        lamp = self._scene.add_light_spot(
            "/lamp",
            intensity=strength,
            decay=0.0,
            angle=float(np.arctan(LIT_SIZE / LAMP_DISTANCE)),
            penumbra=1.0,
            cast_shadow=self._has_shadow,
            position=tuple(middle + distance * toward),
            direction=tuple(-toward),
        )
        fill = self._scene.add_light_directional(
            "/fill", intensity=0.25 * strength, position=tuple(self._turn @ np.array([3.0, 2.0, 1.0]))
        )
        sky = self._scene.add_light_hemisphere(
            "/sky", sky_color=SKY, ground_color=FLOOR, intensity=0.6 * strength, wxyz=quaternions(self._turn)
        )
        return [lamp, fill, sky]

    def remove(self) -> None:
        """Remove ground and lights."""
        for node in (self._ground, *self._lights):
            node.remove()

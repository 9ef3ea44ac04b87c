"""Curves of a motion beside the robot: energies, and torques of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.studio.player.live import Live
from chainrule.studio.scene.appearance import BRAND, Color
from chainrule.studio.scene.ghosts import COLORS

if TYPE_CHECKING:
    from viser import GuiApi

    from chainrule.robot.robot import Robot

MAX_POINTS = 300
"""Points of a curve that are sent to the page."""

WINDOW_S = 10.0
"""The part of a motion that is drawn: the last seconds."""

MAX_CURVES = 8
"""Joints whose torques are drawn: more cannot be told apart."""

HEIGHT = 170
"""In pixels."""


class Chart:
    """Curves over time on the page."""

    def __init__(self, gui: GuiApi, title: str, names: Sequence[str], unit: str) -> None:
        self.title, self.names = title, list(names)
        line: list[Any] = [{"label": "t (s)"}]
        line += [{"label": name, "stroke": _css(_color(k)), "width": 1.5} for k, name in enumerate(names)]
        self.plot = gui.add_uplot(
            tuple(np.zeros(1) for _ in line),
            tuple(line),
            title=f"{title} ({unit})",
            scales={"x": {"time": False}},
            legend={"show": True},
            height=HEIGHT,
        )

    def draw(self, t: Array, curves: Array) -> None:
        """Draw curves (T, names) over times (T,)."""
        self.plot.data = (t, *(np.ascontiguousarray(curve) for curve in curves.T))


def _color(k: int) -> Color:
    return (BRAND, *COLORS)[k % (1 + len(COLORS))]


def _css(color: Color) -> str:
    return "rgb({}, {}, {})".format(*color)


def thin(t: Array) -> NDArray[np.int_]:
    """Places of the samples that are drawn: of the last seconds, evenly spread, the newest one among them."""
    first = int(np.searchsorted(t, t[-1] - WINDOW_S))
    places = np.arange(first, len(t))
    every = -(-len(places) // MAX_POINTS)
    return places[::-1][::every][::-1]


def effort_unit(robot: Robot) -> str:
    """The unit of the torques of a robot: N m where its joints turn, N where they slide."""
    return " or ".join(dict.fromkeys("N" if unit == "m" else "N m" for unit in robot.limits.units))


class MotionCharts:
    """Energies and torques of a simulation."""

    def __init__(self, gui: GuiApi, robot: Robot) -> None:
        names = robot.velocity_names
        self.energies = Chart(gui, "Energy", ("kinetic", "potential", "total"), "J")
        self.torques = Chart(gui, "Torques", names[:MAX_CURVES], effort_unit(robot))
        if len(names) > MAX_CURVES:
            gui.add_markdown(f"Of {len(names)} torques, the first {MAX_CURVES}.")

    def draw(self, live: Live) -> None:
        """Draw the last seconds."""
        times, series = live.series()
        places = thin(times)
        kinetic, potential = series["kinetic"][places], series["potential"][places]
        self.energies.draw(times[places], np.stack([kinetic, potential, kinetic + potential], axis=1))
        self.torques.draw(times[places], series["tau"][places][:, :MAX_CURVES])

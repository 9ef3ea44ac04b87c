"""Figures of one activity: (a) curves over time, and (b) boxes of the same quantities, the joints side by side."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, as_list, one_of
from chainrule.errors import ShapeError, visible
from chainrule.plots.canvas import (
    BLACK,
    GREEN,
    LIMIT_COLOR,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    add_legend,
    new_figure,
    refuse_unwritable,
    save_figure,
    show_plainly,
)
from chainrule.plots.trajectory import style_panel
from chainrule.study.statistics import PARTS, JointStatistics
from chainrule.study.torques import MotionTorques

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = {"angle": "", "speed": "/s", "acceleration": "/s²", "torque": ""}
"""What is drawn, a row each, and what stands behind the unit of the angle."""

STYLES = {
    "total": (SKY, 2.6), "gravity": (BLACK, 1.3), "dynamic": (PURPLE, 1.3), "contact": (ORANGE, 1.3),
    "other": (GREEN, 1.3),
}  # fmt: skip
"""Color and width of the curves of torque: the total in cyan, gravity in black, the dynamic torque in magenta."""

ALWAYS_DRAWN = ("gravity", "dynamic")
"""Parts of the torque; the others are drawn where they are not zero."""

DYNAMIC_WORDS = "inertial, centrifugal and Coriolis"

MAX_JOINTS = 8
"""Joints that are drawn unless some are named: of more, curves are too narrow to be read."""

MAX_SAMPLES = 1000
"""Samples drawn of each curve; more look the same."""

WIDTH_OF_CURVES, WIDTH_OF_A_BOX, MIN_WIDTH, HEIGHT = 1.45, 0.55, 8.0, 7.4
"""Inches: for the curves of a joint, for its box, and of the figure."""


def plot(
    torques: MotionTorques,
    cells: Sequence[JointStatistics],
    title: str,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw one motion with its torques, and the statistics of each joint in all motions of its activity."""
    refuse_unwritable(path)
    chosen = _joints_to_draw(cells, joints)
    few = len(chosen) < len(cells)
    width = max(MIN_WIDTH, 1.6 + (WIDTH_OF_CURVES + WIDTH_OF_A_BOX) * len(chosen))
    figure = new_figure(width, HEIGHT, path, size)
    halves: Any = figure.subfigures(1, 2, width_ratios=(WIDTH_OF_CURVES, WIDTH_OF_A_BOX + 0.15))
    left, right = halves
    shown = f"{title}: {len(chosen)} of {len(cells)} joints" if few else title
    if few and joints is None:
        shown += ", those with the largest torques"
    show_plainly(figure.suptitle("", fontsize="medium"), shown)
    names = _draw_curves(left, torques, [j for j, _ in chosen])
    _draw_boxes(right, [cell for _, cell in chosen], _turning(torques, [j for j, _ in chosen]))
    add_legend(figure, names, loc="outside lower center", ncols=len(names), fontsize="small", frameon=False)
    return save_figure(figure, path)


def _joints_to_draw(
    cells: Sequence[JointStatistics], joints: Sequence[str] | None
) -> list[tuple[int, JointStatistics]]:
    """The joints that are drawn, with their places, in the order of the robot."""
    numbered = list(enumerate(cells))
    if joints is None:
        most = sorted(numbered, key=lambda pair: pair[1].peak_torque, reverse=True)[:MAX_JOINTS]
        return sorted(most, key=lambda pair: pair[0])
    listed = [joints] if isinstance(joints, str) else as_list(joints, "plot: joints")
    if not listed:
        raise ShapeError("plot: joints must name at least one")
    by_name = {cell.joint: pair for pair in numbered for cell in pair[1:]}
    return [by_name[one_of(by_name, joint, "joint", "the study")] for joint in dict.fromkeys(listed)]


def _turning(torques: MotionTorques, places: Sequence[int]) -> list[bool]:
    """Whether each joint turns; others slide."""
    velocities = torques.subject.robot.model.layout.velocities
    return [velocities[j].unit == "rad" for j in places]


def _draw_curves(figure: Any, torques: MotionTorques, places: Sequence[int]) -> dict[Any, str]:
    """(a): a column for each joint, a row for each quantity; the curves of torque, which a legend names."""
    motion = torques.motion
    every = slice(None, None, max(1, len(motion) // MAX_SAMPLES))
    t = (motion.t - motion.t[0])[every]
    axes = figure.subplots(len(QUANTITIES), len(places), sharex=True, squeeze=False)
    show_plainly(figure.suptitle("", fontsize="small"), "(a) over time")
    turning, velocities = _turning(torques, places), torques.subject.robot.model.layout.velocities
    states = {"angle": torques.angles, "speed": motion.qd, "acceleration": motion.qdd}
    parts = [part for part in PARTS if part in ALWAYS_DRAWN or getattr(torques, part)[:, list(places)].any()]
    names: dict[Any, str] = {}
    for column, (j, turns) in enumerate(zip(places, turning, strict=True)):
        for row, quantity in enumerate(QUANTITIES):
            axis = axes[row, column]
            if quantity in states:
                axis.plot(t, _in_shown_unit(states[quantity][every, j], quantity, turns), color=LIMIT_COLOR)
            else:
                for part in ("total", *parts):
                    color, broad = STYLES[part]
                    values = getattr(torques, part)[every, j]
                    (curve,) = axis.plot(t, values, color=color, linewidth=broad, zorder=2 + (part != "total"))
                    curve.set_gid(part)
                    if not column:
                        names[curve] = {"total": "total torque", "dynamic": DYNAMIC_WORDS}.get(part, part)
            _style(axis)
            if not column or turns != turning[column - 1]:
                axis.set_ylabel(_label(quantity, turns), fontsize="x-small")
        show_plainly(axes[0, column].set_title("", fontsize="x-small"), velocities[j].name.replace("_", " "))
        axes[-1, column].set_xlabel("time, s", fontsize="x-small")
    return names


def _draw_boxes(figure: Any, cells: Sequence[JointStatistics], turning: Sequence[bool]) -> None:
    """(b): a row for each quantity, a box for each joint; joints that slide have axes of their own."""
    kinds = [kind for kind in (True, False) if kind in turning]
    counts = [turning.count(kind) for kind in kinds]
    axes = figure.subplots(len(QUANTITIES), len(kinds), squeeze=False, sharex="col", width_ratios=counts)
    show_plainly(figure.suptitle("", fontsize="small"), _whose(cells[0]))
    for column, kind in enumerate(kinds):
        own = [cell for cell, turns in zip(cells, turning, strict=True) if turns == kind]
        for row, quantity in enumerate(QUANTITIES):
            axis = axes[row, column]
            boxes = [_box(cell, quantity, kind) for cell in own]
            crosses = {"marker": "x", "markersize": 3, "markeredgewidth": 0.6}
            axis.bxp(boxes, manage_ticks=False, widths=0.6, flierprops=crosses, medianprops={"color": VERMILLION})
            axis.set_ylabel(_label(quantity, kind), fontsize="x-small")
            _style(axis)
        axes[-1, column].set_xlim(0.4, len(own) + 0.6)
        names = [visible(cell.joint.replace("_", " ")) for cell in own]
        for tick in axes[-1, column].set_xticks(range(1, len(own) + 1), names):
            tick.label1.set(rotation=90, fontsize="x-small", parse_math=False)


def _style(axis: Any) -> None:
    """A grid, and small numbers."""
    style_panel(axis)
    axis.tick_params(labelsize="x-small")
    axis.yaxis.get_offset_text().set_fontsize("x-small")


def _whose(cell: JointStatistics) -> str:
    return "(b) distribution" + (f" in {cell.motions} motions" if cell.motions > 1 else "")


def _box(cell: JointStatistics, quantity: str, turns: bool) -> dict[str, Any]:
    """The numbers of a box as Matplotlib takes them."""
    low, q1, median, q3, high, outliers, _ = cell[quantity].box_plot()
    lines = dict(zip(("whislo", "q1", "med", "q3", "whishi"), (low, q1, median, q3, high), strict=True))
    scaled = {name: float(_in_shown_unit(value, quantity, turns)) for name, value in lines.items()}
    return {**scaled, "fliers": _in_shown_unit(np.asarray(outliers), quantity, turns), "label": cell.joint}


def _in_shown_unit(values: Array | float, quantity: str, turns: bool) -> Any:
    return np.degrees(values) if turns and quantity != "torque" else values


def _label(quantity: str, turns: bool) -> str:
    if quantity == "torque":
        return "torque, N m" if turns else "force, N"
    names = {"angle": "angle" if turns else "position"}
    return f"{names.get(quantity, quantity)}, {'deg' if turns else 'm'}{QUANTITIES[quantity]}"

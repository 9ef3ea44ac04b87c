"""Figures of a motion, joint by joint: torques by cause, torque over speed, and phase portraits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.dynamics.dynamics import forward_dynamics, torque_terms
from chainrule.errors import ChainruleError, ShapeError
from chainrule.model.layout import Velocity
from chainrule.plots.canvas import (
    BLACK,
    BLUE,
    GREEN,
    LIMIT_COLOR,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    add_legend,
    figure_of,
    given_panels,
    legend_columns,
    new_figure,
    refuse_unwritable,
    save_figure,
    show_plainly,
)
from chainrule.plots.trajectory import chosen_joints, drawn_row, style_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.simulation.trajectory import Trajectory

MAX_PANELS = 24
"""Joints that one figure shows."""

TERM_STYLES = {
    "gravity": (SKY, ""), "inertial": (ORANGE, "////"), "centrifugal": (GREEN, "...."),
    "coriolis": (PURPLE, "\\\\\\\\"), "friction": (VERMILLION, "xxxx"), "spring": (YELLOW, "----"),
    "loop": ("#999999", "++++"),
}  # fmt: skip
"""Color and hatching of each cause of a torque: the hatching tells them apart in grey."""

TERM_NAMES = {"coriolis": "Coriolis", "loop": "forces of closed loops"}


def plot_torque_terms(
    trajectory: Trajectory,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    row: int | Sequence[int] | None = None,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw torques by their causes over time, stacked: a panel for each joint.

    Parts that push forward are stacked upward from zero, those that push backward downward; the line is their sum,
    the torque that the motion takes. A dashed line is the torque that was applied, where that differs.

    Parameters
    ----------
    path, joints, row, ax, size
        As of `plot`, with axes for each joint.
    """
    one = drawn_row(trajectory, row)
    terms = torque_terms(one.robot, one.q, one.qd, one.qdd)
    total = terms.pop("total")
    present = {name: values for name, values in terms.items() if np.nanmax(np.abs(values), initial=0.0) > 0}
    names: dict[Any, str] = {}
    overall = max(float(np.nanmax(np.abs(values), initial=0.0)) for values in (*terms.values(), total))

    def draw(axis: Any, place: Velocity) -> None:
        k = place.index
        up, down = np.zeros(len(one)), np.zeros(len(one))
        for name, values in present.items():
            color, hatch = TERM_STYLES[name]
            part = np.nan_to_num(values[:, k])
            style: dict[str, Any] = {"facecolor": color, "edgecolor": "#ffffffb0", "hatch": hatch, "linewidth": 0.0}
            area = axis.fill_between(one.t, up, up + np.maximum(part, 0), **style)
            axis.fill_between(one.t, down, down + np.minimum(part, 0), **style)
            area.set_gid(f"term {name}")
            up, down = up + np.maximum(part, 0), down + np.minimum(part, 0)
            _name_once(names, area, TERM_NAMES.get(name, name))
        (line,) = axis.plot(one.t, total[:, k], color=BLACK, linewidth=1.5)
        _name_once(names, line, "sum")
        largest = max(float(np.nanmax(np.abs(total[:, k]), initial=0.0)), 1e-12)
        if np.nanmax(np.abs(one.tau[:, k] - total[:, k]), initial=0.0) > 1e-3 * largest:
            (applied,) = axis.plot(one.t, one.tau[:, k], color=BLACK, linewidth=1.0, linestyle=(0, (4, 2)))
            _name_once(names, applied, "torque applied")
        axis.axhline(0, color=LIMIT_COLOR, linewidth=0.7)
        if max(up.max(), -down.min()) < 1e-9 * overall:  # rounding, not torque
            axis.set_ylim(-1e-3 * overall, 1e-3 * overall)
        axis.set_ylabel("torque, N m" if place.unit == "rad" else "force, N", fontsize="small")

    return _grid(trajectory, one, path, joints, ax, size, draw, names, "time, s", wide=True)


def plot_torque_speed(
    trajectory: Trajectory,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    row: int | Sequence[int] | None = None,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw torque over speed of each joint within the envelope of its limits: does the motor suffice?

    The frame is the envelope: the largest speed and the largest torque of the joint, both ways. Samples at or beyond
    it are marked, and the share of it that the motion uses is written above.

    Parameters
    ----------
    path, joints, row, ax, size
        As of `plot`, with axes for each joint.
    """
    one = drawn_row(trajectory, row)
    names: dict[Any, str] = {}

    def draw(axis: Any, place: Velocity) -> None:
        speed, torque = one.qd[:, place.index], one.tau[:, place.index]
        most_speed, most_torque = float(place.dof.velocity), float(place.dof.effort)
        (line,) = axis.plot(speed, torque, color=BLUE, linewidth=1.3)
        _name_once(names, line, "motion")
        _mark_ends(axis, speed, torque, names)
        with np.errstate(invalid="ignore"):
            beyond = (np.abs(speed) >= most_speed * (1 - 1e-9)) | (
                (np.abs(torque) >= most_torque * (1 - 1e-9)) & (most_torque > 0)
            )
        if beyond.any():
            (dots,) = axis.plot(speed[beyond], torque[beyond], "X", color=VERMILLION, markersize=5, markeredgewidth=0)
            dots.set_gid("at limit")
            _name_once(names, dots, "at or beyond the envelope")
        _draw_envelope(axis, most_speed, most_torque, names)
        turning = place.unit == "rad"
        axis.set_xlabel("speed, rad/s" if turning else "speed, m/s", fontsize="small")
        axis.set_ylabel("torque, N m" if turning else "force, N", fontsize="small")
        axis.axhline(0, color=LIMIT_COLOR, linewidth=0.6)
        axis.axvline(0, color=LIMIT_COLOR, linewidth=0.6)
        shares = [
            f"{100 * float(np.nanmax(np.abs(values))) / most:.0f} % of {word}"
            for values, most, word in ((torque, most_torque, "torque"), (speed, most_speed, "speed"))
            if 0 < most < np.inf
        ]
        axis.annotate(
            ", ".join(shares), (0.5, 1.0), xycoords="axes fraction", ha="center", va="bottom", fontsize="x-small"
        )  # fmt: skip

    return _grid(trajectory, one, path, joints, ax, size, draw, names, None, above=True)


def plot_phase(
    trajectory: Trajectory,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    row: int | Sequence[int] | None = None,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw the phase portrait of each joint: its velocity over its position, with its limits.

    Of a robot with one degree of freedom, grey lines show where it would go from everywhere if no torque were
    applied. Joints with a quaternion have no such picture.

    Parameters
    ----------
    path, joints, row, ax, size
        As of `plot`, with axes for each joint.
    """
    one = drawn_row(trajectory, row)
    names: dict[Any, str] = {}

    def draw(axis: Any, place: Velocity) -> None:
        assert place.coordinate is not None
        q, qd = one.q[:, place.coordinate], one.qd[:, place.index]
        (line,) = axis.plot(q, qd, color=BLUE, linewidth=1.6, zorder=3)
        _name_once(names, line, "motion")
        _mark_ends(axis, q, qd, names)
        if one.robot.nv == 1 and not one.robot.model.constraints:
            _draw_field(axis, one, names)
        coordinate = one.robot.model.layout.coordinates[place.coordinate]
        _draw_near(axis.axvline, axis.get_xlim(), (coordinate.lower, coordinate.upper), names)
        _draw_near(axis.axhline, axis.get_ylim(), (-place.dof.velocity, place.dof.velocity), names)
        turning = place.unit == "rad"
        axis.set_xlabel("position, rad" if turning else "position, m", fontsize="small")
        axis.set_ylabel("velocity, rad/s" if turning else "velocity, m/s", fontsize="small")

    return _grid(trajectory, one, path, joints, ax, size, draw, names, None, with_coordinate=True)


def _grid(
    trajectory: Trajectory,
    one: Trajectory,
    path: str | PathLike[str] | None,
    joints: Sequence[str] | None,
    ax: Any,
    size: Sequence[float] | None,
    draw: Callable[[Any, Velocity], None],
    names: dict[Any, str],
    x_label: str | None,
    *,
    wide: bool = False,
    above: bool = False,
    with_coordinate: bool = False,
) -> Figure:
    """A panel for each velocity of the chosen joints, with one legend below."""
    refuse_unwritable(path)
    chosen = chosen_joints(trajectory, joints)
    places = list(_places(one, chosen, with_coordinate))
    if not places:
        raise ShapeError(f"plot: robot {one.robot.name!r} has no joints with something to draw here")
    if len(places) > MAX_PANELS:
        raise ShapeError(f"plot: {len(places)} panels are too many for one figure; name at most {MAX_PANELS} joints")
    if ax is None:
        columns = _columns(len(places), wide)
        rows = math.ceil(len(places) / columns)
        across = 8.4 if columns > 1 else (6.4 if wide else 4.4)
        tall = (1.75 if wide else across / columns * 0.86) * rows + 0.9
        canvas = new_figure(across, tall, path, size)
        panels = list(canvas.subplots(rows, columns, sharex=wide, squeeze=False).ravel())
        for spare in panels[len(places) :]:
            spare.remove()
        show_plainly(canvas.suptitle("", fontsize="medium"), one.robot.name)
    else:
        panels = given_panels(ax, "plot", len(places), "one for each joint")
        canvas = figure_of(panels[0])
    for axis, place in zip(panels, places, strict=False):
        draw(axis, place)
        style_panel(axis)
        show_plainly(axis.set_title("", fontsize="small", pad=14 if above else 4), place.name)
    if x_label is not None:
        columns = 1 if ax is not None else _columns(len(places), wide)
        for k in range(len(places)):
            if ax is not None or k + columns >= len(places):
                panels[k].set_xlabel(x_label, fontsize="small")
                panels[k].tick_params(labelbottom=True)
    below = {"loc": "outside lower center", "ncols": legend_columns(list(names.values()), canvas.get_size_inches()[0])}
    style: dict[str, Any] = below if ax is None else {"loc": "best"}
    add_legend(canvas if ax is None else panels[0], names, fontsize="small", frameon=False, **style)
    return save_figure(canvas, path, dots_per_inch=120)


def _columns(count: int, wide: bool) -> int:
    if wide:
        return 1 if count <= 3 else 2
    return count if count <= 3 else 3 if count <= 9 else 4


def _places(one: Trajectory, joints: list[str] | None, with_coordinate: bool) -> Iterator[Velocity]:
    for place in one.robot.model.layout.velocities:
        if (joints is None or place.joint in joints) and (place.coordinate is not None or not with_coordinate):
            yield place


def _name_once(names: dict[Any, str], artist: Any, name: str) -> None:
    if name not in names.values():
        names[artist] = name


def _mark_ends(axis: Any, x: Array, y: Array, names: dict[Any, str]) -> None:
    (start,) = axis.plot(x[0], y[0], "o", color=BLACK, markerfacecolor="white", markersize=5.5, zorder=5)
    (end,) = axis.plot(x[-1], y[-1], "s", color=BLACK, markersize=5, zorder=5)
    _name_once(names, start, "start")
    _name_once(names, end, "end")


def _draw_envelope(axis: Any, speed: float, torque: float, names: dict[Any, str]) -> None:
    """Draw the frame of the largest speed and torque; where only one is limited, two lines."""
    style: dict[str, Any] = {"color": LIMIT_COLOR, "linestyle": (0, (1, 1.5)), "linewidth": 1.4}
    line = None
    if np.isfinite(speed) and np.isfinite(torque) and torque > 0:
        x, y = np.array([-1, 1, 1, -1, -1]) * speed, np.array([-1, -1, 1, 1, -1]) * torque
        (line,) = axis.plot(x, y, **style)
        line.set_gid("envelope")
    elif np.isfinite(torque) and torque > 0:
        line = axis.axhline(torque, **style)
        axis.axhline(-torque, **style)
    elif np.isfinite(speed):
        line = axis.axvline(speed, **style)
        axis.axvline(-speed, **style)
    if line is not None:
        _name_once(names, line, "envelope of limits")


def _draw_near(draw: Callable[..., Any], shown: tuple[float, float], limits: Any, names: dict[Any, str]) -> None:
    """Draw the limits that are within the axes, or half of their range away."""
    room = 0.5 * (shown[1] - shown[0])
    for value in limits:
        if shown[0] - room <= float(value) <= shown[1] + room:
            line = draw(float(value), color=LIMIT_COLOR, linestyle=(0, (1, 1.5)), linewidth=1.4)
            line.set_gid("limit")
            _name_once(names, line, "limit")


def _draw_field(axis: Any, one: Trajectory, names: dict[Any, str]) -> None:
    """Draw where a robot of one joint goes without torque, as lines around its motion."""
    (low, high), (slow, fast) = axis.get_xlim(), axis.get_ylim()
    x, y = np.linspace(low, high, 28), np.linspace(slow, fast, 28)
    states = np.stack(np.meshgrid(x, y), axis=-1)
    try:
        rates = forward_dynamics(one.robot, states[..., :1], states[..., 1:], np.zeros(1))[..., 0]
    except ChainruleError:
        return
    from matplotlib.lines import Line2D

    axis.streamplot(x, y, states[..., 1], rates, color="#b4bcc6", linewidth=0.6, arrowsize=0.7, density=1.1, zorder=1)
    axis.set_xlim(low, high)
    axis.set_ylim(slow, fast)
    _name_once(names, Line2D([], [], color="#b4bcc6", linewidth=0.8), "without torque")

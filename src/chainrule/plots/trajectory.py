"""Figures of trajectories over time: positions, velocities, torques and energies, with limits and references."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, as_list, flag, one_of, rows_of, whole_number
from chainrule.core.reading import describe_coordinates
from chainrule.errors import ShapeError, short_repr
from chainrule.model.layout import Coordinate, Velocity
from chainrule.plots.canvas import (
    BLACK,
    GRID_COLOR,
    LIMIT_COLOR,
    add_legend,
    curve_style,
    figure_of,
    given_panels,
    legend_columns,
    marks,
    new_figure,
    refuse_unwritable,
    save_figure,
    show_plainly,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.simulation.trajectory import Trajectory

MAX_DRAWN_SAMPLES = 5000
"""Samples drawn of each curve; more look the same."""

MAX_LEGEND_ENTRIES = 16
"""Curves beyond which a picture has no legend, unless joints were chosen."""

MIN_LEGEND_BESIDE = 5.5
"""Inches of a figure from which on its legend stands beside it, not below."""

QUANTITIES = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque", "energy": "energy"}
UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "qdd": ("rad/s²", "m/s²"), "tau": ("N m", "N")}
ENERGY_STYLES = {"kinetic": (LIMIT_COLOR, "--"), "potential": (LIMIT_COLOR, ":"), "sum of energies": (BLACK, "-")}

NEAR = 0.25
"""A limit is drawn where a joint comes nearer to it than this part of the way between its limits."""


def plot(
    trajectory: Trajectory,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    quantities: Sequence[str] = ("q", "qd", "tau", "energy"),
    reference: Any = None,
    limits: bool = True,
    row: int | Sequence[int] | None = None,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw positions, velocities, torques and energies over time, one panel each, with one legend for all.

    Parameters
    ----------
    path
        A .png, .pdf or .svg file to write. Without one the figure appears in a notebook, and with plt.show().
    joints
        Names of the joints that are drawn, all by default.
    quantities
        Of "q", "qd", "qdd", "tau" and "energy": a panel each.
    reference
        What the motion should have been, drawn dashed: another trajectory, a motion as of cr.plan, or a posture.
    limits
        Whether limits near the curves are drawn, and samples at or beyond a limit marked.
    row
        Which motion of a batch is drawn, the first by default.
    ax
        Axes to draw on, one for each quantity.
    size
        Width and height of the figure, in inches.
    """
    refuse_unwritable(path)
    chosen = chosen_joints(trajectory, joints)
    panels = [
        one_of(QUANTITIES, name, "quantity", "a trajectory") for name in as_list(quantities, "plot: quantities")
    ]  # fmt: skip
    if not panels:
        raise ShapeError("plot: quantities must name at least one of " + ", ".join(QUANTITIES))
    one = drawn_row(trajectory, row)
    with_limits = flag(limits, "plot: limits")
    target = _reference(one, reference)
    if ax is None:
        canvas = new_figure(8.4, 0.9 + 1.75 * len(panels), path, size)
        axes = list(np.ravel(np.asarray(canvas.subplots(len(panels), 1, sharex=True))))
    else:
        axes = given_panels(ax, "plot", len(panels), "one for each quantity")
        canvas = figure_of(axes[0])
    names = draw_panels(axes, one, panels, chosen, target, limits=with_limits)
    title = f"{one.robot.name}, {one.method}{_which(trajectory, row)}"
    if ax is None:
        show_plainly(canvas.suptitle("", fontsize="medium"), title)
    write_legend(canvas if ax is None else axes[0], names, ax is None, joints is not None)
    return save_figure(canvas, path, dots_per_inch=120)


def draw_panels(
    axes: Sequence[Any],
    one: Trajectory,
    panels: Sequence[str],
    joints: list[str] | None = None,
    reference: dict[str, Any] | None = None,
    *,
    limits: bool = True,
) -> dict[Any, str]:
    """Draw the named quantities of one motion, one on each of the axes; the artists that a legend names."""
    names: dict[Any, str] = {}
    for axis, name in zip(axes, panels, strict=True):
        if name == "energy":
            found = _draw_energies(axis, one)
        else:
            found = _Panel(axis, one, name, joints, reference or {}).draw(limits)
        names |= {curve: label for curve, label in found.items() if label not in names.values()}
        style_panel(axis)
    axes[-1].set_xlabel("time, s")
    return names


def write_legend(whole: Any, names: dict[Any, str], own: bool, chosen: bool) -> None:
    """One legend for all panels, beside them."""
    if len(names) > MAX_LEGEND_ENTRIES and not chosen:
        return
    place: dict[str, Any] = {"loc": "best"}
    if own and (width := float(whole.get_size_inches()[0])) >= MIN_LEGEND_BESIDE:
        place = {"loc": "outside right upper"}
    elif own:
        place = {"loc": "outside lower center", "ncols": legend_columns(list(names.values()), width)}
    add_legend(whole, names, fontsize="small", frameon=False, **place)


def style_panel(axis: Any) -> None:
    """The look of a panel: a light grid, no frame above and to the right."""
    axis.grid(color=GRID_COLOR, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.margins(x=0.01)
    axis.tick_params(labelsize="small")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def chosen_joints(trajectory: Trajectory, joints: Sequence[str] | None) -> list[str] | None:
    """The joints that a user names, checked; None for all of them."""
    if joints is None:
        return None
    where = f"robot {trajectory.robot.name!r}"
    listed = [joints] if isinstance(joints, str) else as_list(joints, "plot: joints")
    return [one_of(trajectory.robot.joint_names, joint, "joint", where) for joint in listed]


def drawn_row(trajectory: Trajectory, row: int | Sequence[int] | None = None) -> Trajectory:
    """One motion of a batch, the first unless one is named, with no more samples than can be seen."""
    if row is None:
        place = tuple(0 for _ in trajectory.batch)
    else:
        is_listed = isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim > 0)
        numbers = as_list(row, "plot: row") if is_listed else [row]
        place = tuple(whole_number(number, "plot: row") for number in numbers)
    if trajectory.batch and not np.prod(trajectory.batch):
        raise ShapeError("plot: this trajectory has no motions in its batch")
    one = trajectory.row(*place)
    if not len(one):
        raise ShapeError("plot: this trajectory has no samples")
    step = max(1, len(one) // MAX_DRAWN_SAMPLES)
    return one[::step] if step > 1 else one


def _which(trajectory: Trajectory, row: Any) -> str:
    """Which motion of a batch is drawn, in words."""
    if not trajectory.batch:
        return ""
    count = int(np.prod(trajectory.batch))
    return f", first of {count}" if row is None else f", row {row} of {count}"


def unit_words(name: str, places: Sequence[Coordinate | Velocity]) -> str:
    """The name of a quantity and the units of the joints that are drawn: "position, rad", "torque, N m or N"."""
    turning, sliding = UNITS[name]
    kinds = {place.unit for place in places}
    words = [turning] * ("rad" in kinds) + [sliding] * ("m" in kinds) + ["1"] * ("1" in kinds and name == "q")
    return f"{QUANTITIES[name]}, {' or '.join(words) or turning}"


def limits_of(place: Coordinate | Velocity, name: str) -> tuple[float, float]:
    """Limits of one number of a trajectory, infinite where there are none; no effort at all is no limit here."""
    if isinstance(place, Coordinate):
        return float(place.lower), float(place.upper)
    most = {"qd": place.dof.velocity, "tau": place.dof.effort}.get(name, np.inf)
    return (-float(most), float(most)) if most > 0 else (-np.inf, np.inf)


class _Panel:
    """One quantity of all chosen joints over time."""

    def __init__(
        self, axis: Any, one: Trajectory, name: str, joints: list[str] | None, reference: dict[str, Any]
    ) -> None:
        layout = one.robot.model.layout
        everything: Sequence[Coordinate | Velocity] = layout.coordinates if name == "q" else layout.velocities
        self.places = [place for place in everything if joints is None or place.joint in joints]
        self.axis, self.one, self.name, self.reference = axis, one, name, reference
        self.values = getattr(one, name)
        both: list[Coordinate | Velocity] = [*layout.coordinates, *layout.velocities]
        listed = dict.fromkeys(place.name for place in both if joints is None or place.joint in joints)
        order = {name: k for k, name in enumerate(listed)}  # a joint has one color in all panels
        self.styles = {place.index: curve_style(order[place.name]) for place in self.places}

    def draw(self, with_limits: bool) -> dict[Any, str]:
        """Draw curves, references and limits; the artists that a legend names."""
        names: dict[Any, str] = {}
        t = self.one.t
        for k, place in enumerate(self.places):
            every = marks(k, len(self.places), len(t))
            (curve,) = self.axis.plot(t, self.values[:, place.index], markevery=every, **self.styles[place.index])
            names[curve] = place.name
        names |= self._draw_reference()
        if with_limits:
            names |= self._draw_excess()
            names |= self._draw_limits()
        self.axis.set_ylabel(unit_words(self.name, self.places), fontsize="small")
        return names

    def _draw_reference(self) -> dict[Any, str]:
        drawn: dict[Any, str] = {}
        if self.name not in self.reference:
            return drawn
        t, values = self.reference["t"], self.reference[self.name]
        for place in self.places:
            color = self.styles[place.index]["color"]
            (line,) = self.axis.plot(t, values[:, place.index], linestyle=(0, (4, 2)), color=color, linewidth=1.1)
            line.set_gid("reference")
            drawn = drawn or {self._key(linestyle=(0, (4, 2)), color=LIMIT_COLOR, linewidth=1.1): "reference"}
        return drawn

    def _key(self, **style: Any) -> Any:
        from matplotlib.lines import Line2D

        return Line2D([], [], **style)

    def _draw_excess(self) -> dict[Any, str]:
        """Draw a broad band on the samples at or beyond a limit: saturation, where it is one of torque."""
        drawn: dict[Any, str] = {}
        for place in self.places:
            low, high = limits_of(place, self.name)
            values = self.values[:, place.index]
            size = max(abs(x) for x in (low, high) if np.isfinite(x)) if np.isfinite([low, high]).any() else 1.0
            with np.errstate(invalid="ignore"):
                beyond = (values >= high - 1e-9 * size) | (values <= low + 1e-9 * size)
            if beyond.any():
                style: dict[str, Any] = {"color": self.styles[place.index]["color"], "linewidth": 6.0, "alpha": 0.35}
                marked = np.where(beyond, values, np.nan)
                (band,) = self.axis.plot(self.one.t, marked, solid_capstyle="butt", zorder=1.5, **style)
                band.set_gid(f"at limit {self.name}")
                alone = beyond & ~np.roll(beyond, 1) & ~np.roll(beyond, -1)
                if alone.any():
                    self.axis.plot(
                        self.one.t[alone], values[alone], "o", markersize=6, alpha=0.35, color=style["color"]
                    )
                drawn = drawn or {self._key(color=LIMIT_COLOR, linewidth=6.0, alpha=0.35): "at or beyond a limit"}
        return drawn

    def _draw_limits(self) -> dict[Any, str]:
        """Draw the limits near the curves: in the color of their joint, in grey where several joints share one."""
        colors: dict[float, list[str]] = {}
        for place in self.places:
            values = self.values[:, place.index]
            values = values[np.isfinite(values)]
            ends = limits_of(place, self.name)
            between = ends[1] - ends[0] if np.isfinite(ends).all() else np.inf
            for value in ends if values.size else ():
                room = min(NEAR * between, max(float(np.ptp(values)), 0.1 * abs(value)))
                if np.isfinite(value) and values.min() - room <= value <= values.max() + room:
                    colors.setdefault(value, []).append(self.styles[place.index]["color"])
        for value, users in colors.items():
            color = users[0] if len(users) == 1 else LIMIT_COLOR
            line = self.axis.axhline(value, color=color, linestyle=(0, (1, 1.5)), linewidth=1.4, zorder=1)
            line.set_gid(f"limit {self.name}")
        if not colors:
            return {}
        return {self._key(color=LIMIT_COLOR, linestyle=(0, (1, 1.5)), linewidth=1.4): "limit"}


def _draw_energies(axis: Any, one: Trajectory) -> dict[Any, str]:
    """Draw kinetic energy, potential energy since the start, and their sum."""
    start = float(one.potential_energy[0])
    values = (one.kinetic_energy, one.potential_energy - start, one.energy - start)
    names = {}
    for (name, (color, style)), each in zip(ENERGY_STYLES.items(), values, strict=True):
        (curve,) = axis.plot(one.t, each, color=color, linestyle=style, linewidth=1.6)
        names[curve] = name
    axis.set_ylabel("energy, J", fontsize="small")
    return names


def _reference(one: Trajectory, reference: Any) -> dict[str, Array]:
    """A reference as arrays by name, with their times t: of another motion, a function of time, or a posture."""
    if reference is None:
        return {}
    robot = one.robot
    if callable(reference):
        parts = [np.asarray(part, dtype=float) for part in reference(one.t)]
        found = {"t": one.t, **dict(zip(("q", "qd", "qdd"), parts, strict=False))}
    elif hasattr(reference, "t") and hasattr(reference, "q"):
        rows = drawn_row(reference) if hasattr(reference, "row") else reference
        found = {
            name: np.asarray(getattr(rows, name)) for name in ("t", "q", "qd", "qdd", "tau") if hasattr(rows, name)
        }
    else:
        posture = rows_of(reference, robot.nq, "plot: reference", describe_coordinates(robot))
        if posture.ndim != 1:
            raise ShapeError(f"plot: reference must be a motion or one posture, got shape {posture.shape}")
        found = {"t": one.t[[0, -1]], "q": np.stack([posture, posture])}
    for name, width in (("q", robot.nq), ("qd", robot.nv), ("qdd", robot.nv), ("tau", robot.nv)):
        if name in found and found[name].shape != (len(found["t"]), width):
            raise ShapeError(
                f"plot: reference must be a motion of robot {robot.name!r}, with {name} of shape "
                f"({len(found['t'])}, {width}), got {short_repr(found[name].shape)}"
            )
    return found

"""Manipulability along a way through joint space."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import rows_of
from chainrule.errors import ShapeError
from chainrule.plots.canvas import LINK, blank, finished

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.robot.robot import Robot


def figure(
    robot: Robot, q: Any, path: str | PathLike[str] | None, *, t: Any, link: str | None, part: str | None
) -> Figure:
    """w, the singular values and the condition number of postures (k, nq), over time t (k) or their number."""
    states = rows_of(q, robot.nq, "plot_manipulability: q", "a number for each coordinate")
    if states.ndim != 2 or len(states) < 2:
        raise ShapeError(f"plot_manipulability: q must be postures in a row, (k, {robot.nq}), got shape {states.shape}")
    over = np.arange(len(states)) if t is None else np.asarray(t, dtype=float)
    if over.shape != (len(states),):
        raise ShapeError(f"plot_manipulability: t must have {len(states)} numbers, one a posture, got {over.shape}")
    drawn = blank(8, 8, path)
    rows = drawn.subplots(3, 1, sharex=True)
    w = robot.manipulability(states, link, part=part)
    s = robot.singular_values(states, link, part=part)[:, : robot.task_rank(link, part=part)]
    rows[0].plot(over, w, color=LINK, linewidth=2)
    rows[0].fill_between(over, 0, w, color=LINK, alpha=0.1)
    rows[0].set_ylabel("manipulability w")
    for k, colour in enumerate(_shades(s.shape[1])):
        rows[1].plot(over, s[:, k], color=colour, label=f"$s_{k + 1}$")
    rows[1].set_ylabel("singular values")
    rows[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    with np.errstate(all="ignore"):
        rows[2].semilogy(over, s[:, 0] / s[:, -1], color=LINK)
    rows[2].set_ylabel("condition number")
    rows[2].set_xlabel("posture" if t is None else "time, s")
    singular = robot.is_singular(states, link, part=part, tolerance=1e-3)
    for row in rows:
        row.grid(alpha=0.3)
        row.margins(x=0)
        for at in over[singular]:
            row.axvline(at, color="#d1495b", linewidth=0.8)
    rows[0].set_ylim(bottom=0)
    many = f"; singular to 1/1000 at {int(singular.sum())} of {len(states)} postures" if singular.any() else ""
    drawn.suptitle(f"{robot.name}{many}")
    return finished(drawn, path)


def _shades(count: int) -> Any:
    from matplotlib import colormaps

    return colormaps["viridis"](np.linspace(0.0, 0.9, count))

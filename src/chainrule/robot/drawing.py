"""Pictures that a robot makes of itself."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot


class Drawing:
    """Figures of Matplotlib, written to a .png, .pdf or .svg file where a path is given."""

    def plot(
        self,
        q: ArrayLike,
        path: str | PathLike[str] | None = None,
        *,
        link: str | None = None,
        frames: bool = True,
        screws: bool = True,
        ellipsoids: Sequence[str] = (),
    ) -> Figure:
        """The robot in a posture, or in several (k, nq), with link frames and screw axes.

        ellipsoids: of "velocity", "force" and "acceleration", drawn at a link or frame, the end-effector unless named.
        """
        from chainrule.plots.posture import figure

        return figure(self._robot(), q, path, link=link, frames=frames, screws=screws, ellipsoids=ellipsoids)

    def plot_manipulability(
        self,
        q: ArrayLike,
        path: str | PathLike[str] | None = None,
        *,
        t: ArrayLike | None = None,
        link: str | None = None,
        part: str | None = None,
    ) -> Figure:
        """Manipulability, singular values and condition number along postures (k, nq), over times t (k) if given."""
        from chainrule.plots.manipulability import figure

        return figure(self._robot(), q, path, t=t, link=link, part=part)

    def _robot(self) -> Robot:
        return cast("Robot", self)

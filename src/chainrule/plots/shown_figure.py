"""Figures that are shown: one of pyplot's, which a notebook displays once, not twice."""

from __future__ import annotations

from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure of pyplot's. A notebook displays it below the cell that made it, or as the cell's last value, not both.

    Later, by its name in another cell, it is displayed as any figure is.
    """

    def _ipython_display_(self) -> None:
        """Take the figure from pyplot's list, so that the end of the cell does not display it again; display it."""
        if "inline" in str(matplotlib.get_backend()).lower():
            plt.close(self)
        raise NotImplementedError  # IPython then displays it as any figure


def new_shown_figure(inches: tuple[float, float]) -> Any:
    """A new figure that pyplot shows."""
    return plt.figure(figsize=inches, layout="constrained", FigureClass=ShownFigure)

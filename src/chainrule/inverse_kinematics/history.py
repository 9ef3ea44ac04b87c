"""The iterates of inverse kinematics: every configuration on the way, its errors and the steps between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chainrule import lazy
from chainrule.arguments import Array
from chainrule.display.text import Shown, Table

if TYPE_CHECKING:
    from chainrule.plots import inverse_kinematics as plots


@dataclass(frozen=True, eq=False, repr=False)
class IterationHistory(Shown):
    """Every iterate of one search, from its start on; the last is the one that solved it, or the last allowed."""

    method: str
    q: Array
    """Configurations (K + 1, nq), in rad and m; the first is the start."""
    error: Array
    """Errors of position and orientation at each, in m and rad: (K + 1, 2); zero for what the task leaves free."""
    step: Array
    """Steps between them (K, n), in rad and m. A step of "lm" that would not help is not taken, and zero here."""
    names: tuple[str, ...] = field(repr=False)
    """The names of the numbers of q."""
    starts_singular: bool = False
    """Whether the Jacobian is singular at the start, where Newton's method has no inverse to step with."""

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.step)

    @property
    def header(self) -> tuple[str, ...]:
        """The columns of its table."""
        return "iteration", "error, m", "error, rad", "step", *self.names

    def rows(self) -> list[tuple[str, ...]]:
        """Number, errors, size of the step to the next, and configuration of each iterate, as text."""
        sizes = [*(f"{size:.3g}" for size in np.linalg.norm(self.step, axis=-1)), ""]
        return [
            (str(k), *(f"{x:.3g}" for x in self.error[k]), sizes[k], *(f"{x:.6f}" for x in self.q[k]))
            for k in range(len(self.q))
        ]

    def _view(self) -> Iterator[str | Table]:
        singular = ", from where the Jacobian is singular: rounding leads on" if self.starts_singular else ""
        yield f"{len(self)} steps of {self.method}{singular}"
        yield Table(self.header, self.rows())

    if TYPE_CHECKING:
        plot = plots.plot
    else:
        plot = lazy.method("chainrule.plots.inverse_kinematics", "plot")

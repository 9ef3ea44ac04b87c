"""Closing loops: the constraints' residuals and Jacobian, and configurations in which every loop is closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, names
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, quoted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
def constraint_residual(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """phi(q), zero where every loop is closed: (..., rows), in m, and without unit for directions."""
    return robot.evaluate("constraint_residual", q=q, out=out)


@takes_dask()
def constraint_jacobian(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """G with d phi/dt = G qd: (..., rows, n)."""
    return robot.evaluate("constraint_jacobian", q=q, out=out)


@takes_dask()
def constraint_velocity_terms(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """gamma = dG/dt qd, so that d2 phi/dt2 = G qdd + gamma: (..., rows)."""
    return robot.evaluate("constraint_velocity_terms", q=q, qd=qd, out=out)


@takes_dask()
def constraint_poses(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """The pose of each constraint's second origin in its first: (..., constraints, 4, 4)."""
    return robot.evaluate("constraint_poses", q=q, out=out)


@takes_dask()
def close(robot: Mechanism, q: ArrayLike, *, hold: Sequence[str] = ()) -> Array:
    """A closed configuration near q, for each state of a batch: (..., nq). The joints in `hold` stay as they are.

    Newton's method with damping. Where it ends in a loop that is open, or closed the wrong way round (axes
    opposed), other starts around q are tried; if all fail, the error says which constraint stays open.

    >>> import chainrule as cr
    >>> bar = cr.load("four_bar")
    >>> q = bar.close([1.0, 0.0, 0.0], hold=["crank"])
    >>> bool(abs(bar.constraint_residual(q)).max() < 1e-12)
    True
    """
    (state,) = robot.read("close", q=q)
    if not robot.model.constraints:
        return np.array(state, dtype=float)
    flat = state.reshape(-1, robot.nq)
    best, good = robot.closure.close(flat, robot.find_velocities("close", names(hold, "close: hold")))
    bad = np.flatnonzero(~good & np.isfinite(flat).all(axis=-1))
    if len(bad):
        details = f" with {quoted(hold)} held" if hold else ""
        details += f" ({len(bad)} of {len(flat)} states)" if len(flat) > 1 else ""
        advice = ", or hold fewer joints" if hold else ""
        raise ModelError(robot.closure.refusal(best[bad[0]], details, advice))
    return best.reshape(state.shape)


@takes_dask()
def closing_step(robot: Mechanism, q: ArrayLike) -> Array:
    """One Newton step towards closed loops: integrate(q, closing_step(q)) has less residual: (..., n).

    The smallest such step in the metric of the mass matrix.
    """
    if not robot.model.constraints:
        return np.zeros((*robot.read("closing_step", q=q)[0].shape[:-1], robot.nv))
    return robot.evaluate("closing_step", q=q)

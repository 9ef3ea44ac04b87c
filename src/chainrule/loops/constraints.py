"""The equations of constraints: residuals and Jacobian; and configurations in which every loop is closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import loop_equations, loop_projection
from chainrule.arguments import Array, names
from chainrule.core.at import reads_model
from chainrule.core.closure import closure_of
from chainrule.core.declaration import BY_ALGORITHM, composition, function
from chainrule.core.evaluation import zeros
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import PROJECTED
from chainrule.core.reading import find_velocities, read_state
from chainrule.errors import ModelError, quoted
from chainrule.functions.table import CONSTRAINTS, DISPLACEMENTS, DOFS, EQUATIONS, POSITIONS, QD, Needs, Q

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@function(
    loop_equations.residuals,
    subject="loops",
    takes=(Q,),
    gives=(EQUATIONS,),
    needs=Needs.NOTHING,
    answer="residuals of the equations of {constraints} (m, or products of unit axes)",
)
def residual(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """phi(q), zero where every loop is closed: (..., rows), in m, and without unit for directions."""


@function(
    loop_equations.constraint_jacobian,
    subject="loops",
    takes=(Q,),
    gives=(EQUATIONS, DOFS),
    needs=Needs.NOTHING,
    answer="derivatives of the residuals of {constraints}; columns {columns}",
)
def jacobian(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """G with d phi/dt = G qd: (..., rows, nv)."""


@function(
    loop_equations.velocity_terms,
    subject="loops",
    takes=(Q, QD),
    gives=(EQUATIONS,),
    needs=Needs.NOTHING,
    answer="velocity terms of the second derivatives of the residuals of {constraints}",
)
def velocity_terms(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """gamma = dG/dt qd, so that d2 phi/dt2 = G qdd + gamma: (..., rows)."""


@function(
    lambda m, q: [X.rows() for X in loop_equations.constraint_poses(m, q)],
    subject="loops",
    takes=(Q,),
    gives=(CONSTRAINTS, 4, 4),
    parts={"rotation": (np.s_[..., :3, :3], ""), "translation": (np.s_[..., :3, 3], "m")},
    needs=Needs.NOTHING,
    answer="poses of the second frame of {constraints} in the first: homogeneous matrices, their translations in m",
)
def poses(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """The pose of each constraint's second origin in its first: (..., constraints, 4, 4)."""


@reads_model
@composition((POSITIONS,))
def close(robot: Mechanism, q: ArrayLike, *, hold: Sequence[str] = (), out: Array | None = None) -> Array:
    """A closed configuration near q, for each state of a batch: (..., nq). The joints in `hold` stay as they are.

    Newton's method with damping. Where it ends in a loop that is open, or closed the wrong way round (axes
    opposed), other starts around q are tried; if all fail, the error says which constraint stays open.

    >>> import chainrule as cr
    >>> bar = cr.load("four_bar")
    >>> q = bar.loops.close([1.0, 0.0, 0.0], hold=["crank"])
    >>> bool(abs(bar.loops.residual(q)).max() < 1e-12)
    True
    """
    (state,) = read_state(robot, "close", q=q)
    if not robot.model.constraints:
        return np.array(state, dtype=float)
    flat = state.reshape(-1, robot.nq)
    best, good = closure_of(robot).close(flat, find_velocities(robot, "close", names(hold, "close: hold")))
    bad = np.flatnonzero(~good & np.isfinite(flat).all(axis=-1))
    if len(bad):
        details = f" with {quoted(hold)} held" if hold else ""
        details += f" ({len(bad)} of {len(flat)} states)" if len(flat) > 1 else ""
        advice = ", or hold fewer joints" if hold else ""
        raise ModelError(closure_of(robot).refusal(best[bad[0]], details, advice))
    return best.reshape(state.shape)


@function(
    loop_projection.closing_step,
    subject="loops",
    takes=(Q,),
    gives=(DISPLACEMENTS,),
    needs=Needs.INVERTIBLE_MASS,
    loops=PROJECTED,
    answer="displacements that close the loops, of {displacements}",
)
def closing_step(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """One Newton step towards closed loops: integrate(q, closing_step(q)) has less residual: (..., nv).

    The smallest such step in the metric of the mass matrix.
    """
    if not robot.model.constraints:
        return zeros(robot, "closing_step", (robot.nv,), out, q=q)
    return BY_ALGORITHM

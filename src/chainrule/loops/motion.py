"""Motions that keep loops closed: consistent velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, names
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, quoted
from chainrule.loops.closure import constraint_jacobian, constraint_velocity_terms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_VIOLATION = 1e-6
"""How far velocities and accelerations may violate the constraints, relative to the terms that should cancel."""


@takes_dask()
def consistent_velocity(robot: Mechanism, q: ArrayLike, qd: ArrayLike, hold: Sequence[str] = ()) -> Array:
    """The velocity nearest to qd that keeps the loops closed, in the metric of the mass matrix: (..., n).

    The joints in `hold` keep theirs; an error names the constraint if the others cannot follow.
    """
    held = robot.find_velocities("consistent_velocity", names(hold, "consistent_velocity: hold"))
    if not robot.model.constraints:
        return np.array(robot.read("consistent_velocity", q=q, qd=qd)[1], dtype=float)
    v = robot.evaluate("consistent_velocity", q=q, qd=qd, held=held)
    if held:
        still = np.zeros(len(robot.model.rows))
        refuse_violation(robot, "consistent_velocity", q, v, still, f"with {quoted(hold)} held")
    return v


@takes_dask()
def consistent_acceleration(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, hold: Sequence[str] = ()
) -> Array:
    """The acceleration nearest to qdd that keeps the loops closed, G qdd + gamma = 0: (..., n)."""
    held = robot.find_velocities("consistent_acceleration", names(hold, "consistent_acceleration: hold"))
    if not robot.model.constraints:
        return np.array(robot.read("consistent_acceleration", q=q, qd=qd, qdd=qdd)[2], dtype=float)
    a = robot.evaluate("consistent_acceleration", q=q, qd=qd, qdd=qdd, held=held)
    if held:
        gamma = constraint_velocity_terms(robot, q, qd)
        refuse_violation(robot, "consistent_acceleration", q, a, gamma, f"with {quoted(hold)} held")
    return a


def refuse_violation(robot: Mechanism, function: str, q: ArrayLike, v: Array, gamma: Array, how: str) -> None:
    """Raise, naming the constraint, where G v + gamma is not zero; states that are not finite are passed over."""
    G = constraint_jacobian(robot, q)
    left = np.abs((G @ v[..., None])[..., 0] + gamma)
    scale = (np.abs(G) @ np.abs(v)[..., None])[..., 0] + np.abs(gamma)
    bad = left > MAX_VIOLATION * (1 + scale.max(axis=-1, initial=0.0, keepdims=True))
    if bad.any():
        row = int(np.argwhere(bad)[0][-1])
        name = robot.model.rows[row].name
        raise ModelError(
            f"{function}: {how}, constraint {name!r} is violated by {left[bad].max():.3g}: the joints do not move "
            "together; robot.consistent_velocity and robot.consistent_acceleration keep loops closed"
        )

"""Motions that keep loops closed: consistent velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import loop_projection
from chainrule.arguments import Array, names
from chainrule.core.declaration import composition, variant
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import PROJECTED
from chainrule.core.reading import find_velocities, read_state
from chainrule.errors import ModelError, quoted
from chainrule.functions.table import ACCELERATIONS, QD, QDD, VELOCITIES, Needs, Q
from chainrule.loops.constraints import jacobian, velocity_terms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_VIOLATION = 1e-6
"""How far velocities and accelerations may violate the constraints, relative to the terms that should cancel."""


variant(
    loop_projection.consistent_velocity,
    "loops.consistent_velocity",
    of="loops.consistent_velocity",
    takes=(Q, QD),
    gives=(VELOCITIES,),
    needs=Needs.INVERTIBLE_MASS,
    loops=PROJECTED,
    answer="velocities that keep the loops closed, of {velocities}",
)


@composition((VELOCITIES,))
def consistent_velocity(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, hold: Sequence[str] = (), out: Array | None = None
) -> Array:
    """The velocity nearest to qd that keeps the loops closed, in the metric of the mass matrix: (..., n).

    The joints in `hold` keep theirs; an error names the constraint if the others cannot follow.
    """
    held = find_velocities(robot, "consistent_velocity", names(hold, "consistent_velocity: hold"))
    if not robot.model.constraints:
        return np.array(read_state(robot, "consistent_velocity", q=q, qd=qd)[1], dtype=float)
    v = evaluate(robot, "loops.consistent_velocity", q=q, qd=qd, held=held)
    if held:
        still = np.zeros(len(robot.model.rows))
        refuse_violation(robot, "consistent_velocity", q, v, still, f"with {quoted(hold)} held")
    return v


variant(
    loop_projection.consistent_acceleration,
    "loops.consistent_acceleration",
    of="loops.consistent_acceleration",
    takes=(Q, QD, QDD),
    gives=(ACCELERATIONS,),
    needs=Needs.INVERTIBLE_MASS,
    loops=PROJECTED,
    answer="accelerations that keep the loops closed, of {accelerations}",
)


@composition((ACCELERATIONS,))
def consistent_acceleration(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, hold: Sequence[str] = (), out: Array | None = None
) -> Array:
    """The acceleration nearest to qdd that keeps the loops closed, G qdd + gamma = 0: (..., n)."""
    held = find_velocities(robot, "consistent_acceleration", names(hold, "consistent_acceleration: hold"))
    if not robot.model.constraints:
        return np.array(read_state(robot, "consistent_acceleration", q=q, qd=qd, qdd=qdd)[2], dtype=float)
    a = evaluate(robot, "loops.consistent_acceleration", q=q, qd=qd, qdd=qdd, held=held)
    if held:
        gamma = velocity_terms(robot, q, qd)
        refuse_violation(robot, "consistent_acceleration", q, a, gamma, f"with {quoted(hold)} held")
    return a


def refuse_violation(robot: Mechanism, function: str, q: ArrayLike, v: Array, gamma: Array, how: str) -> None:
    """Raise, naming the constraint, where G v + gamma is not zero; states that are not finite are passed over."""
    G = jacobian(robot, q)
    left = np.abs((G @ v[..., None])[..., 0] + gamma)
    scale = (np.abs(G) @ np.abs(v)[..., None])[..., 0] + np.abs(gamma)
    bad = left > MAX_VIOLATION * (1 + scale.max(axis=-1, initial=0.0, keepdims=True))
    if bad.any():
        row = int(np.argwhere(bad)[0][-1])
        name = robot.model.rows[row].name
        raise ModelError(
            f"{function}: {how}, constraint {name!r} is violated by {left[bad].max():.3g}: the joints do not move "
            "together; robot.loops.consistent_velocity and robot.loops.consistent_acceleration keep loops closed"
        )

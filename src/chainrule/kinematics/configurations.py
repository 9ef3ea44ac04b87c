"""Configurations: the neutral one, home, random ones, and their arithmetic on the configuration manifold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms import configuration
from chainrule.arguments import Array, batch_shape, refuse_beyond_memory
from chainrule.calls import explains_arguments
from chainrule.core.closure import closure_of
from chainrule.core.declaration import function
from chainrule.core.mechanism import Mechanism
from chainrule.core.sampling import random_configurations
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.functions.table import DISPLACEMENTS, POSITIONS, Q0, Q1, RATES, Needs, Q, V
from chainrule.model.configurations import home_positions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RANDOM_ATTEMPTS = 40
"""How often configurations that do not close, or leave the limits, are drawn again."""
FAR_ATTEMPTS = 4
"""Attempts that are drawn over the whole range; later ones start from a closed configuration."""


@explains_arguments
def neutral(robot: Mechanism) -> Array:
    """The configuration of all zeros, and of unit quaternions: (nq,)."""
    return np.array(robot.model.layout.neutral, dtype=float)


@explains_arguments
def home(robot: Mechanism) -> Array:
    """The configuration to start from: (nq,).

    That is the configuration named "home" where the robot has one. Otherwise it is the neutral one, with coordinates
    whose limits exclude it moved to the middle between them, or to the limit where there is only one. Loops are closed
    from there, within the limits where a closed configuration within them is found.

    >>> import chainrule as cr
    >>> cr.load("pendulum").home().tolist()
    [0.0]
    """
    q = np.array([*home_positions(robot.model.layout, robot.model.configurations).values()], dtype=float)
    if not robot.model.constraints or closure_of(robot).is_closed(q):
        return q
    states, good = closure_of(robot).close(q[None])
    if good.all() and within_limits(robot, states).all():
        return np.asarray(states[0])
    try:
        return random_state(robot, np.random.default_rng(0))
    except ModelError:
        return np.array(closure_of(robot).neutral)


@explains_arguments
def random_state(robot: Mechanism, rng: np.random.Generator | None = None, shape: int | Sequence[int] = ()) -> Array:
    """Random configurations q, of the given batch shape: uniform within the limits.

    Where there is no limit, angles are within +-pi and lengths within +-1 m; orientations are uniform. Closed
    loops are closed from there.
    """
    rng = np.random.default_rng() if rng is None else rng
    if not isinstance(rng, np.random.Generator):
        raise ShapeError(
            f"rng must be a NumPy random generator, such as np.random.default_rng(0), got {short_repr(rng)}; "
            "random_state(rng, shape) takes the number of states as its shape"
        )
    batch = batch_shape(shape)
    refuse_beyond_memory(2.0 * math.prod(batch) * robot.nq, f"random_state: a batch of shape {batch}")
    if robot.model.constraints:
        return _random_closed(robot, rng, batch)
    return random_configurations(robot.model.layout, rng, batch)


def _random_closed(robot: Mechanism, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
    """Random configurations that are closed and within the limits: those that are not are drawn again."""
    count = int(np.prod(batch))
    q = np.empty((count, robot.nq))
    open_ = np.arange(count)
    for k in range(RANDOM_ATTEMPTS):
        if not len(open_):
            return q.reshape(*batch, robot.nq)
        drawn = random_configurations(robot.model.layout, rng, (len(open_),))
        if k >= FAR_ATTEMPTS:  # a mechanism of many loops seldom closes from afar: start ever nearer to a closed one
            away = rng.normal(size=(len(open_), robot.nv)) / (k - 3)
            drawn = integrate(robot, closure_of(robot).neutral, away)
        states, good = closure_of(robot).close(drawn)
        good &= within_limits(robot, states)
        q[open_[good]] = states[good]
        open_ = open_[~good]
    raise ModelError(
        f"robot {robot.name!r}: no closed configuration within the limits was found at random; close one that "
        "you know, with robot.loops.close(q)"
    )


def within_limits(robot: Mechanism, q: Array) -> NDArray[np.bool_]:
    """Whether configurations (..., nq) keep the limits of the joints that have coordinates to be limited: (...)."""
    return np.asarray(((q >= robot.model.layout.lower) & (q <= robot.model.layout.upper)).all(axis=-1))


@function(
    configuration.integrate,
    takes=(Q, V),
    gives=(POSITIONS,),
    needs=Needs.NOTHING,
    answer="positions of {coordinates}",
)
def integrate(robot: Mechanism, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """The configuration reached from q by the velocity v in unit time, on the configuration manifold: (..., nq)."""


@function(
    configuration.coordinate_rates,
    subject="states",
    takes=(Q, V),
    gives=(RATES,),
    needs=Needs.NOTHING,
    answer="rates of the coordinates, per second, of {coordinates}",
)
def coordinate_rates(robot: Mechanism, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """dq/dt at the velocity v: v itself, but for joints with quaternions: (..., nq)."""


@function(
    configuration.difference,
    takes=(Q0, Q1),
    gives=(DISPLACEMENTS,),
    needs=Needs.NOTHING,
    answer="displacements from q0 to q1 of {displacements}",
)
def difference(robot: Mechanism, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
    """The velocity v that leads from q0 to q1 in unit time: integrate(q0, difference(q0, q1)) is q1: (..., nv)."""

"""The equations of motion near a state, as a linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, number
from chainrule.core.at import reads_model
from chainrule.core.declaration import takes_dask
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.display.text import advises_names, text_of_arrays
from chainrule.dynamics.derivatives import forward_dynamics_derivatives
from chainrule.dynamics.dynamics import forward_dynamics
from chainrule.errors import ShapeError, SimulationError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TOLERANCE = 1e-9
"""Change from steps to half of them, relative to the largest number; the error of RK4 is then a fifteenth of it."""
MAX_HALVINGS = 12
"""Halvings of a step before the motion counts as unresolved: 4,096 steps."""


@advises_names
class Linearization(NamedTuple):
    """A linear system near a state: x = (displacement of q, change of qd), u = change of tau.

    Continuous: dx/dt = A x + B u + f. Discrete, with a step: x[k+1] = A x[k] + B u[k] + f. Shapes (..., 2n, 2n),
    (..., 2n, n) and (..., 2n). f is the motion of the state itself, zero at an equilibrium. With quaternions, A x + B u
    is a displacement from the configuration in which that motion ends.
    """

    A: Array
    B: Array
    f: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@reads_model
@takes_dask()
def linearize(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike = 0, tau: ArrayLike = 0, dt: float | None = None
) -> Linearization:
    """The linear system that the equations of motion are near a state, with torques tau.

    The displacement of q is in the n directions of qd: q = integrate(q_0, x). With quaternions it is one of the moving
    axes, which turn with the state: dx/dt then has -ad_qd x besides the change of qd.

    Parameters
    ----------
    q, qd, tau
        Configurations (..., nq), velocities and torques (..., n); zero where they are left out.
    dt
        A step, in s: the system from sample to sample, for torques that are constant in between. It is the derivative
        of the motion itself, to nine digits, also where the state moves. None for the continuous system.

    >>> import chainrule as cr, numpy as np
    >>> arm = cr.load("planar_2r")
    >>> up = arm.linearize([np.pi / 2, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> [round(float(x), 2) for x in sorted(np.linalg.eigvals(up.A).real)]
    [-5.79, -2.4, 2.4, 5.79]
    """
    at, rates, torques = read_state(robot, "linearize", q=q, qd=qd, tau=tau)
    if dt is None:
        return _continuous(robot, at, rates, torques)
    step = number(dt, "linearize: dt", "s")
    if not (np.isfinite(step) and step > 0):
        raise ShapeError(f"linearize: dt must be a positive time in s, got {dt!r}")
    return _sample_to_sample(robot, at, rates, torques, step)


def _continuous(robot: Mechanism, q: Array, qd: Array, tau: Array) -> Linearization:
    """The rates of a state, and their derivatives by the state and the torques."""
    n, batch = robot.nv, q.shape[:-1]
    A, B, f = np.zeros((*batch, 2 * n, 2 * n)), np.zeros((*batch, 2 * n, n)), np.zeros((*batch, 2 * n))
    A[..., :n, :n] = -_brackets(robot, qd)
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = forward_dynamics_derivatives(robot, q, qd, tau)
    f[..., :n], f[..., n:] = qd, forward_dynamics(robot, q, qd, tau)
    return Linearization(A, B, f)


def _brackets(robot: Mechanism, qd: Array) -> Array:
    """The matrix ad_qd (..., n, n): brackets of velocities of joints whose configuration is a quaternion."""
    n = robot.nv
    ad = np.zeros((*qd.shape[:-1], n, n))
    for place in robot.model.layout.by_joint.values():
        size, start = place.joint.kind.nv, place.v.start
        if place.joint.kind.nq == size:
            continue
        for offset in range(0, size, 3):  # omega turns omega and v; v turns omega into v
            rows, columns = slice(start + offset, start + offset + 3), slice(start, start + 3)
            ad[..., rows, rows] += _cross_matrix(qd[..., columns])
            if offset:
                ad[..., rows, columns] += _cross_matrix(qd[..., rows])
    return ad


def _cross_matrix(w: Array) -> Array:
    """The matrices (..., 3, 3) of the cross products with w (..., 3)."""
    return np.cross(w[..., None, :], np.eye(3)).swapaxes(-1, -2)


def _sample_to_sample(robot: Mechanism, q: Array, qd: Array, tau: Array, dt: float) -> Linearization:
    """The system from sample to sample, along the motion: the steps of each row are halved until it changes no more."""
    n, batch = robot.nv, q.shape[:-1]
    q, qd, tau = (values.reshape(-1, values.shape[-1]) for values in (q, qd, tau))
    is_finite = np.isfinite(np.concatenate([q, qd, tau], axis=1)).all(axis=1)
    result = np.empty((len(q), 2 * n, 3 * n + 1))
    rows, coarse = np.arange(len(result)), _flow(robot, q, qd, tau, dt, 1)
    for halvings in range(1, MAX_HALVINGS + 1):
        fine = _flow(robot, q[rows], qd[rows], tau[rows], dt, 2**halvings)
        change, largest = np.abs(fine - coarse), np.abs(fine).max(axis=(1, 2), keepdims=True, initial=1.0)
        is_rough = ~(change <= TOLERANCE * largest).all(axis=(1, 2)) & is_finite[rows]
        result[rows[~is_rough]] = fine[~is_rough]
        rows, coarse = rows[is_rough], fine[is_rough]
        if not rows.size:
            result = result.reshape(*batch, *result.shape[1:])
            return Linearization(result[..., : 2 * n], result[..., 2 * n : -1], result[..., -1])
    raise SimulationError(
        f"linearize: the motion in dt = {dt:g} s is not resolved by {2**MAX_HALVINGS} steps of RK4; give a shorter dt"
    )


def _flow(robot: Mechanism, q: Array, qd: Array, tau: Array, dt: float, steps: int) -> Array:
    """A, B and f of the motion in a time dt, side by side, by RK4: dx/dt = A x + B u beside the motion itself.

    Displacements u within a step are those of Munthe-Kaas: du/dt = qd + [u, qd] / 2 + [u, [u, qd]] / 12.
    """
    n, h = robot.nv, dt / steps
    no_inputs = np.zeros((len(q), 2 * n, 2 * n))
    at, rates = q, qd
    by_start = np.zeros((*q.shape[:-1], 2 * n, 3 * n))  # derivatives by q, qd and tau
    by_start[..., : 2 * n] = np.eye(2 * n)
    for _ in range(steps):
        sums = slopes = [np.zeros_like(qd), np.zeros_like(qd), np.zeros_like(by_start)]
        for ahead, weight in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            u, change, derivative = (ahead * h * slope for slope in slopes)
            velocity = rates + change
            A, B, f = _continuous(robot, evaluate(robot, "integrate", q=at, v=u), velocity, tau)
            ad = _brackets(robot, u)
            bracket = (ad @ velocity[..., None])[..., 0]
            slopes = [
                velocity + bracket / 2 + (ad @ bracket[..., None])[..., 0] / 12,
                f[..., n:],
                A @ (by_start + derivative) + np.concatenate([no_inputs, B], axis=-1),
            ]
            sums = [total + weight * h * slope for total, slope in zip(sums, slopes, strict=True)]
        at, rates, by_start = evaluate(robot, "integrate", q=at, v=sums[0]), rates + sums[1], by_start + sums[2]
    f = np.concatenate([evaluate(robot, "difference", q0=q, q1=at), rates - qd], axis=-1)
    return np.concatenate([by_start, f[..., None]], axis=-1)

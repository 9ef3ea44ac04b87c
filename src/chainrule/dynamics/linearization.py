"""The equations of motion near a state, as a linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, number
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.dynamics.derivatives import forward_dynamics_derivatives
from chainrule.dynamics.dynamics import forward_dynamics
from chainrule.errors import ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Linearization(NamedTuple):
    """A linear system near a state: x = (displacement of q, change of qd), u = change of tau.

    Continuous: dx/dt = A x + B u + f. Discrete, with a step: x[k+1] = A x[k] + B u[k] + f. Shapes (..., 2n, 2n),
    (..., 2n, n) and (..., 2n). f is the motion of the state itself, zero at an equilibrium.
    """

    A: Array
    B: Array
    f: Array


@takes_dask()
def linearize(robot: Mechanism, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float | None = None) -> Linearization:
    """The linear system that the equations of motion are near a state, with torques tau.

    The displacement of q is in the n directions of qd: q = integrate(q_0, x). With quaternions it is one of the moving
    axes, which turn with the state: dx/dt then has -ad_qd x besides the change of qd.

    Parameters
    ----------
    q, qd, tau
        Configurations (..., nq), velocities and torques (..., n).
    dt
        A step, in s: the system from sample to sample, exact for torques that are constant in between. None for the
        continuous system.

    >>> import chainrule as cr, numpy as np
    >>> arm = cr.load("planar_2r")
    >>> up = arm.linearize([np.pi / 2, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> [round(float(x), 2) for x in sorted(np.linalg.eigvals(up.A).real)]
    [-5.79, -2.4, 2.4, 5.79]
    """
    at, rates, torques = read_state(robot, "linearize", q=q, qd=qd, tau=tau)
    n, batch = robot.nv, at.shape[:-1]
    derivatives = forward_dynamics_derivatives(robot, at, rates, torques)
    A, B, f = np.zeros((*batch, 2 * n, 2 * n)), np.zeros((*batch, 2 * n, n)), np.zeros((*batch, 2 * n))
    A[..., :n, :n] = -_brackets(robot, rates)
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = derivatives
    f[..., :n], f[..., n:] = rates, forward_dynamics(robot, at, rates, torques)
    if dt is None:
        return Linearization(A, B, f)
    step = number(dt, "linearize: dt", "s")
    if not (np.isfinite(step) and step > 0):
        raise ShapeError(f"linearize: dt must be a positive time in s, got {dt!r}")
    return _discrete(A, B, f, step)


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


def _discrete(A: Array, B: Array, f: Array, dt: float) -> Linearization:
    """The system from sample to sample: the exponential of [[A, B, f], [0, 0, 0]] dt."""
    from scipy.linalg import expm

    size, inputs = B.shape[-2:]
    whole = np.zeros((*A.shape[:-2], size + inputs + 1, size + inputs + 1))
    whole[..., :size, :size], whole[..., :size, size:-1], whole[..., :size, -1] = A * dt, B * dt, f * dt
    flow = expm(whole)[..., :size, :]
    return Linearization(flow[..., :size], flow[..., size:-1], flow[..., -1])

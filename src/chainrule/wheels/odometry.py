"""Odometry: the pose that wheel speeds lead to, and its covariance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, real_array, refuse_nonfinite, rows_of
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError, short_repr
from chainrule.wheels.bases import Base, positive_parameter
from chainrule.wheels.plane import step_derivatives, world_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Track(Shown):
    """A path over the plane: t (T,), pose (..., T, 3), and its covariance (..., T, 3, 3), the start included."""

    t: Array
    pose: Array
    covariance: Array

    def _view(self) -> Iterator[str | Table]:
        batch = self.pose.shape[:-2]
        first = (0,) * len(batch)
        of_many = f", the first of {int(np.prod(batch))}" if batch else ""
        spread = np.sqrt(np.maximum(np.diagonal(self.covariance[first], axis1=-2, axis2=-1), 0.0))
        deviations = "; sd: standard deviations" if spread.any() else ""
        yield f"Path of {len(self.t) - 1} steps{of_many}{deviations}"
        header = ("t, s", "x, m", "y, m", "theta, rad", *(("sd x", "sd y", "sd theta") if spread.any() else ()))
        rows = np.column_stack([self.t, self.pose[first], *([spread] if spread.any() else [])])
        yield Table(header, rows.tolist())

    def ellipses(self, deviations: float = 2.0) -> tuple[Array, Array]:
        """Ellipses of the position at some standard deviations: semi-axes (..., T, 2), in m; axes (..., T, 2, 2)."""
        squares, axes = np.linalg.eigh(self.covariance[..., :2, :2])
        return number(deviations, "ellipses: deviations") * np.sqrt(np.maximum(squares, 0.0)), axes


def odometry(
    base: Base,
    controls: ArrayLike,
    dt: float,
    start: ArrayLike = (0.0, 0.0, 0.0),
    *,
    covariance: ArrayLike | None = None,
    noise: ArrayLike = 0.0,
) -> Track:
    """The path of a base under controls (..., T, m), each constant for dt seconds: T + 1 poses, exact along arcs.

    The covariance is propagated to first order: with F and W the derivatives of a step by the pose and by the
    integrals of the controls, P' = F P F^T + W diag(noise |u| dt) W^T.

    Parameters
    ----------
    base
        The wheeled base.
    controls
        Controls (..., T, m), one row for each step.
    dt
        The duration of a step, in s.
    start
        The first pose (..., 3).
    covariance
        The covariance (3, 3) of the start; zero unless given.
    noise
        One number, or one for each control: the variance that its integral gains for each unit of it, such as rad^2
        for each rad that a wheel turns.

    Returns
    -------
    Track
        `t`, `pose` and `covariance`, the start included.

    Examples
    --------
    >>> from chainrule.wheels import Unicycle
    >>> odometry(Unicycle(), [[1.0, np.pi / 2]] * 2, 1.0).pose[-1].round(6).tolist()
    [0.0, 1.27324, 3.141593]
    """
    if not isinstance(base, Base):
        raise ShapeError(
            f"odometry takes a wheeled base, such as wheels.DifferentialDrive(0.1, 0.5), got {short_repr(base)}"
        )
    step = positive_parameter(dt, "dt")
    u = real_array(controls, "controls")
    if u.ndim < 2:
        raise ShapeError(f"controls must be (..., steps, m), a row for each step, got shape {u.shape}")
    d = base.twist(u) * step
    p0 = rows_of(start, 3, "start", "x, y, theta")
    try:
        batch = np.broadcast_shapes(d.shape[:-2], p0.shape[:-1])
    except ValueError:
        raise ShapeError(f"the batches of controls {u.shape} and of start {p0.shape} do not fit together") from None
    d = np.broadcast_to(d, (*batch, *d.shape[-2:]))
    p0 = np.broadcast_to(p0, (*batch, 3))[..., None, :]
    heading = p0[..., 2] + np.concatenate([np.zeros((*batch, 1)), np.cumsum(d[..., 2], axis=-1)], axis=-1)
    pose = np.concatenate([p0, p0 + np.cumsum(world_step(heading[..., :-1], d), axis=-2)], axis=-2)
    spread = _covariances(base, u, step, heading[..., :-1], d, _start(covariance), _noise(noise, u.shape[-1]))
    return Track(step * np.arange(d.shape[-2] + 1), pose, spread)


def _covariances(base: Base, u: Array, dt: float, heading: Array, d: Array, P: Array, noise: Array) -> Array:
    F, by_displacement = step_derivatives(heading, d)
    W = by_displacement @ base.twist_jacobian(u)
    added = (W * (noise * np.abs(u) * dt)[..., None, :]) @ np.swapaxes(W, -1, -2)
    out = np.empty((*d.shape[:-2], d.shape[-2] + 1, 3, 3))
    out[..., 0, :, :] = P
    for k in range(d.shape[-2]):
        Fk = F[..., k, :, :]
        out[..., k + 1, :, :] = Fk @ out[..., k, :, :] @ np.swapaxes(Fk, -1, -2) + added[..., k, :, :]
    return out


def _start(covariance: Any) -> Array:
    if covariance is None:
        return np.zeros((3, 3))
    P = real_array(covariance, "covariance")
    refuse_nonfinite(P, "covariance")
    if P.shape != (3, 3) or not np.allclose(P, P.T) or np.linalg.eigvalsh(P).min() < -1e-12 * np.abs(P).max():
        raise ShapeError("covariance must be a symmetric 3-by-3 matrix of (x, y, theta) without negative eigenvalues")
    return P


def _noise(noise: Any, m: int) -> Array:
    k = real_array(noise, "noise")
    refuse_nonfinite(k, "noise")
    if k.shape not in ((), (m,)) or not (k >= 0).all():
        raise ShapeError(f"noise must be one number or {m}, none negative, got {short_repr(noise)}")
    return k

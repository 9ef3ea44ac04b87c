"""Energy, momentum and center of mass, and their derivatives.

Derivatives "dq" are along each velocity: the rate of change as q moves with one velocity at 1 and the others at 0. For
joints with one coordinate that is the partial derivative; for quaternions it is the derivative on the manifold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainrule.arguments import Array
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.core.units import quantities_on_request
from chainrule.functions.named import StateDerivatives, split

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
@quantities_on_request
def kinetic_energy(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Kinetic energy qd^T M qd / 2, in J: (...).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate("kinetic_energy", q=q, qd=qd, parameters=parameters, out=out)


@takes_dask()
@quantities_on_request
def potential_energy(
    robot: Mechanism,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Potential energy of gravity on all links but the base, and of the springs, in J: (...).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    Gravity's is zero at the base's origin.

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate("potential_energy", q=q, parameters=parameters, out=out)


@takes_dask()
def momentum(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Angular momentum about the base's origin, and linear momentum, in base axes: (..., 6)."""
    return robot.evaluate("momentum", q=q, qd=qd, out=out)


@takes_dask()
def centroidal_momentum(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Angular momentum about the center of mass, and linear momentum, in base axes: (..., 6)."""
    return robot.evaluate("centroidal_momentum", q=q, qd=qd, out=out)


@takes_dask()
def centroidal_momentum_matrix(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """A with A qd the centroidal momentum: (..., 6, n)."""
    return robot.evaluate("centroidal_momentum_matrix", q=q, out=out)


@takes_dask()
@quantities_on_request
def center_of_mass(
    robot: Mechanism,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Center of mass of all moving links, in the base frame, in m: (..., 3).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate("center_of_mass", q=q, parameters=parameters, out=out)


@takes_dask()
def center_of_mass_jacobian(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """J with J qd the velocity of the center of mass, in base axes: (..., 3, n)."""
    return robot.evaluate("center_of_mass_jacobian", q=q, out=out)


@takes_dask()
def kinetic_energy_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the kinetic energy T: .dq (..., n), .dqd (..., n), which is the generalized momentum M qd.

    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.3, 0.5], [1.0, 2.0]
    >>> bool(abs(arm.kinetic_energy_derivatives(q, qd).dqd - arm.mass_matrix(q) @ qd).max() < 1e-12)
    True
    """
    return split(StateDerivatives, robot.evaluate("kinetic_energy_derivatives", q=q, qd=qd), 2)


@takes_dask()
def potential_energy_gradient(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Derivatives of the potential energy, gravity_torque + spring_torque: (..., n)."""
    return robot.evaluate("potential_energy_gradient", q=q, out=out)


@takes_dask()
def momentum_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the momentum about the base's origin: .dq and .dqd, (..., 6, n) each."""
    return split(StateDerivatives, robot.evaluate("momentum_derivatives", q=q, qd=qd))


@takes_dask()
def centroidal_momentum_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the centroidal momentum: .dq and .dqd, the centroidal momentum matrix, (..., 6, n) each."""
    return split(StateDerivatives, robot.evaluate("centroidal_momentum_derivatives", q=q, qd=qd))

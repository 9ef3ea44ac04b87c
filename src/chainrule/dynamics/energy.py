"""Energy, momentum and center of mass, and their derivatives.

Derivatives "dq" are along each velocity: the rate of change as q moves with one velocity at 1 and the others at 0. For
joints with one coordinate that is the partial derivative; for quaternions it is the derivative on the manifold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainrule.algorithms import centroidal
from chainrule.algorithms import energy as algorithm
from chainrule.arguments import Array
from chainrule.core.declaration import function
from chainrule.core.mechanism import Mechanism
from chainrule.functions.adapters import from_columns
from chainrule.functions.named import StateDerivatives
from chainrule.functions.table import EFFORTS, MOMENTUM, PER_DISPLACEMENT, PER_VELOCITY, QD, Axis, Q

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

COLUMNS = Axis(lambda model, options: model.nv, lambda model: [""] * model.nv)
"""A dimension for the velocities, where the derivatives along them and with respect to them have other units."""


@function(algorithm.kinetic_energy, takes=(Q, QD), gives=(), unit="J", on_any_frames=True, answer="kinetic energy (J)")
def kinetic_energy(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Kinetic energy qd^T M qd / 2, in J: (...)."""


@function(
    algorithm.potential_energy,
    takes=(Q,),
    gives=(),
    unit="J",
    whole=True,
    answer="potential energy of gravity (J)",
)
def potential_energy(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Potential energy of gravity on all links but the base, and of the springs, in J: (...).

    Gravity's is zero at the base's origin.
    """


@function(
    lambda m, q, qd: list(centroidal.momentum(m, q, qd)),
    takes=(Q, QD),
    gives=(MOMENTUM,),
    on_any_frames=True,
    answer="angular and linear momentum about the origin of the base, in base axes (kg m^2/s, kg m/s)",
)
def momentum(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Angular momentum about the base's origin, and linear momentum, in base axes: (..., 6)."""


@function(
    lambda m, q: list(centroidal.center_of_mass(m, q)),
    takes=(Q,),
    gives=(3,),
    unit="m",
    on_any_frames=True,
    answer="center of mass in base axes (m)",
)
def center_of_mass(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Center of mass of all moving links, in the base frame, in m: (..., 3)."""


@function(
    lambda m, q, qd: list(algorithm.kinetic_energy_derivatives(m, q, qd)),
    subject="derivatives",
    takes=(Q, QD),
    gives=(2, COLUMNS),
    named=StateDerivatives,
    unit="J",
    gives_parts=((PER_DISPLACEMENT,), (PER_VELOCITY,)),
    on_any_frames=True,
    answer="derivatives of the kinetic energy along, and with respect to, the velocities of {columns}",
)
def kinetic_energy_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the kinetic energy T: .dq (..., nv), .dqd (..., nv), which is the generalized momentum M qd.

    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.3, 0.5], [1.0, 2.0]
    >>> bool(abs(arm.derivatives.kinetic_energy_derivatives(q, qd).dqd - arm.mass_matrix(q) @ qd).max() < 1e-12)
    True
    """


@function(
    algorithm.potential_energy_gradient,
    subject="derivatives",
    takes=(Q,),
    gives=(EFFORTS,),
    answer="derivatives of the potential energy, torques or forces of {torques}",
)
def potential_energy_dq(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Derivatives of the potential energy, gravity_torque + spring_torque: (..., nv)."""


@function(
    lambda m, q, qd: [from_columns(part) for part in centroidal.momentum_derivatives(m, q, qd)],
    subject="derivatives",
    takes=(Q, QD),
    gives=(2, 6, COLUMNS),
    named=StateDerivatives,
    gives_parts=((MOMENTUM, PER_DISPLACEMENT), (MOMENTUM, PER_VELOCITY)),
    on_any_frames=True,
    answer="derivatives of the momentum (angular, linear) about the origin of the base, in base axes, along, and "
    "with respect to, the velocities of {columns}",
)
def momentum_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the momentum about the base's origin: .dq and .dqd, (..., 6, nv) each."""


@function(
    lambda m, q, qd: [from_columns(part) for part in centroidal.centroidal_momentum_derivatives(m, q, qd)],
    subject="derivatives",
    takes=(Q, QD),
    gives=(2, 6, COLUMNS),
    named=StateDerivatives,
    gives_parts=((MOMENTUM, PER_DISPLACEMENT), (MOMENTUM, PER_VELOCITY)),
    on_any_frames=True,
    answer="derivatives of the momentum (angular, linear) about the center of mass, in base axes, along, and with "
    "respect to, the velocities of {columns}",
)
def centroidal_momentum_derivatives(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> StateDerivatives:
    """Derivatives of the centroidal momentum: .dq and .dqd, the centroidal momentum matrix, (..., 6, nv) each."""

"""Momentum about the center of mass, and the velocity of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainrule.algorithms import centroidal as algorithm
from chainrule.arguments import Array
from chainrule.core.declaration import function
from chainrule.core.mechanism import Mechanism
from chainrule.functions.adapters import from_columns
from chainrule.functions.table import MOMENTUM, PER_VELOCITY, QD, Q

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@function(
    lambda m, q, qd: list(algorithm.centroidal_momentum(m, q, qd)),
    subject="centroidal",
    takes=(Q, QD),
    gives=(MOMENTUM,),
    on_any_frames=True,
    answer="angular and linear momentum about the center of mass, in base axes (kg m^2/s, kg m/s)",
)
def momentum(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Angular momentum about the center of mass, and linear momentum, in base axes: (..., 6)."""


@function(
    lambda m, q: from_columns(algorithm.centroidal_momentum_matrix(m, q)),
    subject="centroidal",
    takes=(Q,),
    gives=(MOMENTUM, PER_VELOCITY),
    on_any_frames=True,
    answer="momentum (angular, linear) about the center of mass, in base axes, for each of {columns}",
)
def matrix(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """A with A qd the centroidal momentum: (..., 6, nv)."""


@function(
    lambda m, q: from_columns(algorithm.center_of_mass_jacobian(m, q)),
    subject="centroidal",
    takes=(Q,),
    gives=(3, PER_VELOCITY),
    unit="m/s",
    on_any_frames=True,
    answer="velocity of the center of mass in base axes (m/s) for each of {columns}",
)
def com_jacobian(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """J with J qd the velocity of the center of mass, in base axes: (..., 3, nv)."""

"""Arithmetic of configurations, joint by joint: sums, differences and rates.

Coordinates that are plain numbers are added and subtracted; quaternions are turned by the joint's angular velocity.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Model
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


def integrate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """The configuration that the velocity v, kept for one second, leads to from q."""
    return [x for places in model.layout.joints for x in places.joint.kind.integrate(q[places.q], v[places.v])]


def difference(model: Model, q0: Scalars, q1: Scalars) -> list[Scalar]:
    """The velocity v that leads from q0 to q1 in one second: integrate(q0, v) = q1."""
    return [x for places in model.layout.joints for x in places.joint.kind.difference(q0[places.q], q1[places.q])]


def coordinate_rates(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """dq/dt at the velocity v: equal to v where the coordinates are plain numbers."""
    return [x for places in model.layout.joints for x in places.joint.kind.rates(q[places.q], v[places.v])]

"""Statics: torques that balance a wrench, by virtual work."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms.jacobians import jacobian
from chainrule.model import Model
from chainrule.spatial import Scalar, Wrench


def static_torque(model: Model, q: Sequence[Scalar], name: str, wrench: Wrench, frame: str = "world") -> list[Scalar]:
    """Torques tau = J^T F for a wrench F that the frame `name` applies to the world.

    J and F are in the same frame: "body", its own axes, "world", those of the base, or "space", with the moment about
    the origin of the base.
    """
    return [S.dot(wrench) for S in jacobian(model, q, name, frame)]

"""Spatial algebra over generic scalars: rotations, transforms, twists, wrenches, inertias."""

from chainrule.spatial.inertia import ArticulatedInertia, Inertia
from chainrule.spatial.rotation import Quaternion, Rotation
from chainrule.spatial.scalar import Scalar
from chainrule.spatial.transform import Transform
from chainrule.spatial.twist import Twist, Wrench
from chainrule.spatial.unit_scalar import UnitScalar
from chainrule.spatial.vector import Matrix, Symmetric, Vector

__all__ = [
    "ArticulatedInertia",
    "Wrench",
    "Inertia",
    "Matrix",
    "Twist",
    "UnitScalar",
    "Quaternion",
    "Rotation",
    "Scalar",
    "Symmetric",
    "Transform",
    "Vector",
]

"""Spatial algebra over generic scalars: rotations, transforms, motions, forces, inertias."""

from chainrule.spatial.inertia import ArticulatedInertia, Inertia
from chainrule.spatial.measured import Measured
from chainrule.spatial.motion import Force, Motion
from chainrule.spatial.rotation import Quaternion, Rotation
from chainrule.spatial.scalar import Scalar
from chainrule.spatial.transform import Transform
from chainrule.spatial.vector import Matrix, Symmetric, Vector

__all__ = [
    "ArticulatedInertia",
    "Force",
    "Inertia",
    "Matrix",
    "Measured",
    "Motion",
    "Quaternion",
    "Rotation",
    "Scalar",
    "Symmetric",
    "Transform",
    "Vector",
]

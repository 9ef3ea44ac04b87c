"""Models: joint kinds, links, joints, frames, constraints, springs, geometry, and the immutable tree of them."""

from chainrule.model.configurations import Configuration
from chainrule.model.constraints import Constraint
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from chainrule.model.joints import (
    Composite,
    ConstantColumns,
    Fixed,
    Free,
    JointKind,
    Moved,
    PolynomialScrew,
    RealCoordinates,
    Screw,
    Spherical,
)
from chainrule.model.layout import Coordinate, JointPlaces, Layout, Quantity, Velocity
from chainrule.model.model import GRAVITY, Body, Model, PosedBody
from chainrule.model.parts import Dof, Frame, Joint, Link, Mimic
from chainrule.model.problems import ModelProblem
from chainrule.model.springs import Spring

__all__ = [
    "GRAVITY",
    "Body",
    "Box",
    "Capsule",
    "Composite",
    "Configuration",
    "ConstantColumns",
    "Constraint",
    "Coordinate",
    "Cylinder",
    "Dof",
    "Ellipsoid",
    "Fixed",
    "Frame",
    "Free",
    "Geometry",
    "Joint",
    "JointPlaces",
    "JointKind",
    "Layout",
    "Link",
    "Mesh",
    "Mimic",
    "Model",
    "Moved",
    "PolynomialScrew",
    "Plane",
    "PosedBody",
    "ModelProblem",
    "Quantity",
    "RealCoordinates",
    "Screw",
    "Shape",
    "Sphere",
    "Spherical",
    "Spring",
    "Velocity",
]

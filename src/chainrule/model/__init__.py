"""Models: joint kinds, links, joints, frames, constraints, and the immutable tree of them."""

from chainrule.model.constraints import Constraint
from chainrule.model.joints import (
    Composite,
    ConstantColumns,
    Fixed,
    Free,
    Kind,
    Moved,
    RealCoordinates,
    Screw,
    Spherical,
)
from chainrule.model.layout import Coordinate, JointPlaces, Layout, Velocity
from chainrule.model.model import GRAVITY, Body, Model, PosedBody
from chainrule.model.parts import Dof, Frame, Joint, Link, Mimic

Placed = PosedBody

__all__ = [
    "GRAVITY",
    "Body",
    "Composite",
    "ConstantColumns",
    "Constraint",
    "Coordinate",
    "Dof",
    "Fixed",
    "Frame",
    "Free",
    "Joint",
    "JointPlaces",
    "Kind",
    "Layout",
    "Link",
    "Mimic",
    "Model",
    "Moved",
    "Placed",
    "PosedBody",
    "RealCoordinates",
    "Screw",
    "Spherical",
    "Velocity",
]

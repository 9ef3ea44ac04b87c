"""Models: joint kinds, links, joints, frames, constraints, and the immutable tree of them."""

from chainrule.model.constraints import Constraint
from chainrule.model.joints import (
    Composite,
    Fixed,
    Free,
    Kind,
    Moved,
    Screw,
    Spherical,
)
from chainrule.model.model import GRAVITY, Body, Model, Placed
from chainrule.model.parts import Dof, Frame, Joint, Link, Mimic

__all__ = [
    "GRAVITY",
    "Body",
    "Composite",
    "Constraint",
    "Dof",
    "Fixed",
    "Frame",
    "Free",
    "Joint",
    "Kind",
    "Link",
    "Mimic",
    "Model",
    "Moved",
    "Placed",
    "Screw",
    "Spherical",
]

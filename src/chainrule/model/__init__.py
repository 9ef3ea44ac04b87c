"""Models: joint kinds, links, joints, frames, and the immutable tree of them."""

from chainrule.model.kinds import Composite, Fixed, Free, Kind, Moved, Screw, Spherical
from chainrule.model.model import GRAVITY, Body, Model, Placed
from chainrule.model.parts import Dof, Frame, Joint, Link, Mimic

__all__ = [
    "GRAVITY",
    "Body",
    "Composite",
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

"""A friction law of the user's own, as a model holds it: a function of a joint's position and rate."""

from __future__ import annotations

from typing import Protocol

from chainrule.errors import ModelError
from chainrule.spatial import Scalar

TINY_SPEED = 1e-12
"""The speed, in rad/s or m/s, at which a law is evaluated for its value just beside rest."""


class FrictionLaw(Protocol):
    """The torque that overcomes friction, tau = f(q, qd), on scalars of any kind.

    Two are equal if they compute the same. `core.friction_function` makes one of a function of Python.
    """

    @property
    def jumps(self) -> bool:
        """Whether it jumps at rest, so that it holds the joint there."""

    @property
    def fingerprint(self) -> str:
        """A digest of what it computes."""

    def __call__(self, q: Scalar, qd: Scalar) -> Scalar:
        """The torque at a position and rate."""


def missing_position(joint: str) -> ModelError:
    """The error that friction is asked for at a velocity alone, where it depends on the position too."""
    return ModelError(
        f"the friction of joint {joint!r} depends on its position: give q too, as in friction_torque(qd, q)"
    )

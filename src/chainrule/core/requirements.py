"""What a robot lacks for a function, in words."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.errors import quoted
from chainrule.model import Model


def describe_lack(function: str, model: Model, idle_joints: Sequence[str]) -> str:
    """The message where a function needs masses that a robot does not have.

    `idle_joints` move no mass, so that the mass matrix is singular; none where the robot has no masses at all.
    """
    if not idle_joints:
        return (
            f"{function}: robot {model.name!r} has no masses, so it has no dynamics; give its links masses and inertias"
        )
    return (
        f"{function}: the mass matrix of robot {model.name!r} is singular, because {quoted(idle_joints)} moves no "
        "mass; give its link an inertia, or the joint a rotor, or lock it"
    )

"""Points of the body that the hand of an arm goes to, in the frame of its shoulder, from body height.

Heights above the floor and breadths are fractions of body height after Drillis & Contini (D. A. Winter, Biomechanics
and Motor Control of Human Movement, 4th ed. 2009, figure 4.1). What that figure lacks is from the means over men and
women in C. C. Gordon et al., 2012 Anthropometric Survey of U.S. Army Personnel, Natick/TR-15/007, divided by their mean
stature of 1714.4 mm. The body is upright, with the ear above the shoulder.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from chainrule.arguments import Array, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.errors import ModelError
from chainrule.spatial import Vector

SIDES = ("right", "left")

SHOULDER_HEIGHT, CHIN_HEIGHT, EYE_HEIGHT, CHEST_HEIGHT = 0.818, 0.870, 0.936, 0.720
SHOULDER_TO_MIDLINE, HIP_TO_MIDLINE = 0.129, 0.0955
ELBOW_BELOW_SHOULDER, FOREARM_AND_HAND, HAND_LENGTH, THIGH_LENGTH = 0.186, 0.254, 0.108, 0.245
"""Fractions of height after Drillis & Contini."""

HEAD_LENGTH, HEAD_BREADTH, EAR_HEIGHT = 196.3 / 1714.4, 152.2 / 1714.4, 1 - 129.6 / 1714.4
NAVEL_HEIGHT, TRUNK_DEPTH, HAND_BREADTH = 1031.5 / 1714.4, 251.7 / 1714.4, 84.95 / 1714.4
THIGH_BELOW_SHOULDER = (898.1 - (1714.4 - 1406.2) - 176.3) / 1714.4
"""Fractions of height after Gordon et al.: head length and breadth; tragion below the top of the head; height of the
navel, depth of the chest, breadth of the hand; and of a person who sits, the top of the thigh below the acromion, from
sitting height, stature, acromial height and thigh clearance."""

MOUTH_BETWEEN_CHIN_AND_EYES = 0.4
"""The mouth's place on the way from the chin to the eyes: about 46 mm above the chin of a man of 1.75 m."""


def _above_shoulder(height: float) -> float:
    return height - SHOULDER_HEIGHT


_FACE, _TRUNK, _MIDLINE = HEAD_LENGTH / 2, TRUNK_DEPTH / 2, SHOULDER_TO_MIDLINE
_MOUTH_HEIGHT = CHIN_HEIGHT + MOUTH_BETWEEN_CHIN_AND_EYES * (EYE_HEIGHT - CHIN_HEIGHT)

POINTS = MappingProxyType({
    "mouth": (_FACE, _MIDLINE, _above_shoulder(_MOUTH_HEIGHT)),
    "forehead": (_FACE, _MIDLINE, _above_shoulder((1 + EYE_HEIGHT) / 2)),
    "ear": (0.0, _MIDLINE - HEAD_BREADTH / 2, _above_shoulder(EAR_HEIGHT)),
    "top_of_head": (0.0, _MIDLINE, _above_shoulder(1.0)),
    "back_of_head": (-_FACE, _MIDLINE, _above_shoulder(EYE_HEIGHT)),
    "neck": (-_FACE / 2, _MIDLINE, _above_shoulder(CHIN_HEIGHT)),
    "opposite_shoulder": (_TRUNK / 2, 2 * _MIDLINE, 0.0),
    "chest": (_TRUNK, _MIDLINE, _above_shoulder(CHEST_HEIGHT)),
    "belly": (_TRUNK, _MIDLINE, _above_shoulder(NAVEL_HEIGHT)),
    "lap": (THIGH_LENGTH / 2, _MIDLINE - HIP_TO_MIDLINE, -THIGH_BELOW_SHOULDER),
    "table": (FOREARM_AND_HAND, 0.0, -ELBOW_BELOW_SHOULDER),
    "head_level": (0.3, 0.0, _above_shoulder(EYE_HEIGHT)),
})  # fmt: skip
"""Points in fractions of height: forward of the shoulder, towards the middle of the body, above the shoulder."""


@explains_arguments
def body_points(height: float = 1.75, side: str = "right") -> dict[str, Array]:
    """Points of the body that a hand goes to, in the frame of the shoulder of one side: (3,) each, in m.

    x is forward, y to the left, z up. On the head "mouth", "forehead", "ear", "top_of_head", "back_of_head" and "neck";
    "opposite_shoulder"; "chest" and "belly", on the skin in the middle of the body; "lap", the top of the thigh of a
    person who sits; "table", at the height of the hanging elbow, a forearm and a hand in front of the shoulder;
    "head_level", in front of the shoulder at the height of the eyes. A `human_arm` has them as frames of these names.

    >>> body_points(1.75)["mouth"].round(3).tolist()
    [0.1, 0.226, 0.137]
    """
    size = positive(height, "body height", "a positive number in m", ModelError, "m")
    one_of(SIDES, side, "side", "a body")
    return {name: np.array([*point_of_body(name, size, side)]) for name in POINTS}


def point_of_body(name: str, height: float, side: str) -> Vector:
    """A point by its name, in the frame of the shoulder of a side."""
    forward, middle, up = POINTS[name]
    return Vector(forward * height, to_left(side) * middle * height, up * height)


def to_left(side: str) -> int:
    """The direction towards the middle of the body: 1 for the right side, to the left; -1 for the left side."""
    return 1 if side == "right" else -1

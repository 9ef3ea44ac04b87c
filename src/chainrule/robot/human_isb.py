"""Angles of the human arm as the International Society of Biomechanics recommends them, and back.

G. Wu et al., ISB recommendation on definitions of joint coordinate systems, part II: shoulder, elbow, wrist and hand,
J. Biomechanics 38 (2005). The humerus is seen from the thorax by a sequence Y-X-Y: the plane of elevation (0 is
abduction, pi/2 forward flexion), the elevation, and the axial rotation (internal positive). In this arm's axes, whose z
is the recommendation's Y, that is R = Rz(plane) Rx(-elevation) Rz(axial), and its own joints are
R = Ry(-flexion) Rx(-abduction) Rz(rotation). A left arm is measured in the mirror, so that both sides agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, rows_of, together
from chainrule.calls import explains_arguments
from chainrule.core.joint_names import values_by_name
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.errors import ModelError, UnknownNameError, quoted, short_repr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ISB_ANGLES = {
    "plane_of_elevation": "shoulder_flexion",
    "elevation": "shoulder_abduction",
    "axial_rotation": "shoulder_rotation",
    "elbow_flexion": "elbow_flexion",
    "pronation": "forearm_pronation",
    "wrist_flexion": "wrist_flexion",
    "ulnar_deviation": "wrist_deviation",
}
"""Names of the recommendation's angles, and the joint of the arm in whose place each stands.

The three of the shoulder correspond as a whole, not one by one. Pronation counts from the anatomical position, with the
palm forward; deviation is positive towards the little finger.
"""

PRONATION_AT_REST = np.pi / 2
"""Pronation by the recommendation where this arm's is zero: the thumb forward."""

MIN_SINE = 1e-9
"""Sine of the elevation, or cosine of the abduction, below which two angles turn about one axis."""


@explains_arguments
def isb_angles(arm: Mechanism, q: ArrayLike) -> Array:
    """Angles of a human arm by the recommendation of the ISB, in the order of their names: (..., 7), rad.

    Plane of elevation and axial rotation within +-pi, elevation within 0 and pi, then elbow flexion, pronation from
    the anatomical position, wrist flexion and ulnar deviation. `ISB_ANGLES` of this module has the names. At an
    elevation of 0 or pi the first and the third are not unique: the plane of elevation is 0 there.

    >>> from chainrule.robot.human_arm import human_arm
    >>> arm = human_arm()
    >>> np.degrees(isb_angles(arm, arm.q(shoulder_flexion=np.pi / 3))).round(6).tolist()
    [90.0, 60.0, -90.0, 0.0, 90.0, 0.0, 0.0]
    """
    places = _places(arm)
    (q,) = read_state(arm, "isb_angles", q=q)
    flexion, abduction, rotation, elbow, pronation, wrist, radial = (q[..., i] for i in places)
    R = _turn("y", -flexion) @ _turn("x", -abduction) @ _turn("z", rotation)
    plane, elevation, axial = _shoulder_to_isb(R)
    return np.stack([plane, elevation, axial, elbow, pronation + PRONATION_AT_REST, wrist, 0.0 - radial], axis=-1)


@explains_arguments
def from_isb_angles(arm: Mechanism, angles: Any) -> Array:
    """The configuration of a human arm with given angles of the ISB, by order (..., 7) or by name: (..., nq), rad.

    Angles that are not named are those of the hanging arm. Two sets of shoulder joints give one orientation; the one
    within the joints' limits is taken, or that which leaves them least.

    >>> from chainrule.robot.human_arm import human_arm
    >>> arm = human_arm()
    >>> q = from_isb_angles(arm, {"plane_of_elevation": 0.0, "elevation": 2.0, "pronation": np.pi / 2})
    >>> q.round(6).tolist()
    [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    places = _places(arm)
    given = _read_isb(angles)
    plane, elevation, axial, elbow, pronation, wrist, ulnar = np.moveaxis(given, -1, 0)
    R = _turn("z", plane) @ _turn("x", -elevation) @ _turn("z", axial)
    shoulder = _shoulder_from_isb(R, arm.limits.lower[list(places[:3])], arm.limits.upper[list(places[:3])])
    own = np.stack([elbow, pronation - PRONATION_AT_REST, wrist, 0.0 - ulnar], axis=-1)
    q = np.tile(np.array(arm.model.layout.neutral, dtype=float), (*given.shape[:-1], 1))
    q[..., list(places)] = np.concatenate([shoulder, own], axis=-1)
    return q


def _places(arm: Mechanism) -> tuple[int, ...]:
    """The places in q of the seven joints of a human arm."""
    if not isinstance(arm, Mechanism):
        raise ModelError(
            f"the first argument must be a human arm, such as chainrule.human_arm(), got {short_repr(arm)}"
        )
    by_joint = arm.model.layout.by_joint
    missing = [joint for joint in ISB_ANGLES.values() if joint not in by_joint]
    if missing:
        raise ModelError(f"robot {arm.name!r} is no human arm: it has no joint {quoted(missing)}")
    return tuple(by_joint[joint].q.start for joint in ISB_ANGLES.values())


def _read_isb(angles: Any) -> Array:
    """The seven angles (..., 7), from an array or by name."""
    named = values_by_name(angles, "position", "from_isb_angles: angles")
    if named is None:
        return rows_of(angles, len(ISB_ANGLES), "from_isb_angles: angles", f"angles {quoted(ISB_ANGLES)}", "rad")
    rest: Mapping[str, Any] = {"pronation": PRONATION_AT_REST}
    for name in named.names:
        if name not in ISB_ANGLES:
            raise UnknownNameError.of("angle", name, ISB_ANGLES, "the ISB's recommendation")
    values = dict(zip(named.names, named.values, strict=True))
    numbers = {name: real_array(values.get(name, rest.get(name, 0.0)), name, "rad") for name in ISB_ANGLES}
    return np.concatenate(together({name: x[..., None] for name, x in numbers.items()}, "from_isb_angles"), axis=-1)


def _turn(axis: str, angle: Array) -> Array:
    """Rotations about a coordinate axis: (..., 3, 3)."""
    i = "xyz".index(axis)
    j, k = (i + 1) % 3, (i + 2) % 3
    R = np.zeros((*np.shape(angle), 3, 3))
    R[..., i, i] = 1.0
    R[..., j, j] = R[..., k, k] = np.cos(angle)
    R[..., k, j], R[..., j, k] = np.sin(angle), -np.sin(angle)
    return R


def _shoulder_to_isb(R: Array) -> tuple[Array, Array, Array]:
    """Plane of elevation, elevation and axial rotation of the upper arm's orientation."""
    sine = np.hypot(R[..., 0, 2], R[..., 1, 2])
    regular = sine > MIN_SINE
    plane = np.where(regular, np.arctan2(-R[..., 0, 2], R[..., 1, 2]), 0.0)
    about_itself = np.arctan2(R[..., 1, 0] * np.sign(R[..., 2, 2]), R[..., 0, 0])
    axial = np.where(regular, np.arctan2(-R[..., 2, 0], -R[..., 2, 1]), about_itself)
    return plane, np.arctan2(sine, R[..., 2, 2]), axial


def _shoulder_from_isb(R: Array, lower: Array, upper: Array) -> Array:
    """Flexion, abduction and rotation (..., 3) of the upper arm's orientation, within the limits where they can be."""
    cosine = np.hypot(R[..., 1, 0], R[..., 1, 1])
    regular = cosine > MIN_SINE
    flexion = np.where(regular, np.arctan2(-R[..., 0, 2], R[..., 2, 2]), 0.0)
    rotation = np.where(regular, np.arctan2(R[..., 1, 0], R[..., 1, 1]), np.arctan2(-R[..., 0, 1], R[..., 0, 0]))
    near = np.stack([flexion, np.arctan2(R[..., 1, 2], cosine), rotation], axis=-1)
    far = np.stack([_wrap(flexion + np.pi), _wrap(np.pi - near[..., 1]), _wrap(rotation + np.pi)], axis=-1)
    excess = [np.maximum(np.maximum(lower - s, s - upper), 0.0).sum(axis=-1) for s in (near, far)]
    return np.where((excess[0] <= excess[1])[..., None], near, far)


def _wrap(angle: Array) -> Array:
    """The same angle within -pi and pi."""
    return np.asarray(np.pi - np.mod(np.pi - angle, 2 * np.pi))

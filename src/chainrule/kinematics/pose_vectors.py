"""Poses as six numbers, (x, y, z) and three angles: from a 4-by-4 matrix, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.euler import ORDERS, angles, axes_of, rotation
from chainrule.arguments import Array, number, one_of, rigid_transforms, rows_of
from chainrule.calls import explains_arguments
from chainrule.spatial import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

UNITS = (("x", "m"), ("y", "m"), ("z", "m"), ("angle 1", "rad"), ("angle 2", "rad"), ("angle 3", "rad"))
"""Names and units of the numbers of a pose vector."""


@explains_arguments
def pose_from_vector(x: ArrayLike, *, order: str = "rpy") -> Array:
    """Pose (..., 4, 4) of pose vectors (x, y, z, and three angles): (..., 6), m and rad.

    order: "rpy", roll, pitch and yaw about the fixed x, y and z axes; or three letters such as "zyz" or "xyz", for
    turns about axes that turn along: R = Rz(a) Ry(b) Rz(c). Every vector has one pose.

    >>> pose_from_vector([1, 2, 3, 0, 0, np.pi / 2])[:2].round(3).tolist()
    [[0.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0]]
    """
    one_of(ORDERS, order, "order of angles", "pose_from_vector")
    rows = rows_of(x, 6, "pose_from_vector: x", "x, y, z and three angles", UNITS).astype(float)
    columns = [rows[..., k] for k in range(6)]
    T = np.zeros((*rows.shape[:-1], 4, 4))
    with np.errstate(invalid="ignore"):
        for i, row in enumerate(rotation(columns[3:], order)):
            for j, entry in enumerate(row):
                T[..., i, j] = entry
    T[..., :3, 3], T[..., 3, 3] = rows[..., :3], 1.0
    return T


@explains_arguments
def vector_from_pose(T: Any, *, order: str = "rpy") -> Array:
    """Pose vectors (x, y, z, and three angles) of poses (..., 4, 4): (..., 6), m and rad.

    order: as of `pose_from_vector`. The second angle is within +-pi/2, or within 0 and pi if the first axis comes
    again; the others are within +-pi. At the ends of the second's range, which `angles_are_singular` tells, only the
    sum or the difference of the others is defined: the last of the order's letters is then 0. The vector gives the
    same pose back there too.

    >>> vector_from_pose(pose_from_vector([1, 2, 3, 0.1, 0.2, 0.3], order="zyz"), order="zyz").round(3).tolist()
    [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    """
    one_of(ORDERS, order, "order of angles", "vector_from_pose")
    matrices = rigid_transforms(T, "vector_from_pose: T", finite=False)
    rows = Transform.of([[matrices[..., i, j] for j in range(4)] for i in range(3)])
    with np.errstate(invalid="ignore"):
        return np.stack([*rows.translation, *angles(rows.rotation, order)], axis=-1)


@explains_arguments
def angles_are_singular(T: Any, *, order: str = "rpy", tolerance: float = 1e-6) -> NDArray[np.bool_]:
    """Whether the three angles of poses (..., 4, 4) are not unique, and their rates not finite: (...), booleans.

    They are not where the cosine of the second angle (the sine, if the first axis comes again) is at most the
    tolerance.

    >>> bool(angles_are_singular(pose_from_vector([0, 0, 0, 0.1, np.pi / 2, 0.3])))
    True
    """
    return lack_unique_angles(rigid_transforms(T, "angles_are_singular: T"), order, tolerance)


def lack_unique_angles(T: Array, order: str, tolerance: float) -> NDArray[np.bool_]:
    """Whether the angles of poses are not unique; for poses that are known to be rigid."""
    one_of(ORDERS, order, "order of angles", "angles_are_singular")
    least = number(tolerance, "tolerance")
    i, j, m, _ = axes_of("zyx" if order == "rpy" else order)
    a, b = (T[..., j, i], T[..., m, i]) if order[0] == order[2] else (T[..., i, i], T[..., i, j])
    return np.asarray(np.hypot(a, b) <= least)

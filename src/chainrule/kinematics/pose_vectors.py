"""Poses as six numbers: a position and three angles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.euler import axes_of
from chainrule.arguments import Array, number
from chainrule.core.mechanism import Evaluation, angle_order
from chainrule.kinematics.tasks import Truths

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class PoseVectors(Evaluation):
    """Pose vectors; their rates are `Robot.analytic_jacobian`.

    order: "rpy", roll, pitch and yaw about the fixed x, y and z axes; or three letters such as "zyz" or "xyz", for
    turns about axes that turn along (SciPy writes these in upper case): R = Rz(a) Ry(b) Rz(c).
    """

    def pose_vector(self, q: ArrayLike, link: str | None = None, *, order: str = "rpy") -> Array:
        """(x, y, z, and three angles) of a link or frame in the base frame: (..., 6), m and rad.

        The second angle is within +-pi/2, or within 0 and pi if the first axis comes again. At the ends of its range
        the others are not unique: the last of the order's letters is then 0.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").pose_vector([0.1, 0.2])[3:].round(3).tolist()
        [0.0, 0.0, 0.3]
        """
        return self._evaluate("pose_vector", {"q": q}, link=self._name(link), order=angle_order(order))

    def angles_are_singular(
        self, q: ArrayLike, link: str | None = None, *, order: str = "rpy", tolerance: float = 1e-6
    ) -> Truths:
        """Whether the three angles are not unique in a configuration, and their rates not finite: (...), booleans.

        This is a fault of the angles, not of the robot: another order has none there. They are where the cosine of
        the second angle (the sine, if the first axis comes again) is at most the tolerance.
        """
        angle_order(order)
        least = number(tolerance, "tolerance")
        T = self._evaluate("pose", {"q": q}, link=self._name(link))
        i, j, m, _ = axes_of("zyx" if order == "rpy" else order)
        again = order[0] == order[2]
        a, b = (T[..., j, i], T[..., m, i]) if again else (T[..., i, i], T[..., i, j])
        return np.asarray(np.hypot(a, b) <= least)

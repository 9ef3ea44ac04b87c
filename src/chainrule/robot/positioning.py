"""Where links are wanted, and the joints that bring them there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.inverse_kinematics.analytic.solve import Branches
    from chainrule.inverse_kinematics.path import FollowedPath
    from chainrule.inverse_kinematics.result import InverseKinematics


class Positioning:
    """A robot's inverse kinematics."""

    def inverse_kinematics(
        self,
        target: ArrayLike | Mapping[str, ArrayLike],
        q0: ArrayLike | None = None,
        link: str | None = None,
        method: str = "lm",
        *,
        limits: bool = True,
        task: str | Mapping[str, str] = "pose",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
        tolerance: float | tuple[float, float] = 1e-6,
        posture: str | ArrayLike | None = None,
        restarts: int = 100,
        max_iterations: int = 60,
        seed: int = 0,
    ) -> InverseKinematics:
        """Configurations that bring a link or frame to targets, the end-effector unless one is named.

        target: poses in the base frame (..., 4, 4), batched; or a dictionary of links and their targets, all to be
        reached by one configuration. The answer's `success` is judged by forward kinematics: every error within the
        tolerance (m and rad, or two numbers) and every joint within its limits. Where it is false, `q` is the nearest
        configuration found and `reason` says why; numbers that are not finite concern their own row only.

        task: "pose"; "position", also of points (..., 3); "orientation", also of rotations (..., 3, 3); "axis", the
        position and the direction of the `axis` of the link's frame, the turn about it being free; "pointing", that
        direction alone, also of directions (..., 3). weights: how much each error counts, three of the rotation and
        three of the position, in the target's axes; one of zero is not asked for. A metre counts as much as a radian.

        method: "lm", Levenberg and Marquardt's with the limits as bounds; or the textbook's steps "newton" (as many
        joints as equations), "pseudo_inverse" and "transpose", cut off at the limits. Iterations begin at q0 (moved to
        the nearest place within the limits), or at the best of some random configurations; what is not solved after
        at most max_iterations starts anew from others, chosen by `seed`, up to `restarts` times; of the solutions found
        together, the nearest to q0 is taken. posture: what a redundant arm comes near as far as the target allows,
        "center" of the limits or a configuration (nq,).

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r")
        >>> arm.inverse_kinematics([0.0, 1.6, 0.0], q0=[0.1, 1.0], task="position").q.round(6).tolist()
        [0.927295, 1.287002]
        """
        from chainrule.inverse_kinematics.solve import inverse_kinematics

        return inverse_kinematics(
            self, target, q0, link, method, limits, task, axis, weights, tolerance, posture, restarts,  # type: ignore[arg-type]
            max_iterations, seed,
        )  # fmt: skip

    def follow(
        self,
        poses: ArrayLike,
        q0: ArrayLike | None = None,
        link: str | None = None,
        *,
        times: ArrayLike | None = None,
        limits: bool = True,
        task: str = "pose",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        weights: ArrayLike | None = None,
        tolerance: float | tuple[float, float] = 1e-6,
        seed: int = 0,
    ) -> FollowedPath:
        """Configurations along a path of poses (..., T, 4, 4), each found from the one before, on the same branch.

        Without q0, the path begins at a configuration for its first pose. times (T,), in s, tell the mean speeds
        between the poses and where they exceed the joints' limits. task, axis, weights, tolerance and limits: as in
        inverse_kinematics. Poses that are not reached are marked, and the path goes on from the nearest found.
        """
        from chainrule.inverse_kinematics.path import follow

        return follow(self, poses, q0, link, times, limits, task, axis, weights, tolerance, seed)  # type: ignore[arg-type]

    def analytic_inverse_kinematics(
        self, target: ArrayLike, link: str | None = None, *, tolerance: float = 1e-6
    ) -> Branches:
        """All configurations that bring a link to poses (..., 4, 4), in closed form: `q` (..., branches, nq).

        For arms of two or three parallel turning joints (two: the position is meant), for those of six turning joints
        whose last three axes meet in a point, and for those whose second to fourth axes are parallel while the last
        two meet. Which branches there are is in `exists`, judged by forward kinematics, and which of them keep the
        limits in `valid`. Angles are within half a turn of the middle of the limits.
        """
        from chainrule.inverse_kinematics.analytic.solve import analytic_inverse_kinematics

        return analytic_inverse_kinematics(self, target, link, tolerance)  # type: ignore[arg-type]

"""The Jacobian from the actuated joints of a closed mechanism to its platform, and its singularities.

Velocities that keep the loops closed are qd = Z u. With J the Jacobian of the platform and B picking the actuated
joints, V = J Z u and qd_a = B Z u, so that V = (J Z) (B Z)^+ qd_a and qd_a = (B Z) (J Z)^+ V. Gosselin and Angeles
(IEEE Transactions on Robotics and Automation 6, 1990) name what goes wrong by the matrix that loses rank: J Z at
singularities of type 1, B Z at those of type 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, names
from chainrule.core.closure import CLOSED_GAP, closure_of
from chainrule.core.declaration import composition
from chainrule.core.derived import driven_velocities
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.rank import motions
from chainrule.core.reading import find_velocities, read_state
from chainrule.display.text import Shown
from chainrule.errors import ModelError, quoted
from chainrule.kinematics.tasks import MotionTask, jacobian_rows, moving_task

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SINGULAR_RATIO = 1e-6
"""A singular value, lengths in units of the robot's size, below which a motion counts as lost or as not driven."""

MEANINGS = {
    "": "not singular",
    "type 1": "the platform cannot move in every direction; the actuated joints can move while it stands still",
    "type 2": "the platform can move while the actuated joints stand still; they cannot hold every force on it",
    "type 3": "type 1 and type 2 at once",
    "constraint": "the loops leave more motions than elsewhere",
}
"""Kinds of singularities of a closed mechanism."""
KIND_TYPE = f"<U{max(map(len, MEANINGS))}"


@dataclass(frozen=True, repr=False)
class ReducedJacobian(Shown):
    """V = J qd_a and qd_a = inverse V: the platform's twist and the actuated joints' velocities, in both directions.

    `J` (..., k, a), `inverse` (..., a, k), `motion` (..., n, a) with qd = motion qd_a for all joints. Rows k are
    (omega, v), or the part of them that `task` names. By virtual work, torques tau_a = J^T F let the platform apply the
    wrench F.

    `type_1` and `type_2` (...) are singular values, lengths in units of the robot's size, that go to zero at
    singularities of these types; `singularity` (...) names them: "type 1", where `inverse` is nan; "type 2", where `J`
    and `motion` are nan; "type 3", both; "constraint", where the loops themselves leave more motions than elsewhere and
    all three are nan; or "". Where the platform's twist does not tell the motion of all joints, `inverse` is nan too.
    """

    link: str
    task: str
    frame: str
    actuated: tuple[str, ...]
    dof: int
    J: Array
    inverse: Array
    motion: Array
    type_1: Array
    type_2: Array
    singularity: NDArray[np.str_]

    @property
    def redundant(self) -> int:
        """The number of actuated joints beyond the degrees of freedom: their velocities depend on each other."""
        return len(self.actuated) - self.dof

    def _view(self) -> Iterator[str]:
        freedom = f"{self.dof} degree{'s' if self.dof != 1 else ''} of freedom"
        lines = [f"{self.link} ({self.task}) from {', '.join(self.actuated)}: {freedom}"]
        if self.redundant:
            lines.append(f"over-actuated: {self.redundant} more joints than degrees of freedom")
        if self.J.ndim > 2:
            found = int((self.singularity != "").sum())
            yield from (*lines, f"{found} of {self.singularity.size} configurations are singular")
            return
        kind = str(self.singularity)
        lines.append(f"{kind + ': ' if kind else ''}{MEANINGS[kind]}")
        lines.append(f"measures: type 1 {float(self.type_1):.4g}, type 2 {float(self.type_2):.4g}")
        yield from lines


@composition()
def reduced_jacobian(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    task: str | None = None,
    actuated: Sequence[str] | None = None,
    frame: str = "world",
) -> ReducedJacobian:
    """The Jacobian from the actuated joints to a platform, the loops staying closed, and its inverse.

    Parameters
    ----------
    q
        Closed configurations (..., nq).
    link
        The platform: a link or frame, the end-effector unless one is named.
    task
        As of `manipulability`: "pose", "position" or "orientation"; the robot's own task unless given.
    actuated
        The joints that are driven, by name; those whose effort limit is not zero unless given. Fewer than the degrees
        of freedom are refused.
    frame
        The frame of the twist, as of `robot.jacobian`.

    >>> import chainrule as cr
    >>> bar = cr.load("five_bar")
    >>> reduced = bar.analysis.reduced_jacobian(bar.home())
    >>> reduced.J.round(4).tolist()
    [[-0.1, -0.1], [-0.0417, 0.0417], [0.0, 0.0]]
    >>> print(reduced)
    tool (position) from left_crank, right_crank: 2 degrees of freedom
    not singular
    measures: type 1 0.1411, type 2 0.4789
    """
    (state,) = read_state(robot, "reduced_jacobian", q=q)
    _refuse_open(robot, state)
    chosen = moving_task(robot, link, task=task)
    driven = driven_velocities(robot)
    if actuated is not None:
        driven = find_velocities(robot, "reduced_jacobian", names(actuated, "reduced_jacobian: actuated"))
    dof = robot.nv - len(closure_of(robot).independent_rows)
    _refuse_too_few(robot, driven, dof)
    J = jacobian_rows(robot, state, chosen.link, chosen.task, frame)
    G = evaluate(robot, "loops.jacobian", q=state)
    size, units = _size(robot), np.array([velocity.unit != "rad" for velocity in robot.model.layout.velocities])
    batch, scale = state.shape[:-1], np.where(units, size, 1.0)
    parts = [_reduce_one(J[row], G[row], scale, size, driven, dof, chosen) for row in np.ndindex(batch)]
    unknown: tuple[Any, ...] = _reduce_one(np.full(J.shape[-2:], np.nan), G[:0], scale, size, driven, dof, chosen)
    columns = [
        np.array([part[k] for part in parts], KIND_TYPE if isinstance(one, str) else float).reshape(
            (*batch, *np.shape(one))
        )
        for k, one in enumerate(unknown)
    ]
    actuated_names = tuple(robot.velocity_names[i] for i in driven)
    return ReducedJacobian(chosen.link, chosen.task, frame, actuated_names, dof, *columns)


def _reduce_one(
    J: Array, G: Array, scale: Array, size: float, driven: Sequence[int], dof: int, task: MotionTask
) -> tuple[Array, Array, Array, float, float, str]:
    """J, its inverse, the motion of all joints, the two measures and the kind of singularity of one configuration.

    Velocities are in units of `scale`, 1 for angles and the robot's size for lengths, so that they can be compared.
    """
    k, a = len(J), len(driven)
    if not (np.isfinite(J).all() and np.isfinite(G).all()):
        return np.full((k, a), np.nan), np.full((a, k), np.nan), np.full((len(scale), a), np.nan), np.nan, np.nan, ""
    Z = scale[:, None] * motions(G * scale)
    rows = np.array([1.0] * 3 + [size] * 3) if task.task == "pose" else np.full(3, size)
    rows = np.ones(3) if task.task == "orientation" else rows
    moved, turned = (J @ Z) / rows[:, None], (Z / scale[:, None])[list(driven)]
    s_1, s_2 = (np.linalg.svd(matrix, compute_uv=False) for matrix in (moved, turned))
    type_1 = float(s_1[task.rank - 1]) if len(s_1) >= task.rank else 0.0
    type_2 = float(s_2[dof - 1]) if len(s_2) >= dof else 0.0
    lost, loose, folded = type_1 < SINGULAR_RATIO, type_2 < SINGULAR_RATIO, Z.shape[1] > dof
    kind = "constraint" if folded else "type 3" if lost and loose else "type 1" if lost else "type 2" if loose else ""
    back = np.linalg.pinv(turned, SINGULAR_RATIO)
    follow = Z @ back / scale[list(driven)]
    inverse = scale[list(driven), None] * (turned @ np.linalg.pinv(moved, SINGULAR_RATIO)) / rows
    determined = task.rank == dof  # else the platform's twist does not tell the velocities of all joints
    if loose or folded:
        follow = np.full_like(follow, np.nan)
    if lost or folded or not determined:
        inverse = np.full_like(inverse, np.nan)
    return J @ follow, inverse, follow, type_1, type_2, kind


def _size(robot: Mechanism) -> float:
    """A length of the robot, in m: the largest distance between a joint and its parent, or 1 where all are zero."""
    points = [joint.origin.translation for joint in robot.model.joints]
    return max((float(p.dot(p)) ** 0.5 for p in points), default=0.0) or 1.0


def _refuse_open(robot: Mechanism, q: Array) -> None:
    """Raise where a configuration is not closed; those that are not finite are passed over."""
    if not robot.model.constraints:
        return
    flat = q.reshape(-1, robot.nq)
    bad = np.flatnonzero(~closure_of(robot).is_closed(flat, 1e3 * CLOSED_GAP) & np.isfinite(flat).all(axis=-1))
    if len(bad):
        raise ModelError(
            f"reduced_jacobian: the configuration is not closed: {closure_of(robot).describe_gap(flat[bad[0]])}; close "
            "it with robot.loops.close"
        )


def _refuse_too_few(robot: Mechanism, driven: Sequence[int], dof: int) -> None:
    if len(driven) < dof:
        joints = quoted([robot.velocity_names[i] for i in driven]) if driven else "none"
        raise ModelError(
            f"reduced_jacobian: {len(driven)} actuated joints ({joints}) do not determine the motion of robot "
            f"{robot.name!r}, which has {dof} degrees of freedom; give other joints an effort limit that is not zero, "
            "or name them: actuated=[...]"
        )

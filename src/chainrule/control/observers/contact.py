"""What torques of the world say: the wrench on a link, and which link is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite
from chainrule.control.laws.gains import joint_gains
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_state
from chainrule.errors import ShapeError
from chainrule.kinematics.capacity import balanced_wrench
from chainrule.kinematics.tasks import RANK_TOLERANCE, jacobian_rows, rows_of_task
from chainrule.parameters.regressor import regressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class ExternalWrench:
    """A wrench (moment, force) of the world on a link, as far as joints feel it."""

    link: str
    task: str
    """The part that is looked for: "pose", "position" for a force alone, "orientation" for a moment alone."""
    wrench: Array
    """The smallest that comes nearest to the torques: (..., 6), in N m and N."""
    unseen: Array
    """The projection (..., 6, 6) onto the wrenches that no joint feels, which the estimate lacks."""
    residual: Array
    """The torques (..., nv) that no wrench on this link explains: another link is touched, or the model is wrong."""

    def __repr__(self) -> str:
        count = len(rows_of_task(self.task))
        seen = count - np.rint(np.trace(self.unseen, axis1=-2, axis2=-1)).max(initial=0)
        less = f", {seen:.0f} of {count} directions seen" if seen < count else ""
        return f"<wrench on {self.link!r}: {np.round(self.wrench, 4) + 0.0}{less}>"


def external_wrench(
    robot: Mechanism, q: ArrayLike, torque: ArrayLike, link: str | None, *, frame: str, task: str
) -> ExternalWrench:
    """The wrench w of the world on a link with J^T w = torque, in a frame of `robot.jacobian`."""
    q, torque = read_state(robot, "wrench", q=q, tau=torque)
    rows = list(rows_of_task(task))
    w = balanced_wrench(robot, q, torque, link, frame=frame, gravity=False, task=task)
    J = jacobian_rows(robot, q, link, "pose", frame)
    unseen = np.zeros((*w.shape, 6))
    chosen = J[..., rows, :]
    felt = chosen @ np.linalg.pinv(chosen, rcond=RANK_TOLERANCE)
    unseen[..., np.array(rows)[:, None], rows] = np.eye(len(rows)) - felt
    residual = torque - (np.swapaxes(J, -1, -2) @ w[..., None])[..., 0]
    return ExternalWrench(find_link(robot, link), task, w, unseen, residual)


@dataclass(frozen=True)
class Contact:
    """A touched robot: the links nearest to the base that can be the touched ones, and the joints that feel it."""

    links: tuple[str, ...]
    """The link of the last joint of each branch that feels a contact: that link is touched, or one that it carries."""
    joints: tuple[str, ...]


def contact(robot: Mechanism, torque: ArrayLike, threshold: Any) -> Contact | None:
    """The joints whose torque (nv,) passes its threshold, and the links beyond the last of them."""
    (r,) = read_state(robot, "contact", tau=torque)
    limits = joint_gains(robot, threshold, "contact: threshold")
    if r.ndim != 1 or limits.ndim != 1:
        raise ShapeError(f"contact takes the torques of one sample, {robot.nv} of them, got shape {r.shape}")
    felt = set(np.flatnonzero(np.abs(r) > limits).tolist())
    moved = [body for body in robot.model.bodies if not body.joint.mimic and felt & {i for i, _, _ in body.dofs}]
    carrying = {above.index for body in moved for above in robot.model.ancestors(body.index)[:-1]}
    last = [body for body in moved if body.index not in carrying]
    return Contact(tuple(b.link.name for b in last), tuple(b.joint.name for b in moved)) if moved else None


def torque_deviation(robot: Mechanism, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, covariance: ArrayLike) -> Array:
    """Standard deviations (..., nv) of the model's torques by the covariance (p, p) of `robot.parameters.values`."""
    Y = regressor(robot, q, qd, qdd)
    P = real_array(covariance, "covariance")
    refuse_nonfinite(P, "covariance")
    if P.shape != (Y.shape[-1],) * 2:
        raise ShapeError(
            f"covariance must be ({Y.shape[-1]}, {Y.shape[-1]}), a row for each of robot.parameters.names, got "
            f"{P.shape}"
        )
    return np.sqrt(np.maximum(np.einsum("...ij,jk,...ik->...i", Y, P, Y), 0.0))

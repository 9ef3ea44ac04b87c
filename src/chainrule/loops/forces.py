"""Forces in closed loops: M qdd + h = tau + G^T lambda. M, C, g and h stay those of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, names
from chainrule.core.dask import takes_dask
from chainrule.core.loads import Loads
from chainrule.core.mechanism import Mechanism
from chainrule.core.rank import NEW_PART_TOLERANCE
from chainrule.errors import ModelError, quoted
from chainrule.loops.closure import constraint_jacobian, constraint_velocity_terms
from chainrule.loops.motion import MAX_VIOLATION, refuse_violation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LoopTorques(NamedTuple):
    """Torques of a robot with closed loops, and the wrench of each constraint on its second link, in its frame."""

    tau: Array
    forces: Array


@takes_dask()
def constraint_forces(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> Array:
    """The wrench of each constraint on its second link, in that link's frame, under torques: (..., constraints, 6).

    The first link feels the opposite. Where equations are redundant, the smallest such forces. wrench_frame: of the
    wrenches that are given, as in inverse_dynamics.
    """
    loads = robot.loads("constraint_forces", tip_wrench, wrenches)
    return _forces(robot, "constraint_forces", loads, wrench_frame, q=q, qd=qd, tau=tau)


@takes_dask()
def loop_forces(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> Array:
    """The wrench of each constraint on its second link, in that link's frame, during a motion: (..., constraints, 6).

    wrench_frame: of the wrenches that are given, as in inverse_dynamics.
    """
    loads = robot.loads("loop_forces", tip_wrench, wrenches)
    return _forces(robot, "loop_forces", loads, wrench_frame, q=q, qd=qd, qdd=qdd)


def _forces(
    robot: Mechanism,
    function: str,
    loads: Loads,
    wrench_frame: str,
    /,
    *,
    actuated: Sequence[int] | None = None,
    **state: Any,
) -> Array:
    """Wrenches of the constraints, none where there are no constraints."""
    if not robot.model.constraints:
        robot.options(function, {"wrench_frame": wrench_frame})
        return np.zeros((*robot.read(function, **state)[0].shape[:-1], 0, 6))
    options = {} if actuated is None else {"actuated": actuated}
    return robot.evaluate(function, loads, wrench_frame=wrench_frame, **state, **options)


@takes_dask()
def loop_torques(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    actuated: Sequence[str] | None = None,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
) -> LoopTorques:
    """Torques of the actuated joints that produce qdd, zero elsewhere, and the forces of the constraints.

    M qdd + h = tau + G^T lambda. `actuated` names joints; without it, they are those whose effort limit is not
    zero. Of several torques that would do, the smallest. Wrenches are as in inverse_dynamics. Errors say when qdd does
    not keep the loops closed, and when those joints cannot produce it.
    """
    driven = robot.actuated
    if actuated is not None:
        driven = robot.find_velocities("loop_torques", names(actuated, "loop_torques: hold"))
    options = {"actuated": driven} if robot.model.constraints else {}
    loads = robot.loads("inverse_dynamics", tip_wrench, wrenches)
    tau = robot.evaluate("inverse_dynamics", loads, q=q, qd=qd, qdd=qdd, wrench_frame=wrench_frame, **options)
    forces = _forces(robot, "loop_forces", loads, wrench_frame, q=q, qd=qd, qdd=qdd, **options)
    if robot.model.constraints:
        state, rates, wanted = robot.read("loop_torques", q=q, qd=qd, qdd=qdd)
        gamma = constraint_velocity_terms(robot, state, rates)
        refuse_violation(robot, "inverse_dynamics", state, wanted, gamma, "with this qdd")
        needed = robot.evaluate("bias", loads, q=q, qd=qd, wrench_frame=wrench_frame)
        needed = needed + (robot.evaluate("mass_matrix", q=state) @ wanted[..., None])[..., 0]
        _refuse_undriven(robot, state, needed, tau, driven)
    return LoopTorques(tau, forces)


def _refuse_undriven(robot: Mechanism, q: Array, needed: Array, tau: Array, driven: Sequence[int]) -> None:
    """Raise where tau and the constraints together do not supply what the tree needs."""
    across = np.swapaxes(constraint_jacobian(robot, q), -1, -2)
    with np.errstate(all="ignore"):
        rest = needed - tau
        whole = np.asarray(np.isfinite(needed).all(axis=-1))
        lost = np.asarray(~np.isfinite(rest).all(axis=-1))
        rest = np.where((whole & ~lost)[..., None], rest, 0.0)
        across = np.where(np.isfinite(across), across, 0.0)
        left = rest - (across @ (np.linalg.pinv(across, NEW_PART_TOLERANCE) @ rest[..., None]))[..., 0]
        scale = 1 + np.abs(np.where(whole[..., None], needed, 0.0)).max(axis=-1, initial=0.0)
    if (whole & (lost | (np.abs(left).max(axis=-1, initial=0.0) > MAX_VIOLATION * scale))).any():
        free = robot.nv - len(robot.independent_rows)
        joints = quoted(dict.fromkeys(robot.layout.velocities[i].joint for i in driven))
        raise ModelError(
            f"inverse_dynamics: the actuated joints ({joints}) cannot produce this motion of robot "
            f"{robot.name!r}, which has {free} degree{'s' if free != 1 else ''} of freedom; give other joints "
            "an effort limit that is not zero, or name them: robot.loop_torques(q, qd, qdd, actuated=[...])"
        )

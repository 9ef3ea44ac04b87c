"""Forces in closed loops: M qdd + h = tau + G^T lambda. M, C, g and h stay those of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms.loop_equations import row_scales
from chainrule.arguments import Array, names
from chainrule.core.closure import closure_of
from chainrule.core.declaration import BY_ALGORITHM, composition, function
from chainrule.core.derived import driven_velocities
from chainrule.core.evaluation import evaluate, options_of, zeros
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import DRIVEN, LOADED, SOLVED
from chainrule.core.rank import NEW_PART_TOLERANCE
from chainrule.core.reading import find_velocities, read_state, read_wrenches
from chainrule.display.text import advises_names, text_of_arrays
from chainrule.errors import ModelError, quoted
from chainrule.functions import adapters
from chainrule.functions.table import CONSTRAINTS, QD, QDD, TAU, WRENCH, Needs, Q
from chainrule.loops.constraints import jacobian, velocity_terms
from chainrule.loops.motion import MAX_VIOLATION, refuse_violation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@advises_names
class LoopTorques(NamedTuple):
    """Torques of a robot with closed loops, and the wrench of each constraint on its second link."""

    tau: Array
    forces: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@function(
    adapters.constraint_forces,
    subject="loops",
    takes=(Q, QD, TAU),
    gives=(CONSTRAINTS, WRENCH),
    options=LOADED,
    needs=Needs.INVERTIBLE_MASS,
    loaded=True,
    loops=SOLVED,
    answer="wrenches (moment, force) of {constraints} on their second links, {axes} (N m, N)",
)
def forces(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    tau: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """The wrench of each constraint on its second link under torques: (..., constraints, 6), N m and N.

    The first link feels the opposite. Where equations are redundant, the smallest such forces. The moment is about the
    origin of the second link.

    Parameters
    ----------
    q, qd, tau
        Configurations (..., nq), velocities and torques (..., nv).
    tip_wrench, external
        As in inverse_dynamics.
    frame
        Of all wrenches, in and out, as in inverse_dynamics.
    out
        An array that the result is written into.
    """
    if robot.model.constraints:
        return BY_ALGORITHM
    read_wrenches(robot, "loops.forces", tip_wrench, external)
    return _none(robot, "loops.forces", frame, out, q=q, qd=qd, tau=tau)


@function(
    adapters.motion_forces,
    subject="loops",
    takes=(Q, QD, QDD),
    gives=(CONSTRAINTS, WRENCH),
    options=LOADED,
    loaded=True,
    loops=DRIVEN,
    answer="wrenches (moment, force) of {constraints} on their second links, {axes} (N m, N)",
)
def motion_forces(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """The wrench of each constraint on its second link during a motion: (..., constraints, 6), N m and N.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv).
    tip_wrench, external, frame, out
        As in `forces`.
    """
    if robot.model.constraints:
        return BY_ALGORITHM
    read_wrenches(robot, "loops.motion_forces", tip_wrench, external)
    return _none(robot, "loops.motion_forces", frame, out, q=q, qd=qd, qdd=qdd)


def _none(robot: Mechanism, function: str, frame: str, out: Array | None = None, /, **state: Any) -> Array:
    """Wrenches of no constraints, for checked arguments."""
    options_of(robot, function, {"frame": frame})
    return zeros(robot, function, (0, 6), out, **state)


@composition()
def torques(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    actuated: Sequence[str] | None = None,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> LoopTorques:
    """Torques of the actuated joints that produce qdd, zero elsewhere, and the forces of the constraints.

    M qdd + h = tau + G^T lambda. Of several torques that would do, the smallest. Errors say when qdd does not keep the
    loops closed, and when those joints cannot produce it.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv).
    actuated
        The joints that are driven, by name; those whose effort limit is not zero unless given.
    tip_wrench, external, frame
        As in inverse_dynamics; frame is that of the constraints' wrenches too.
    """
    driven = driven_velocities(robot)
    if actuated is not None:
        driven = find_velocities(robot, "torques", names(actuated, "torques: actuated"))
    loads = read_wrenches(robot, "inverse_dynamics", tip_wrench, external)
    state = {"q": q, "qd": qd, "qdd": qdd}
    if not robot.model.constraints:
        tau = evaluate(robot, "inverse_dynamics", loads, **state, frame=frame)
        return LoopTorques(tau, _none(robot, "loops.motion_forces", frame, **state))
    tau = evaluate(robot, "inverse_dynamics", loads, **state, frame=frame, actuated=driven)
    on_links = evaluate(robot, "loops.motion_forces", loads, **state, frame=frame, actuated=driven)
    places, rates, wanted = read_state(robot, "torques", q=q, qd=qd, qdd=qdd)
    gamma = velocity_terms(robot, places, rates)
    refuse_violation(robot, "inverse_dynamics", places, wanted, gamma, "with this qdd")
    needed = evaluate(robot, "bias", loads, q=q, qd=qd, frame=frame)
    needed = needed + (evaluate(robot, "mass_matrix", q=places) @ wanted[..., None])[..., 0]
    _refuse_undriven(robot, places, needed, tau, driven)
    return LoopTorques(tau, on_links)


def _refuse_undriven(robot: Mechanism, q: Array, needed: Array, tau: Array, driven: Sequence[int]) -> None:
    """Raise where tau and the constraints together do not supply what the tree needs.

    Rows are in units of their constraints' sizes: where a rod lies flat, all of its row is rounding.
    """
    sizes = np.sqrt([scale.squared_length for scale in row_scales(robot.model)])
    across = np.swapaxes(jacobian(robot, q) / sizes[:, None], -1, -2)
    with np.errstate(all="ignore"):
        rest = needed - tau
        whole = np.asarray(np.isfinite(needed).all(axis=-1))
        lost = np.asarray(~np.isfinite(rest).all(axis=-1))
        rest = np.where((whole & ~lost)[..., None], rest, 0.0)
        across = np.where(np.isfinite(across), across, 0.0)
        longest = np.linalg.norm(across, ord=2, axis=(-2, -1))
        least = NEW_PART_TOLERANCE * np.maximum(1.0, 1.0 / longest)
        left = rest - (across @ (np.linalg.pinv(across, least) @ rest[..., None]))[..., 0]
        scale = 1 + np.abs(np.where(whole[..., None], needed, 0.0)).max(axis=-1, initial=0.0)
    if (whole & (lost | (np.abs(left).max(axis=-1, initial=0.0) > MAX_VIOLATION * scale))).any():
        free = robot.nv - len(closure_of(robot).independent_rows)
        joints = quoted(dict.fromkeys(robot.model.layout.velocities[i].joint for i in driven))
        raise ModelError(
            f"inverse_dynamics: the actuated joints ({joints}) cannot produce this motion of robot "
            f"{robot.name!r}, which has {free} degree{'s' if free != 1 else ''} of freedom; give other joints "
            "an effort limit that is not zero, or name them: robot.loops.torques(q, qd, qdd, actuated=[...])"
        )

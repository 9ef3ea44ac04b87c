"""Torques and accelerations: inverse and forward dynamics, the mass matrix, the terms of a torque, statics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import springs
from chainrule.arguments import Array, flag, result_array
from chainrule.core.dask import takes_dask
from chainrule.core.loads import load_on
from chainrule.core.mechanism import Mechanism
from chainrule.core.units import quantities_on_request
from chainrule.errors import ModelError
from chainrule.functions import reference
from chainrule.functions.table import terms_by_name
from chainrule.loops.forces import loop_torques

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
@quantities_on_request
def inverse_dynamics(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Torques that produce the accelerations qdd: tau = M qdd + h + J^T F_tip, (..., n).

    The recursive Newton-Euler algorithm, with rotors, springs and friction; its vector form is evaluated
    (`algorithms/vector_form.py`), which takes fewer operations than the twists and wrenches of
    `algorithms/rnea.py` and equals them to rounding.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., n).
    tip_wrench
        (..., 6): the wrench that the end-effector applies to its surroundings.
    wrenches
        wrenches[link] (..., 6): the wrench that the world applies to a link or frame. Wrenches are (moment, force), in
        N m and N, and the moment is about the origin of that link or frame.
    wrench_frame
        The axes of moment and force: "body", those of the link or frame itself; "world", those of the base.
    parameters
        Numbers of the robot in place of its own, for all states or for each: {"payload:hand": (..., 10)}, named as in
        `kernel`. One compiled function serves them all.
    out
        An array that the result is written into, as in mass_matrix.
    units
        Whether the result is a quantity of pint, or several by name where units differ.

    With closed loops, the torques are those of the actuated joints, as in loop_torques.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_gravity((0.0, 0.0, 0.0))
    >>> at_rest = [0.0, 0.0]
    >>> arm.inverse_dynamics([0.5, 0.0], at_rest, at_rest, [0, 0, 0, 0, 1, 0]).tolist()
    [2.0, 1.0]
    >>> arm.inverse_dynamics([0.5, 0.0], at_rest, at_rest, [0, 0, 0, 0, 1, 0], wrench_frame="world").round(4).tolist()
    [1.7552, 0.8776]
    """
    if robot.model.constraints:
        if parameters is not None:
            raise ModelError(
                f"inverse_dynamics: robot {robot.name!r} has closed loops, whose torques are not computed with "
                "parameters; edit the robot: robot.with_payload(...), robot.with_link(...)"
            )
        tau = loop_torques(robot, q, qd, qdd, None, tip_wrench, wrenches, wrench_frame=wrench_frame).tau
        if out is None:
            return tau
        result_array(out, tau.shape, [tau], "inverse_dynamics")[...] = tau
        return out
    loads = robot.loads("inverse_dynamics", tip_wrench, wrenches)
    return robot.evaluate(
        "inverse_dynamics", loads, q=q, qd=qd, qdd=qdd, wrench_frame=wrench_frame, parameters=parameters, out=out
    )


@takes_dask()
@quantities_on_request
def forward_dynamics(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
    stick: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Accelerations that the torques tau produce: qdd = M^-1 (tau - h - J^T F_tip), (..., n).

    The articulated-body algorithm; the inverse of inverse_dynamics, with the same wrenches in the same wrench_frame.
    With closed loops, M qdd + h = tau + G^T lambda and G qdd + gamma = 0 are solved together.

    Parameters
    ----------
    q, qd, tau
        Configurations (..., nq), velocities and torques (..., n).
    tip_wrench, wrenches, wrench_frame
        As in inverse_dynamics.
    stick
        Whether dry friction holds joints at rest. Without it, dry friction counts as zero at a speed of exactly zero,
        as in inverse_dynamics. With stick=True, joints whose speed is exactly zero stay at rest as long as their dry
        friction, up to its break-away level, can hold them: the accelerations with which `simulate` starts.
    parameters
        Numbers of the robot in place of its own, as in inverse_dynamics.
    out
        An array that the result is written into, as in mass_matrix.
    units
        Whether the result is a quantity of pint, or several by name where units differ.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_friction(coulomb=30.0)
    >>> rest = [0.0, 0.0]
    >>> arm.forward_dynamics(rest, rest, rest).round(2).tolist()
    [-9.81, 9.81]
    >>> arm.forward_dynamics(rest, rest, rest, stick=True).round(2).tolist()
    [0.0, 0.0]
    """
    loads = robot.loads("forward_dynamics", tip_wrench, wrenches)
    if flag(stick, "forward_dynamics: stick"):
        return robot.evaluate(
            "sticking_dynamics", loads, q=q, qd=qd, tau=tau, wrench_frame=wrench_frame, parameters=parameters, out=out
        )
    return robot.evaluate(
        "forward_dynamics", loads, q=q, qd=qd, tau=tau, wrench_frame=wrench_frame, parameters=parameters, out=out
    )


@takes_dask()
@quantities_on_request
def bias(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """h(q, qd): everything but M qdd, friction and springs included: (..., n).

    Parameters
    ----------
    q, qd
        Configurations (..., nq) and velocities (..., n).
    tip_wrench, wrenches, wrench_frame, parameters
        As in inverse_dynamics.
    out
        An array that the result is written into, as in mass_matrix.
    units
        Whether the result is a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate(
        "bias",
        robot.loads("bias", tip_wrench, wrenches),
        q=q,
        qd=qd,
        wrench_frame=wrench_frame,
        parameters=parameters,
        out=out,
    )


@takes_dask()
def mass_matrix(
    robot: Mechanism,
    q: ArrayLike,
    *,
    half: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """M(q), symmetric and positive definite, rotors included: (..., n, n).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    half=True gives the entries on and below the diagonal only, row by row: (..., n (n + 1) / 2), in the order of
    `np.tril_indices(n)`. Large batches then take little more than half the memory and time.

    out: an array of the result's shape, which the result is written into and which is returned. Memory that is used
    again costs less than new memory (docs/kernels.md).

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.mass_matrix([0.0, 0.0]).tolist(), arm.mass_matrix([0.0, 0.0], half=True).tolist()
    ([[5.0, 2.0], [2.0, 1.0]], [5.0, 2.0, 1.0])
    """
    return robot.evaluate("mass_matrix", q=q, half=half, parameters=parameters, out=out)


@takes_dask()
def mass_matrix_derivative(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """dM_ij/dq_k, the change of the mass matrix along velocity k: (..., n, n, n), indices i, j, k.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.3, 0.5], np.array([1.0, 2.0])
    >>> dM, C = arm.mass_matrix_derivative(q), arm.coriolis_matrix(q, qd)
    >>> bool(abs(dM @ qd - C - C.T).max() < 1e-12)  # dM/dt = C + C^T
    True
    """
    return robot.evaluate("mass_matrix_derivative", q=q, out=out)


@takes_dask()
def apply_inverse_mass(robot: Mechanism, q: ArrayLike, x: ArrayLike, *, out: Array | None = None) -> Array:
    """M(q)^-1 x, without forming M: (..., n)."""
    return robot.evaluate("apply_inverse_mass", q=q, x=x, out=out)


@takes_dask()
def coriolis_matrix(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """C(q, qd) with dM/dt - 2 C skew-symmetric, and C qd the centrifugal and Coriolis torques: (..., n, n).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.
    """
    return robot.evaluate("coriolis_matrix", q=q, qd=qd, parameters=parameters, out=out)


@takes_dask()
@quantities_on_request
def gravity_torque(
    robot: Mechanism,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """g(q): torques that hold the robot still against gravity: (..., n).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate("gravity_torque", q=q, parameters=parameters, out=out)


@takes_dask()
def gravity_torque_jacobian(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """dg_i/dq_k, the change of the torques against gravity along velocity k: (..., n, n).

    The stiffness that gravity gives the robot: symmetric where joints have no quaternions, positive definite where it
    hangs in a stable equilibrium.
    """
    return robot.evaluate("gravity_torque_jacobian", q=q, out=out)


@takes_dask()
@quantities_on_request
def friction_torque(
    robot: Mechanism,
    qd: ArrayLike,
    q: ArrayLike | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """Torques that overcome friction; dry friction counts as zero at rest: (..., n).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    q is needed where friction depends on the position: with a ripple, or a function of the user's own.

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    if q is not None:
        return robot.evaluate("friction_torque_at", qd=qd, q=q, parameters=parameters, out=out)
    return robot.evaluate("friction_torque", qd=qd, parameters=parameters, out=out)


@takes_dask()
@quantities_on_request
def spring_torque(robot: Mechanism, q: ArrayLike, *, out: Array | None = None, units: bool = False) -> Array:
    """Torques that hold the springs at joints and between links: (..., n).

    units=True makes the result a quantity of pint, or several by name where units differ.
    """
    return robot.evaluate("spring_torque", q=q, out=out)


@takes_dask()
def spring_forces(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> Array:
    """The force with which each spring and damper between links pulls its two points together, in N: (..., springs).

    Negative where it pushes them apart. In the order of `robot.model.springs`.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum").with_spring("base", "rod", (0, 0.5, 0), (0, -0.5, 0), stiffness=10, rest_length=0.4)
    >>> arm.spring_forces([0.0], [0.0]).tolist()
    [6.0]
    """
    state, rates = robot.read("spring_forces", q=q, qd=qd)
    with np.errstate(all="ignore"):
        forces = springs.spring_forces(robot.merged, reference.scalars_of(state), reference.scalars_of(rates))
    return reference.stack(forces, state.shape[:-1], (len(forces),))


@takes_dask()
def torque_terms(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    wrench_frame: str = "body",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> dict[str, Array]:
    """The torque by its causes: inertial, centrifugal, coriolis, gravity, friction, spring, and their total.

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    Centrifugal terms go with squares of a joint's own speed, Coriolis terms with products of two speeds. Wrenches, as
    in inverse_dynamics, add the term "external", J^T F_tip - J^T W; closed loops the term "loop".

    >>> import chainrule as cr
    >>> arm, at_rest = cr.load("planar_2r"), [0.0, 0.0]
    >>> terms = arm.torque_terms([0.0, 0.0], at_rest, at_rest, tip_wrench=[0, 0, 0, 0, 1, 0])
    >>> terms["external"].tolist(), terms["total"].round(2).tolist()
    ([2.0, 1.0], [31.43, 10.81])
    """
    loads = robot.loads("torque_terms", tip_wrench, wrenches)
    values = robot.evaluate(
        "torque_terms", loads, q=q, qd=qd, qdd=qdd, wrench_frame=wrench_frame, parameters=parameters
    )
    by_term: dict[str, Array] = terms_by_name(robot.model, {"loads": loads.links})(values)
    return by_term


@takes_dask()
def joint_wrenches(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tip_wrench: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    *,
    joints: Sequence[str] | None = None,
    wrench_frame: str = "body",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """The whole wrench (moment, force) that each joint's structure carries, not only its motor: (..., joints, 6).

    From parent to child, in the child link's frame.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., n).
    tip_wrench, wrenches, wrench_frame, parameters
        As in inverse_dynamics.
    joints
        Names of joints, fixed and mimic ones too; those of joint_names unless given.
    out
        An array that the result is written into, as in mass_matrix.
    """
    loads = robot.loads("joint_wrenches", tip_wrench, wrenches)
    return robot.evaluate(
        "joint_wrenches",
        loads,
        q=q,
        qd=qd,
        qdd=qdd,
        joints=joints,
        wrench_frame=wrench_frame,
        parameters=parameters,
        out=out,
    )


@takes_dask()
@quantities_on_request
def static_torque(
    robot: Mechanism,
    q: ArrayLike,
    tip_wrench: ArrayLike,
    link: str | None = None,
    frame: str = "body",
    *,
    out: Array | None = None,
    units: bool = False,
) -> Array:
    """J^T F: torques that let a link or frame apply a wrench to its surroundings at rest, without gravity: (..., n).

    frame: the axes of the wrench (moment, force): "body", those of that link or frame, or "world", those of the base,
    with the moment about its origin; "space", those of the base, with the moment about the origin of the base. The
    Jacobian of the same frame is the one of J^T F.

    units=True makes the result a quantity of pint, or several by name where units differ.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").static_torque([0.0, 0.0], [0, 0, 0, 0, 1, 0], frame="world").tolist()
    [2.0, 1.0]
    """
    return robot.evaluate(
        "static_torque", load_on(robot.link(link), tip_wrench, "static_torque"), q=q, frame=frame, out=out
    )

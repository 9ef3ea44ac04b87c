"""Torques and accelerations: inverse and forward dynamics, the mass matrix, the terms of a torque, statics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import aba, coriolis, crba, friction, rnea, springs, sticking, terms
from chainrule.arguments import Array, flag, result_array
from chainrule.core.at import reads_model
from chainrule.core.declaration import BY_ALGORITHM, composition, function, rates_or_zeros, variant
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import DRIVEN, FRAME, HALF, JOINTS, LOADED, LOADS, ONE_LOAD, SOLVED
from chainrule.core.reading import read_state, read_wrenches
from chainrule.functions import adapters, reference
from chainrule.functions.adapters import lower_triangle, with_named_wrenches
from chainrule.functions.table import (
    ACCELERATIONS,
    EFFORTS,
    PER_ACCELERATION,
    PER_VELOCITY,
    QD,
    QDD,
    SPRINGS,
    TAU,
    TERMS,
    TRIANGLE,
    WRENCH,
    Needs,
    Q,
    X,
    per_body,
    per_pair,
    without_loops,
)
from chainrule.loops.forces import torques as loop_torques
from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _per_sticking_pass(model: Model) -> float:
    """Visits of bodies that take about as long as the passes which find the joints that stick."""
    k = len(sticking.joints_with_dry_friction(model))
    return len(model.bodies) + sticking.sticking_passes(k) * k**3 / 60


def _chosen_joints(model: Model, options: Mapping[str, Sequence[str]]) -> int:
    """The number of joints that the option `joints` names."""
    return len(options["joints"])


@function(  # the vector form: fewer operations than the twist-wrench recursion of `rnea`
    with_named_wrenches(adapters.inverse_dynamics),
    takes=(Q, QD, QDD),
    gives=(EFFORTS,),
    options=LOADED,
    loaded=True,
    loops=DRIVEN,
    is_direct=without_loops,
    on_any_frames=True,
    answer="torques or forces of {torques}",
)
def inverse_dynamics(
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
    """Torques that produce the accelerations qdd: tau = M qdd + h + J^T F_tip - sum J^T W, (..., nv).

    The recursive Newton-Euler algorithm, with rotors, springs and friction; its vector form is evaluated
    (`algorithms/vector_form.py`), which takes fewer operations than the twists and wrenches of
    `algorithms/rnea.py` and equals them to rounding. With closed loops, the torques are those of the driven joints, as
    in `robot.loops.torques`.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv); rates that are left out are zero.
    tip_wrench
        F_tip, (..., 6): the wrench that the end-effector applies to the world. `tip_wrench=F` equals
        `external={tip: -F}`.
    external
        external[link] (..., 6): the wrench W that the world applies to a link or frame. Wrenches are (moment, force),
        in N m and N.
    frame
        Of these wrenches: "world", in base axes, the moment about the origin of that link or frame; "body", in the axes
        of that link or frame; "space", in base axes, the moment about the origin of the base.
    out
        An array that the result is written into, as in mass_matrix.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").edit(gravity=(0.0, 0.0, 0.0))
    >>> arm.inverse_dynamics([0.5, 0.0], tip_wrench=[0, 0, 0, 0, 1, 0]).round(4).tolist()
    [1.7552, 0.8776]
    >>> arm.inverse_dynamics([0.5, 0.0], tip_wrench=[0, 0, 0, 0, 1, 0], frame="body").tolist()
    [2.0, 1.0]
    """
    if not robot.model.constraints:
        return BY_ALGORITHM
    qd, qdd = rates_or_zeros(robot, QD, qd), rates_or_zeros(robot, QDD, qdd)
    tau = loop_torques(robot, q, qd, qdd, tip_wrench=tip_wrench, external=external, frame=frame).tau
    if out is None:
        return tau
    result_array(out, tau.shape, [tau], "inverse_dynamics")[...] = tau
    return out


variant(
    with_named_wrenches(adapters.sticking_dynamics),
    "sticking_dynamics",
    of="forward_dynamics",
    when={"stick": True},
    takes=(Q, QD, TAU),
    gives=(ACCELERATIONS,),
    options=LOADED,
    needs=Needs.INVERTIBLE_MASS,
    cost=_per_sticking_pass,
    loaded=True,
    loops=SOLVED,
    on_any_frames=True,
    answer="accelerations of {accelerations}, with joints at rest held by dry friction",
)


@function(
    with_named_wrenches(adapters.forward_dynamics),
    takes=(Q, QD, TAU),
    gives=(ACCELERATIONS,),
    options=LOADED,
    needs=Needs.INVERTIBLE_MASS,
    loaded=True,
    loops=SOLVED,
    on_any_frames=True,
    answer="accelerations of {accelerations}",
)
def forward_dynamics(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    tau: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    stick: bool = False,
    out: Array | None = None,
) -> Array:
    """Accelerations that the torques tau produce: qdd = M^-1 (tau - h - J^T F_tip + sum J^T W), (..., nv).

    The articulated-body algorithm; the inverse of inverse_dynamics, with the same wrenches in the same frame.
    With closed loops, M qdd + h = tau + G^T lambda and G qdd + gamma = 0 are solved together.

    Parameters
    ----------
    q, qd, tau
        Configurations (..., nq), velocities and torques (..., nv); what is left out is zero.
    tip_wrench, external, frame
        As in inverse_dynamics.
    stick
        Whether dry friction holds joints at rest. Without it, dry friction counts as zero at a speed of exactly zero,
        as in inverse_dynamics. With stick=True, joints whose speed is exactly zero stay at rest as long as their dry
        friction, up to its break-away level, can hold them: the accelerations with which `simulate` starts.
    out
        An array that the result is written into, as in mass_matrix.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").edit(joints={"*": {"coulomb": 30.0}})
    >>> rest = [0.0, 0.0]
    >>> arm.forward_dynamics(rest, rest, rest).round(2).tolist()
    [-9.81, 9.81]
    >>> arm.forward_dynamics(rest, rest, rest, stick=True).round(2).tolist()
    [0.0, 0.0]
    """
    if not flag(stick, "forward_dynamics: stick"):
        return BY_ALGORITHM
    loads = read_wrenches(robot, "forward_dynamics", tip_wrench, external)
    qd, tau = rates_or_zeros(robot, QD, qd), rates_or_zeros(robot, TAU, tau)
    return evaluate(robot, "sticking_dynamics", loads, q=q, qd=qd, tau=tau, frame=frame, out=out)


@function(
    with_named_wrenches(adapters.bias),
    takes=(Q, QD),
    gives=(EFFORTS,),
    options=LOADED,
    loaded=True,
    on_any_frames=True,
    answer="torques or forces without those of accelerations, of {torques}",
)
def bias(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """h(q, qd): everything but M qdd, friction and springs included: (..., nv).

    Parameters
    ----------
    q, qd
        Configurations (..., nq) and velocities (..., nv), zero if left out.
    tip_wrench, external, frame
        As in inverse_dynamics.
    out
        An array that the result is written into, as in mass_matrix.
    """


@function(
    lambda m, q, *, half=False: lower_triangle(crba.mass_matrix(m, q)) if half else crba.mass_matrix(m, q),
    takes=(Q,),
    gives=(EFFORTS, PER_ACCELERATION),
    options={"half": HALF},
    cost=per_pair(),
    gives_half=(TRIANGLE,),
    on_any_frames=True,
    answer="mass matrix in kg, m and rad: rows and columns {columns}{half}",
)
def mass_matrix(robot: Mechanism, q: ArrayLike, *, half: bool = False, out: Array | None = None) -> Array:
    """M(q), symmetric and positive definite, rotors included: (..., nv, nv).

    half=True gives the entries on and below the diagonal only, row by row: (..., nv (nv + 1) / 2), in the order of
    `np.tril_indices(nv)`. Large batches then take little more than half the memory and time.

    out: an array of the result's shape, which the result is written into and which is returned. Memory that is used
    again costs less than new memory (docs/kernels.md).

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.mass_matrix([0.0, 0.0]).tolist(), arm.mass_matrix([0.0, 0.0], half=True).tolist()
    ([[5.0, 2.0], [2.0, 1.0]], [5.0, 2.0, 1.0])
    """


@function(
    aba.apply_inverse_mass,
    subject="analysis",
    takes=(Q, X),
    gives=(ACCELERATIONS,),
    needs=Needs.INVERTIBLE_MASS,
    on_any_frames=True,
    answer="accelerations of {accelerations}",
)
def apply_inverse_mass(robot: Mechanism, q: ArrayLike, x: ArrayLike, *, out: Array | None = None) -> Array:
    """M(q)^-1 x, without forming M: (..., nv)."""


@function(
    coriolis.coriolis_matrix,
    takes=(Q, QD),
    gives=(EFFORTS, PER_VELOCITY),
    cost=per_pair(3),
    on_any_frames=True,
    answer="Coriolis matrix in kg, m, s and rad: rows and columns {columns}",
)
def coriolis_matrix(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """C(q, qd) with dM/dt - 2 C skew-symmetric, and C qd the centrifugal and Coriolis torques: (..., nv, nv)."""


@function(
    rnea.gravity_torque,
    takes=(Q,),
    gives=(EFFORTS,),
    on_any_frames=True,
    answer="torques or forces against gravity of {torques}",
)
def gravity_torque(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """g(q): torques that hold the robot still against gravity: (..., nv)."""


variant(
    lambda m, qd, q: friction.friction_torque(m, q, qd),
    "friction_torque_at",
    of="friction_torque",
    takes=(QD, Q),
    gives=(EFFORTS,),
    needs=Needs.NOTHING,
    answer="torques or forces that overcome friction of {torques}",
)


@function(
    lambda m, qd: friction.friction_torque(m, None, qd),
    takes=(QD,),
    gives=(EFFORTS,),
    needs=Needs.NOTHING,
    answer="torques or forces that overcome friction of {torques}",
)
def friction_torque(robot: Mechanism, qd: ArrayLike, q: ArrayLike | None = None, *, out: Array | None = None) -> Array:
    """Torques that overcome friction; dry friction counts as zero at rest: (..., nv).

    q is needed where friction depends on the position: with a ripple, or a function of the user's own.
    """
    if q is None:
        return BY_ALGORITHM
    return evaluate(robot, "friction_torque_at", qd=qd, q=q, out=out)


@function(
    terms.spring_torque,
    takes=(Q,),
    gives=(EFFORTS,),
    needs=Needs.NOTHING,
    on_any_frames=True,
    answer="torques or forces that hold springs of {torques}",
)
def spring_torque(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Torques that hold the springs at joints and between links: (..., nv)."""


@reads_model
@composition((SPRINGS,), unit="N")
def spring_forces(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """The force with which each spring and damper between links pulls its two points together, in N: (..., springs).

    Negative where it pushes them apart. In the order of `robot.model.springs`.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum").with_spring("base", "rod", (0, 0.5, 0), (0, -0.5, 0), stiffness=10, rest_length=0.4)
    >>> arm.analysis.spring_forces([0.0], [0.0]).tolist()
    [6.0]
    """
    state, rates = read_state(robot, "spring_forces", q=q, qd=qd)
    with np.errstate(all="ignore"):
        forces = springs.spring_forces(merged_model(robot), reference.scalars_of(state), reference.scalars_of(rates))
    return reference.stack(forces, state.shape[:-1], (len(forces),))


@function(
    adapters.torque_terms,
    takes=(Q, QD, QDD),
    gives=(TERMS, EFFORTS),
    options=LOADED,
    loaded=True,
    cost=per_body(6),
    loops=DRIVEN,
    by_name=adapters.terms_by_name,
    on_any_frames=True,
    answer="terms {terms}, each of {torques}",
)
def torque_terms(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> dict[str, Array]:
    """The torque by its causes: inertial, centrifugal, coriolis, gravity, friction, spring, and their total.

    Centrifugal terms go with squares of a joint's own speed, Coriolis terms with products of two speeds. Wrenches, as
    in inverse_dynamics, add the term "external", J^T F_tip - J^T W; closed loops the term "loop".

    >>> import chainrule as cr
    >>> terms = cr.load("planar_2r").torque_terms([0.0, 0.0], tip_wrench=[0, 0, 0, 0, 1, 0])
    >>> terms["external"].tolist(), terms["total"].round(2).tolist()
    ([2.0, 1.0], [31.43, 10.81])
    """


@function(
    adapters.joint_wrenches,
    takes=(Q, QD, QDD),
    gives=(_chosen_joints, WRENCH),
    options={"loads": LOADS, "joints": JOINTS, "frame": FRAME},
    loaded=True,
    whole=True,
    loops=DRIVEN,
    answer="wrenches (moment, force) from parent to child at {joints}, at the origin of each child (N m, N), {axes}",
)
def joint_wrenches(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    joints: Sequence[str] | None = None,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """The whole wrench (moment, force) that each joint's structure carries, not only its motor: (..., joints, 6).

    From parent to child, N m and N, the moment about the origin of the child link.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv); rates that are left out are zero.
    joints
        Names of joints, fixed and mimic ones too; those of joint_names unless given.
    tip_wrench, external
        As in inverse_dynamics.
    frame
        Of all wrenches, in and out: "world", base axes; "body", the axes of the child link, or of the link that is
        loaded; "space", base axes, moments about the origin of the base.
    out
        An array that the result is written into, as in mass_matrix.
    """


@function(
    adapters.static_torque,
    takes=(Q,),
    gives=(EFFORTS,),
    options={"loads": ONE_LOAD, "frame": FRAME},
    needs=Needs.NOTHING,
    loaded=True,
    loops=DRIVEN,
    acts=True,
    answer="torques or forces of {torques}",
)
def static_torque(
    robot: Mechanism,
    q: ArrayLike,
    wrench: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """J^T F: torques that let a link or frame apply a wrench to its surroundings at rest, without gravity: (..., nv).

    wrench: F, (moment, force) in N m and N. frame: "world", in base axes, the moment about the origin of that link or
    frame; "body", in its own axes; "space", in base axes, the moment about the origin of the base. The Jacobian of the
    same frame is the one of J^T F. With closed loops, the driven joints alone have torques, which do the same work.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").static_torque([0.0, 0.0], [0, 0, 0, 0, 1, 0]).tolist()
    [2.0, 1.0]
    """

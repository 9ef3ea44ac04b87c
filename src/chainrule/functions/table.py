"""The functions of a robot's state: for each, the algorithm that computes it, its arguments and its options.

This table is what a robot evaluates, whatever does the evaluating. Arguments are lists of scalars; results are
scalars in nested lists, whose nesting is the shape of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chainrule.algorithms import (
    aba,
    centroidal,
    coriolis,
    crba,
    energy,
    jacobians,
    joint_forces,
    kinematics,
    loop_equations,
    loop_torques,
    manipulability,
    rnea,
    statics,
    terms,
    vector_form,
)
from chainrule.model import Model
from chainrule.spatial import Force, Scalar
from chainrule.spatial.linear import transpose

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class Function:
    """How to compute one quantity.

    `arguments` name what it takes: configurations q, q0, q1, and vectors of nv numbers, qd, qdd, tau, v, x. `loaded`
    says that it also takes wrenches, each as six scalars, on the links that the option `loads` names. Other options
    are keywords of `compute`, fixed before any number is known. `shape` is that of the answer, with the number of
    degrees of freedom as "n", of coordinates as "nq", of links as "links" or, without the base, "bodies", and of the
    joints asked for as "joints", of constraints as "constraints", of their equations as "rows", of terms as "terms".
    `whole` says that every link counts, those on fixed joints too, and `masses` that it means nothing for a robot
    without any. `loops` are the options that closed loops add: the independent `rows`, the `actuated` velocities.
    """

    compute: Callable[..., Any]
    arguments: tuple[str, ...]
    shape: tuple[int | str, ...]
    loaded: bool = False
    whole: bool = False
    masses: bool = True
    loops: tuple[str, ...] = ()


def _wrenches(model: Model, loads: Sequence[str], wrenches: Sequence[Scalars]) -> dict[int, Force]:
    """Wrenches on named links and frames, gathered on the links that carry them."""
    total: dict[int, Force] = {}
    for name, wrench in zip(loads, wrenches, strict=True):
        index, offset = model.locate(name)
        total[index] = total.get(index, Force.zero()) + offset * Force.of(wrench)
    return total


def _loaded(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Give an algorithm's wrenches names."""

    def compute(model: Model, *arguments: Any, loads: Sequence[str] = (), **loops: Any) -> Any:
        state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]
        return algorithm(model, *state, wrenches=_wrenches(model, loads, wrenches), **loops)

    return compute


def _rows(vectors: Sequence[Any]) -> list[list[Scalar]]:
    return [list(vector) for vector in vectors]


def _columns(columns: Sequence[Any]) -> list[list[Scalar]]:
    """A matrix from its columns."""
    return transpose(_rows(columns))


def _forward_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    if model.constraints:
        return loop_equations.constrained_dynamics(model, q, qd, tau, wrenches, **loops)[0]
    return aba.forward_dynamics(model, q, qd, tau, wrenches)


def _inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    if model.constraints:
        return loop_torques.loop_torques(model, q, qd, qdd, wrenches, **loops)[0]
    return vector_form.inverse_dynamics(model, q, qd, qdd, wrenches)


def _constraint_forces(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, rows: Any = None
) -> list[list[Scalar]]:
    _, forces, _ = loop_equations.constrained_dynamics(model, q, qd, tau, wrenches, rows)
    return _rows(loop_equations.constraint_wrenches(model, q, forces, rows))


def _loop_forces(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, rows: Any = None, actuated: Any = ()
) -> list[list[Scalar]]:
    _, forces = loop_torques.loop_torques(model, q, qd, qdd, wrenches, rows, actuated)
    return _rows(loop_equations.constraint_wrenches(model, q, forces, rows))


def _with_loops(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Add the forces of closed loops to the wrenches of an algorithm."""

    def compute(
        model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, rows: Any = None, actuated: Any = ()
    ) -> Any:
        total = dict(wrenches or {})
        if model.constraints:
            _, forces = loop_torques.loop_torques(model, q, qd, qdd, wrenches, rows, actuated)
            for index, wrench in loop_equations.loop_wrenches(model, q, forces, rows).items():
                total[index] = total.get(index, Force.zero()) + wrench
        return algorithm(model, q, qd, qdd, total)

    return compute


def _joint_wrenches(
    model: Model, *arguments: Scalars, loads: Sequence[str] = (), joints: Sequence[str], **loops: Any
) -> list[list[Scalar]]:
    F = _loaded(_with_loops(rnea.joint_wrenches))(model, *arguments, loads=loads, **loops)
    moves = {body.joint.name: body.index for body in model.bodies}
    return [list(F[moves[joint]]) for joint in joints]


def _newton_euler(model: Model, q: Scalars, qd: Scalars, qdd: Scalars, **loops: Any) -> list[list[list[Scalar]]]:
    rows, _ = _with_loops(vector_form.newton_euler)(model, q, qd, qdd, **loops)
    return [[list(getattr(row, column)) for column in vector_form.UNITS] for row in rows]


def _bias(model: Model, q: Scalars, qd: Scalars, wrenches: Any) -> list[Scalar]:
    return vector_form.inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)


def _static_torque(model: Model, q: Scalars, wrench: Scalars, *, loads: Sequence[str], **loops: Any) -> list[Scalar]:
    tau = statics.static_torque(model, q, loads[0], Force.of(wrench))
    return loop_torques.shared_torque(model, q, tau, **loops)[0] if model.constraints else tau


def _on_manifold(method: str) -> Callable[..., list[Scalar]]:
    """Arithmetic of configurations, joint by joint."""

    def compute(model: Model, first: Scalars, second: Scalars) -> list[Scalar]:
        result: list[Scalar] = []
        i = j = 0
        for joint in model.moving:
            wide = joint.kind.nq if method == "difference" else joint.kind.nv
            result += getattr(joint.kind, method)(first[i : i + joint.kind.nq], second[j : j + wide])
            i, j = i + joint.kind.nq, j + wide
        return result

    return compute


FUNCTIONS: dict[str, Function] = {
    "pose": Function(lambda m, q, *, link: kinematics.pose(m, q, link).rows(), ("q",), (4, 4), masses=False),
    "poses": Function(
        lambda m, q: [T.rows() for T in kinematics.poses(m, q)], ("q",), ("links", 4, 4), whole=True, masses=False
    ),
    "twists": Function(
        lambda m, q, qd: _rows(kinematics.twists(m, q, qd)), ("q", "qd"), ("links", 6), whole=True, masses=False
    ),
    "accelerations": Function(
        lambda m, q, qd, qdd: _rows(kinematics.accelerations(m, q, qd, qdd)),
        ("q", "qd", "qdd"),
        ("links", 6),
        whole=True,
        masses=False,
    ),
    "jacobian": Function(
        lambda m, q, *, link, frame: _columns(jacobians.jacobian(m, q, link, frame)), ("q",), (6, "n"), masses=False
    ),
    "jacobian_derivative": Function(
        lambda m, q, qd, *, link, frame: _columns(jacobians.jacobian_derivative(m, q, qd, link, frame)),
        ("q", "qd"),
        (6, "n"),
        masses=False,
    ),
    "analytic_jacobian": Function(
        lambda m, q, *, link, order: jacobians.analytic_jacobian(m, q, link, order), ("q",), (6, "n"), masses=False
    ),
    "pose_vector": Function(
        lambda m, q, *, link, order: jacobians.pose_vector(m, q, link, order), ("q",), (6,), masses=False
    ),
    "manipulability": Function(
        lambda m, q, *, link, axes, columns: manipulability.manipulability(m, q, link, axes, columns),
        ("q",),
        (),
        masses=False,
    ),
    "inverse_dynamics": Function(
        _loaded(_inverse_dynamics), ("q", "qd", "qdd"), ("n",), loaded=True, loops=("rows", "actuated")
    ),
    "forward_dynamics": Function(_loaded(_forward_dynamics), ("q", "qd", "tau"), ("n",), loaded=True, loops=("rows",)),
    "bias": Function(_loaded(_bias), ("q", "qd"), ("n",), loaded=True),
    "mass_matrix": Function(crba.mass_matrix, ("q",), ("n", "n")),
    "apply_inverse_mass": Function(aba.apply_inverse_mass, ("q", "x"), ("n",)),
    "coriolis_matrix": Function(coriolis.coriolis_matrix, ("q", "qd"), ("n", "n")),
    "gravity_torque": Function(rnea.gravity_torque, ("q",), ("n",)),
    "friction_torque": Function(joint_forces.friction_torque, ("qd",), ("n",), masses=False),
    "spring_torque": Function(joint_forces.spring_torque, ("q",), ("n",), masses=False),
    "torque_terms": Function(
        lambda m, q, qd, qdd, **loops: list(terms.torque_terms(m, q, qd, qdd, **loops).values()),
        ("q", "qd", "qdd"),
        ("terms", "n"),
        loops=("rows", "actuated"),
    ),
    "joint_wrenches": Function(
        _joint_wrenches, ("q", "qd", "qdd"), ("joints", 6), loaded=True, whole=True, loops=("rows", "actuated")
    ),
    "static_torque": Function(_static_torque, ("q",), ("n",), loaded=True, masses=False, loops=("rows", "actuated")),
    "kinetic_energy": Function(energy.kinetic_energy, ("q", "qd"), ()),
    "potential_energy": Function(energy.potential_energy, ("q",), (), whole=True),
    "center_of_mass": Function(lambda m, q: list(centroidal.center_of_mass(m, q)), ("q",), (3,)),
    "center_of_mass_jacobian": Function(
        lambda m, q: _columns(centroidal.center_of_mass_jacobian(m, q)), ("q",), (3, "n")
    ),
    "momentum": Function(lambda m, q, qd: list(centroidal.momentum(m, q, qd)), ("q", "qd"), (6,)),
    "centroidal_momentum": Function(lambda m, q, qd: list(centroidal.centroidal_momentum(m, q, qd)), ("q", "qd"), (6,)),
    "centroidal_momentum_matrix": Function(
        lambda m, q: _columns(centroidal.centroidal_momentum_matrix(m, q)), ("q",), (6, "n")
    ),
    "integrate": Function(_on_manifold("integrate"), ("q", "v"), ("nq",), masses=False),
    "coordinate_rates": Function(_on_manifold("rates"), ("q", "v"), ("nq",), masses=False),
    "difference": Function(_on_manifold("difference"), ("q0", "q1"), ("n",), masses=False),
    "newton_euler": Function(
        _newton_euler, ("q", "qd", "qdd"), ("bodies", len(vector_form.UNITS), 3), loops=("rows", "actuated")
    ),
    "constraint_residual": Function(loop_equations.residuals, ("q",), ("rows",), masses=False),
    "constraint_jacobian": Function(loop_equations.constraint_jacobian, ("q",), ("rows", "n"), masses=False),
    "constraint_velocity_terms": Function(loop_equations.velocity_terms, ("q", "qd"), ("rows",), masses=False),
    "constraint_poses": Function(
        lambda m, q: [tie.X.rows() for tie in loop_equations.ties(m, q)], ("q",), ("constraints", 4, 4), masses=False
    ),
    "constraint_forces": Function(
        _loaded(_constraint_forces), ("q", "qd", "tau"), ("constraints", 6), loaded=True, loops=("rows",)
    ),
    "loop_forces": Function(
        _loaded(_loop_forces), ("q", "qd", "qdd"), ("constraints", 6), loaded=True, loops=("rows", "actuated")
    ),
    "closing_step": Function(loop_equations.closing_step, ("q",), ("n",), loops=("rows", "held")),
    "consistent_velocity": Function(loop_equations.consistent_velocity, ("q", "qd"), ("n",), loops=("rows", "held")),
    "consistent_acceleration": Function(
        loop_equations.consistent_acceleration, ("q", "qd", "qdd"), ("n",), loops=("rows", "held")
    ),
}


def length(model: Model, argument: str) -> int:
    """How many scalars an argument has."""
    return model.nq if argument in ("q", "q0", "q1") else model.nv


def argument_lengths(model: Model, name: str, loads: Sequence[str] = ()) -> tuple[int, ...]:
    """How many scalars each argument of a function has, wrenches included."""
    return (*(length(model, argument) for argument in FUNCTIONS[name].arguments), *(6 for _ in loads))


def unrolled(model: Model, name: str) -> float:
    """About how many times its bodies a function visits: those that pair joints grow with the square of their number.

    Straight-line code for more than a few thousand visits would take minutes to make.
    """
    if name == "torque_terms":
        return 4.0 * model.nv * len(model.bodies)
    if model.constraints and FUNCTIONS[name].loops:
        return float((model.nv + len(model.rows)) ** 2)
    if name in ("mass_matrix", "coriolis_matrix"):
        depth = [0]
        for body in model.bodies:
            depth.append(depth[body.parent] + body.joint.kind.nv)
        pairs = sum(depth[body.index] * body.joint.kind.nv for body in model.bodies)
        return pairs * (1.0 if name == "mass_matrix" else 3.0)
    return float(len(model.bodies))


def shape(model: Model, name: str, *, joints: Sequence[str] = (), **_: object) -> tuple[int, ...]:
    """The shape of a function's answer for one state."""
    sizes = {
        "n": model.nv,
        "nq": model.nq,
        "links": len(model.links),
        "bodies": len(model.bodies),
        "joints": len(joints),
        "constraints": len(model.constraints),
        "rows": len(model.rows),
        "terms": len(terms.term_names(model)),
    }
    return tuple(sizes[size] if isinstance(size, str) else size for size in FUNCTIONS[name].shape)

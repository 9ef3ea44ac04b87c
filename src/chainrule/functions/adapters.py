"""Algorithms in the form that the table takes: nested lists of scalars, wrenches by the names of their links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chainrule.algorithms import (
    aba,
    aba_derivatives,
    kinematics,
    loop_derivatives,
    loop_dynamics,
    loop_equations,
    rnea,
    rnea_derivatives,
    rnea_second_derivatives,
    statics,
    sticking,
    terms,
    vector_form,
)
from chainrule.algorithms import (
    regressor as regression,
)
from chainrule.algorithms.loads import add, fixed_in_base, on_links, out_of_frame
from chainrule.errors import ModelError, ShapeError
from chainrule.functions.named import TorqueTerms, parts_first
from chainrule.model import Model
from chainrule.spatial import Scalar, Wrench
from chainrule.spatial.linear import dot, transpose

Scalars = Sequence[Scalar]


def with_named_wrenches(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Give an algorithm's wrenches names."""

    def compute(model: Model, *arguments: Any, loads: Sequence[str] = (), frame: str = "world", **options: Any) -> Any:
        state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]
        return algorithm(model, *state, wrenches=on_links(model, loads, wrenches, state[0], frame), **options)

    return compute


def with_wrenches_that_turn(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Give an algorithm's wrenches names, and say which of them do not turn with their links."""

    def compute(model: Model, *arguments: Any, loads: Sequence[str] = (), frame: str = "world", **options: Any) -> Any:
        state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]
        acting, turning = _wrenches_and_turning(model, loads, wrenches, state[0], frame)
        return algorithm(model, *state, wrenches=acting, turning=turning, **options)

    return compute


def _wrenches_and_turning(
    model: Model, loads: Sequence[str], wrenches: Sequence[Scalars], q: Scalars, frame: str
) -> tuple[Any, Any]:
    """Wrenches on links, and those of them that keep the axes of the base."""
    if frame == "space" and loads:
        raise ShapeError(
            "derivatives: a wrench about the origin of the base is not differentiated; give its moment about the "
            "origin of the link or frame, with frame='world'"
        )
    turning = fixed_in_base(model, loads, wrenches, q) if frame == "world" else None
    return on_links(model, loads, wrenches, q, frame), turning


def as_rows(vectors: Sequence[Any]) -> list[list[Scalar]]:
    """A matrix from its rows."""
    return [list(vector) for vector in vectors]


def from_columns(columns: Sequence[Any]) -> list[list[Scalar]]:
    """A matrix from its columns."""
    return transpose(as_rows(columns))


def last_first(matrices: Sequence[Sequence[Any]]) -> list[list[list[Scalar]]]:
    """A tensor [row][column][k] from matrices by k, each given by its columns."""
    return [[[*row] for row in zip(*rows, strict=True)] for rows in zip(*map(from_columns, matrices), strict=True)]


def lower_triangle(matrix: Sequence[Scalars]) -> list[Scalar]:
    """The entries on and below the diagonal, row by row."""
    return [x for i, row in enumerate(matrix) for x in row[: i + 1]]


def pose(model: Model, q: Scalars, *, link: str, relative_to: str | None = None) -> list[list[Scalar]]:
    """The pose of a link or frame, in the base or in another one."""
    if relative_to is None:
        return kinematics.pose(model, q, link).rows()
    return kinematics.relative_pose(model, q, link, relative_to).rows()


def forward_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    """Accelerations, with closed loops where there are some."""
    if model.constraints:
        return loop_dynamics.constrained_dynamics(model, q, qd, tau, wrenches, **loops)[0]
    return aba.forward_dynamics(model, q, qd, tau, wrenches)


def sticking_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, rows: Any = (), rank: Any = None
) -> list[Scalar]:
    """Accelerations of joints that dry friction may hold."""
    return sticking.forward_dynamics(model, q, qd, tau, wrenches, tuple(rows), rank)


def inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    """Torques, those of the driven joints where there are closed loops."""
    if model.constraints:
        return loop_dynamics.loop_torques(model, q, qd, qdd, wrenches, **loops)[0]
    return vector_form.inverse_dynamics(model, q, qd, qdd, wrenches)


def _refuse_loops(model: Model, function: str) -> None:
    if model.constraints:
        raise ModelError(
            f"{function}: the derivatives of torques with closed loops are not computed; those of the tree without its "
            "loops are, robot.without_constraint(name)"
        )


def inverse_dynamics_derivatives(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, turning: Any = None
) -> list[list[list[Scalar]]]:
    """Derivatives of torques, for trees."""
    _refuse_loops(model, "inverse_dynamics_derivatives")
    return list(rnea_derivatives.inverse_dynamics_derivatives(model, q, qd, qdd, wrenches, turning))


def forward_dynamics_derivatives(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, turning: Any = None, **loops: Any
) -> list[list[list[Scalar]]]:
    """Derivatives of accelerations, with closed loops where there are some."""
    if model.constraints:
        return list(loop_derivatives.constrained_dynamics_derivatives(model, q, qd, tau, wrenches, turning, **loops))
    return list(aba_derivatives.forward_dynamics_derivatives(model, q, qd, tau, wrenches, turning))


def inverse_dynamics_second_derivatives(
    model: Model, *arguments: Any, loads: Sequence[str] = (), frame: str = "world"
) -> list[list[list[Scalar]]]:
    """Second derivatives of a weighted sum of torques."""
    _refuse_loops(model, "inverse_dynamics_second_derivatives")
    state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]

    def acting(q: Scalars) -> tuple[Any, Any]:
        return _wrenches_and_turning(model, loads, wrenches, q, frame)

    q, qd, qdd, vector = state
    return list(rnea_second_derivatives.second_derivatives(model, q, qd, qdd, vector, acting))


def constraint_forces(
    model: Model,
    *arguments: Scalars,
    loads: Sequence[str] = (),
    frame: str = "world",
    rows: Any = None,
    rank: Any = None,
) -> list[list[Scalar]]:
    """Wrenches of constraints under torques."""
    q, qd, tau, *wrenches = arguments
    acting = on_links(model, loads, wrenches, q, frame)
    _, forces, _ = loop_dynamics.constrained_dynamics(model, q, qd, tau, acting, rows, rank=rank)
    return _wrenches_of_constraints(model, q, forces, rows, frame)


def motion_forces(
    model: Model,
    *arguments: Scalars,
    loads: Sequence[str] = (),
    frame: str = "world",
    rows: Any = None,
    actuated: Any = (),
    rank: Any = None,
) -> list[list[Scalar]]:
    """Wrenches of constraints during a motion."""
    q, qd, qdd, *wrenches = arguments
    acting = on_links(model, loads, wrenches, q, frame)
    _, forces = loop_dynamics.loop_torques(model, q, qd, qdd, acting, rows, actuated, rank)
    return _wrenches_of_constraints(model, q, forces, rows, frame)


def _wrenches_of_constraints(model: Model, q: Scalars, forces: Any, rows: Any, frame: str) -> list[list[Scalar]]:
    """The wrench of each constraint on its second link, at the origin of that link or frame."""
    wrenches = loop_equations.constraint_wrenches(model, q, forces, rows)
    poses = (kinematics.pose(model, q, constraint.link_b) for constraint in model.constraints)
    return [list(out_of_frame(T, F, frame)) for T, F in zip(poses, wrenches, strict=True)]


def with_loop_forces(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Add the forces of closed loops to the wrenches of an algorithm."""

    def compute(
        model: Model,
        q: Scalars,
        qd: Scalars,
        qdd: Scalars,
        wrenches: Any = None,
        rows: Any = None,
        actuated: Any = (),
        rank: Any = None,
    ) -> Any:
        if model.constraints:
            _, forces = loop_dynamics.loop_torques(model, q, qd, qdd, wrenches, rows, actuated, rank)
            wrenches = add(wrenches, loop_equations.loop_wrenches(model, q, forces, rows))
        return algorithm(model, q, qd, qdd, wrenches)

    return compute


def joint_wrenches(
    model: Model,
    *arguments: Scalars,
    loads: Sequence[str] = (),
    joints: Sequence[str],
    frame: str = "world",
    **loops: Any,
) -> list[list[Scalar]]:
    """Wrenches through joints, from parent to child, at the origin of the child."""
    compute = with_named_wrenches(with_loop_forces(rnea.joint_wrenches))
    F = compute(model, *arguments, loads=loads, frame=frame, **loops)
    chosen = [next(body for body in model.bodies if body.joint.name == joint) for joint in joints]
    poses = (kinematics.pose(model, arguments[0], body.link.name) for body in chosen)
    return [list(out_of_frame(T, F[body.index], frame)) for T, body in zip(poses, chosen, strict=True)]


def newton_euler(model: Model, *arguments: Scalars, **options: Any) -> list[list[list[Scalar]]]:
    """Rows of the recursion in vectors."""
    rows, _ = with_named_wrenches(with_loop_forces(vector_form.newton_euler))(model, *arguments, **options)
    return [[list(getattr(row, column)) for column in vector_form.UNITS] for row in rows]


def recursion(model: Model, *arguments: Scalars, **options: Any) -> list[list[list[Scalar]]]:
    """Rows of the recursion in twists and wrenches."""
    rows = with_named_wrenches(with_loop_forces(rnea.recursion))(model, *arguments, **options)
    return [[list(getattr(row, column)) for column in rnea.UNITS] for row in rows]


def torque_terms(model: Model, *arguments: Scalars, **options: Any) -> list[list[Scalar]]:
    """Torques by their causes, in order."""
    return list(with_named_wrenches(terms.torque_terms)(model, *arguments, **options).values())


def regressor(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, *, parts: Sequence[str], entries: Any = None, **loops: Any
) -> list[list[Scalar]]:
    """The regressor, of the torques of driven joints where there are closed loops; or sums of its entries, as a row."""
    Y = regression.regressor(model, q, qd, qdd, parts)
    if model.constraints:
        unit = [[int(i == j) for j in range(model.nv)] for i in range(model.nv)]
        P = [loop_dynamics.actuated_torque(model, q, e, **loops)[0] for e in unit]  # by columns: tau = P t
        Y = [[dot(row, column) for column in transpose(Y)] for row in transpose(P)]
    return Y if entries is None else [[sum(w * Y[i][j] for i, j, w in terms) for terms in entries]]


def terms_by_name(model: Model, options: Mapping[str, Any]) -> Callable[[Any], dict[str, Any]]:
    """A dictionary of terms (..., n) made of an array (..., terms, n)."""
    names = terms.term_names(model, loaded=bool(options.get("loads")))
    joints = model.layout.velocity_names
    units = tuple(model.layout.units_of("effort"))

    def by_name(values: Any) -> TorqueTerms:
        found = TorqueTerms(zip(names, parts_first(values, 2)))  # noqa: B905 - `strict` takes a tenth of the time
        found.joints, found.units = joints, units
        return found

    return by_name


def bias(model: Model, q: Scalars, qd: Scalars, wrenches: Any) -> list[Scalar]:
    """Torques without those of accelerations."""
    return vector_form.inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)


def static_torque(
    model: Model, q: Scalars, wrench: Scalars, *, loads: Sequence[str], frame: str = "world", **loops: Any
) -> list[Scalar]:
    """Torques that let a link apply a wrench to its surroundings."""
    tau = statics.static_torque(model, q, loads[0], Wrench.of(wrench), frame)
    return loop_dynamics.actuated_torque(model, q, tau, **loops)[0] if model.constraints else tau

"""The functions of a robot's state, in one table: the only truth about what each takes, gives, needs and costs.

An entry names the algorithm, its arguments, its options with defaults and checks, the shape of the answer, what it
requires of the robot and how its cost grows. Evaluation, kernels, exports, benchmarks and tests read it; no other
file decides anything by a function's name.

How to add a function: write the algorithm in `algorithms/`, give it an entry here, and list a method of the same name
and parameters in `robot/robot.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from chainrule.algorithms import (
    aba,
    aba_derivatives,
    centroidal,
    configuration,
    configuration_derivatives,
    coriolis,
    crba,
    energy,
    friction,
    jacobians,
    kinematics,
    loop_derivatives,
    loop_dynamics,
    loop_equations,
    loop_projection,
    manipulability,
    regressor,
    rnea,
    rnea_derivatives,
    rnea_second_derivatives,
    statics,
    sticking,
    terms,
    vector_form,
)
from chainrule.algorithms.euler import ORDERS
from chainrule.algorithms.loads import WRENCH_FRAMES, add, fixed_in_base, on_links
from chainrule.arguments import flag, names, one_of
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.functions.named import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
    StateDerivatives,
    parts_first,
    split,
)
from chainrule.model import Model, Quantity
from chainrule.spatial import Force, Scalar
from chainrule.spatial.linear import dot, transpose

Scalars = Sequence[Scalar]

# --- arguments ---


class Argument(NamedTuple):
    """A vector that a function takes: its name, and what its numbers are for each coordinate or velocity."""

    name: str
    quantity: Quantity

    @property
    def is_configuration(self) -> bool:
        """Whether it is a point of the configuration manifold, and may hold quaternions."""
        return self.quantity == "position"

    def length(self, model: Model) -> int:
        """The number of its entries for a model."""
        return model.nq if self.is_configuration else model.nv


def _nv(model: Model) -> int:
    return model.nv


Q, Q0, Q1 = (Argument(name, "position") for name in ("q", "q0", "q1"))
QD, QD0, V = (Argument(name, "velocity") for name in ("qd", "qd0", "v"))
QDD = Argument("qdd", "acceleration")
VECTOR = Argument("vector", "velocity")
TAU, X = (Argument(name, "effort") for name in ("tau", "x"))
ARGUMENTS = {argument.name: argument for argument in (Q, Q0, Q1, QD, QDD, TAU, V, X, QD0, VECTOR)}
"""Every argument that a function of a robot may take, by name."""

WRENCH_LENGTH = 6

# --- options ---


@dataclass(frozen=True)
class Option:
    """A choice that is fixed before any number is known, and so a part of what a kernel is compiled for.

    `default` is computed from the robot and the options before this one; `check` returns the value to use, or raises.
    """

    default: Callable[[Any, Mapping[str, Any]], Any]
    check: Callable[[Any, Any], Any]
    is_public: bool = True
    """Whether the method of the function's name takes it as a parameter of the same name."""


def _constant(value: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
    return lambda robot, options: value


def _places(what: str, size: Callable[[Model], int]) -> Callable[[Any, Any], tuple[int, ...]]:
    """A check of a list of places, each in range and named once."""

    def check(robot: Any, value: Any) -> tuple[int, ...]:
        most = size(robot.model)
        if not isinstance(value, Sequence) or not all(isinstance(k, int) and 0 <= k < most for k in value):
            raise ShapeError(f"{what} must be a list of places from 0 to {most - 1}, got {short_repr(value)}")
        if len(set(value)) < len(value):
            raise UnknownNameError(f"{what} names a place twice: {short_repr(value)}")
        return tuple(value)

    return check


def _count_of_rows(robot: Any, value: Any) -> int | None:
    """A number of equations, or None where it is not known."""
    most = len(robot.model.rows)
    if value is not None and not (isinstance(value, int) and 0 <= value <= most):
        raise ShapeError(f"rank must be a whole number from 0 to {most}, or None, got {short_repr(value)}")
    return value


def _links(robot: Any, value: Any) -> tuple[str, ...]:
    """A check of a list of links or frames."""
    loads = names(value, "loads")
    for name in loads:
        robot.model.locate(name)
    return loads


def _one_link(robot: Any, value: Any) -> tuple[str, ...]:
    loads = _links(robot, value)
    if len(loads) != 1:
        raise ShapeError(f"static_torque takes one load, the link that applies the wrench, got {value!r}")
    return loads


def chosen_parts(value: Any) -> tuple[str, ...]:
    """Parts of a robot that have parameters, by their names, in the order in which their parameters come."""
    chosen = {one_of(regressor.PARTS, part, "part of a robot") for part in names(value, "parts")}
    return tuple(part for part in regressor.PARTS if part in chosen)


LINK = Option(lambda robot, options: robot.link(None), lambda robot, value: robot.link(value))
FRAME = Option(_constant("world"), lambda robot, value: one_of(jacobians.FRAMES, value, "frame of a Jacobian"))
RELATIVE_TO = Option(_constant(None), lambda robot, value: robot.link(value))
ACCELERATION_FRAME = Option(
    _constant("world"), lambda robot, value: one_of(kinematics.ACCELERATION_FRAMES, value, "frame of an acceleration")
)
WITH_GRAVITY = Option(_constant(False), lambda robot, value: flag(value, "gravity"))
HALF = Option(_constant(False), lambda robot, value: flag(value, "half"))
ORDER = Option(_constant("rpy"), lambda robot, value: one_of(ORDERS, value, "order of angles"))
JOINTS = Option(lambda robot, options: robot.layout.joint_names, lambda robot, value: robot.find_joints(value))
PARTS = Option(_constant(regressor.PARTS), lambda robot, value: chosen_parts(value))
LOADS = Option(_constant(()), _links, is_public=False)
WRENCH_FRAME = Option(_constant("body"), lambda robot, value: one_of(WRENCH_FRAMES, value, "frame of a wrench"))
STATIC_FRAME = Option(_constant("body"), lambda robot, value: one_of(jacobians.FRAMES, value, "frame of a wrench"))
ONE_LOAD = Option(lambda robot, options: (robot.link(None),), _one_link, is_public=False)
ROWS = Option(lambda robot, options: robot.loop_rows, _places("rows", lambda m: len(m.rows)), is_public=False)
RANK = Option(lambda robot, options: min(len(options["rows"]), robot.closure.rank), _count_of_rows, is_public=False)
ACTUATED = Option(lambda robot, options: robot.actuated, _places("actuated", _nv), is_public=False)
HELD = Option(_constant(()), _places("held", _nv), is_public=False)
TASK_ROWS = Option(
    lambda robot, options: robot.task(options["link"]).spanning("manipulability").rows,
    _places("axes", lambda m: 6),
    is_public=False,
)
BY_COLUMNS = Option(
    lambda robot, options: robot.task(options["link"]).spanning("manipulability").by_columns,
    lambda robot, value: flag(value, "columns"),
    is_public=False,
)

# --- shapes ---

Size = int | Callable[[Model, Mapping[str, Any]], int]
"""A dimension of an answer: a number, or what it is for a model and options."""


def N(model: Model, options: Mapping[str, Any]) -> int:
    """The number of degrees of freedom."""
    return model.nv


def TRIANGLE(model: Model, options: Mapping[str, Any]) -> int:
    """The number of entries on and below the diagonal of a matrix (n, n)."""
    return model.nv * (model.nv + 1) // 2


def NQ(model: Model, options: Mapping[str, Any]) -> int:
    """The number of coordinates."""
    return model.nq


def LINKS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of links, the base included."""
    return len(model.links)


def BODIES(model: Model, options: Mapping[str, Any]) -> int:
    """The number of links that a joint moves."""
    return len(model.bodies)


def CONSTRAINTS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of constraints."""
    return len(model.constraints)


def EQUATIONS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of equations of all constraints."""
    return len(model.rows)


def TERMS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of named terms of a torque."""
    return len(terms.term_names(model, loaded=bool(options.get("loads"))))


def PARAMETERS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of parameters of the parts that the option `parts` names."""
    return len(regressor.parameters(model, options["parts"]))


def CHOSEN_JOINTS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of joints that the option `joints` names."""
    return len(options["joints"])


# --- requirements and cost ---


class Needs(Enum):
    """Requirements of a function on a robot."""

    NOTHING = 0
    MASS = 1
    """Some moving link has mass, or some joint a rotor."""
    INVERTIBLE_MASS = 2
    """Every joint moves some mass: the function divides by the mass matrix."""


Cost = Callable[[Model], float]
"""About how often straight-line code visits a body, for a model."""


def per_body(times: float = 1.0) -> Cost:
    """A number of visits of each body."""
    return lambda model: times * len(model.bodies)


def per_pair(times: float = 1.0) -> Cost:
    """A number of visits for each pair of a joint and a joint that carries it: the square of the number in a chain."""

    def cost(model: Model) -> float:
        depth = [0]
        for body in model.bodies:
            depth.append(depth[body.parent] + body.joint.kind.nv)
        return times * sum(depth[body.index] * body.joint.kind.nv for body in model.bodies)

    return cost


def _per_pair_and_product(model: Model) -> float:
    """Visits of pairs of joints, and the terms of products of matrices, whose number grows faster than the result."""
    return per_pair(2)(model) + model.nv**3


def per_triple(times: float = 1.0) -> Cost:
    """A number of visits for each degree of freedom and each pair of a joint and a joint that carries it."""
    return lambda model: model.nv * per_pair(times)(model)


def _per_sticking_pass(model: Model) -> float:
    """Visits of bodies that take about as long as the passes which find the joints that stick."""
    k = len(sticking.joints_with_dry_friction(model))
    return len(model.bodies) + sticking.sticking_passes(k) * k**3 / 60


def always(model: Model) -> bool:
    """For every robot."""
    return True


def never(model: Model) -> bool:
    """For no robot."""
    return False


def without_loops(model: Model) -> bool:
    """For robots without closed loops."""
    return not model.constraints


# --- the table ---


@dataclass(frozen=True)
class Function:
    """One quantity, computed by `compute(model, *arguments, **options)` over scalars."""

    compute: Callable[..., Any]
    takes: tuple[Argument, ...]
    gives: tuple[Size, ...]
    """The shape of the answer for one state."""
    options: Mapping[str, Option] = field(default_factory=dict)
    needs: Needs = Needs.MASS
    cost: Cost = per_body()
    loaded: bool = False
    """Whether it also takes wrenches, six numbers each, on the links that the option `loads` names."""
    whole: bool = False
    """Whether every link counts, those on fixed joints too; else fixed joints are merged first."""
    on_any_frames: bool = False
    """Whether it refers to joints and the base alone: no frame of a link shapes the answer, so that any will do."""
    loops: Mapping[str, Option] = field(default_factory=dict)
    """Further options where the robot has closed loops."""
    is_direct: Callable[[Model], bool] = always
    """Whether the method does nothing but call the kernel with its arguments and public options, so that the kernel can
    stand in for it."""
    method: str | None = None
    """The method that evaluates it, where its name is another one."""
    named: type[tuple[Any, ...]] | None = None
    """The named result that the method makes of the parts of the answer, which are its first dimension."""
    gives_half: tuple[Size, ...] = ()
    """The shape of the answer with the option `half`, where it has one."""
    when: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of that method which choose this function."""
    acts: bool = False
    """Whether the method's wrench is an argument like the others: what its `link` applies, not a load on the robot."""
    by_name: Callable[[Model, Mapping[str, Any]], Callable[[Any], Any]] | None = None
    """What else the method makes of the array, for a model and options."""
    answer: str = ""
    """The result in words: quantity, order, frame and unit. `meaning.describe_result` fills in names."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments, without wrenches."""
        return tuple(argument.name for argument in self.takes)

    def finish(self, model: Model, options: Mapping[str, Any]) -> Callable[[Any], Any] | None:
        """The step from the array to the result of the method; None where that is the array itself."""
        if self.named is not None:
            named, dimensions = self.named, len(self.gives)
            return lambda values: split(named, values, dimensions)
        return None if self.by_name is None else self.by_name(model, options)

    def options_for(self, model: Model) -> Mapping[str, Option]:
        """Its options for a model, those of closed loops included."""
        return {**self.options, **self.loops} if model.constraints else self.options

    def argument_lengths(self, model: Model, loads: Sequence[str] = ()) -> tuple[int, ...]:
        """The length of each argument, wrenches included."""
        return (*(argument.length(model) for argument in self.takes), *(WRENCH_LENGTH for _ in loads))

    def shape(self, model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of the answer for one state."""
        sizes = self.gives_half if options.get("half") else self.gives
        return tuple(size if isinstance(size, int) else size(model, options) for size in sizes)

    def visits(self, model: Model) -> float:
        """About how often straight-line code would visit a body: the measure of how large it gets."""
        looped = float((model.nv + len(model.rows)) ** 2) if model.constraints and self.loops else 0.0
        return max(self.cost(model), looped)


def _with_named_wrenches(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Give an algorithm's wrenches names."""

    def compute(
        model: Model, *arguments: Any, loads: Sequence[str] = (), wrench_frame: str = "body", **options: Any
    ) -> Any:
        state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]
        return algorithm(model, *state, wrenches=on_links(model, loads, wrenches, state[0], wrench_frame), **options)

    return compute


def _with_wrenches_that_turn(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """Give an algorithm's wrenches names, and say which of them do not turn with their links."""

    def compute(
        model: Model, *arguments: Any, loads: Sequence[str] = (), wrench_frame: str = "body", **options: Any
    ) -> Any:
        state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]
        acting, turning = _wrenches_and_turning(model, loads, wrenches, state[0], wrench_frame)
        return algorithm(model, *state, wrenches=acting, turning=turning, **options)

    return compute


def _wrenches_and_turning(
    model: Model, loads: Sequence[str], wrenches: Sequence[Scalars], q: Scalars, frame: str
) -> tuple[Any, Any]:
    """Wrenches on links, and those of them that keep the axes of the base."""
    turning = fixed_in_base(model, loads, wrenches, q) if frame == "world" else None
    return on_links(model, loads, wrenches, q, frame), turning


def _rows(vectors: Sequence[Any]) -> list[list[Scalar]]:
    return [list(vector) for vector in vectors]


def _columns(columns: Sequence[Any]) -> list[list[Scalar]]:
    """A matrix from its columns."""
    return transpose(_rows(columns))


def _last_first(matrices: Sequence[Sequence[Any]]) -> list[list[list[Scalar]]]:
    """A tensor [row][column][k] from matrices by k, each given by its columns."""
    return [[[*row] for row in zip(*rows, strict=True)] for rows in zip(*map(_columns, matrices), strict=True)]


def _lower_triangle(matrix: Sequence[Scalars]) -> list[Scalar]:
    """The entries on and below the diagonal, row by row."""
    return [x for i, row in enumerate(matrix) for x in row[: i + 1]]


def _pose(model: Model, q: Scalars, *, link: str, relative_to: str | None = None) -> list[list[Scalar]]:
    if relative_to is None:
        return kinematics.pose(model, q, link).rows()
    return kinematics.relative_pose(model, q, link, relative_to).rows()


def _forward_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    if model.constraints:
        return loop_dynamics.constrained_dynamics(model, q, qd, tau, wrenches, **loops)[0]
    return aba.forward_dynamics(model, q, qd, tau, wrenches)


def _sticking_dynamics(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, rows: Any = (), rank: Any = None
) -> list[Scalar]:
    return sticking.forward_dynamics(model, q, qd, tau, wrenches, tuple(rows), rank)


def _inverse_dynamics(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, **loops: Any
) -> list[Scalar]:
    if model.constraints:
        return loop_dynamics.loop_torques(model, q, qd, qdd, wrenches, **loops)[0]
    return vector_form.inverse_dynamics(model, q, qd, qdd, wrenches)


def _refuse_loops(model: Model, function: str) -> None:
    if model.constraints:
        raise ModelError(
            f"{function}: the derivatives of torques with closed loops are not computed; those of the tree without its "
            "loops are, robot.without_constraint(name)"
        )


def _inverse_dynamics_derivatives(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, wrenches: Any = None, turning: Any = None
) -> list[list[list[Scalar]]]:
    _refuse_loops(model, "inverse_dynamics_derivatives")
    return list(rnea_derivatives.inverse_dynamics_derivatives(model, q, qd, qdd, wrenches, turning))


def _forward_dynamics_derivatives(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, turning: Any = None, **loops: Any
) -> list[list[list[Scalar]]]:
    if model.constraints:
        return list(loop_derivatives.constrained_dynamics_derivatives(model, q, qd, tau, wrenches, turning, **loops))
    return list(aba_derivatives.forward_dynamics_derivatives(model, q, qd, tau, wrenches, turning))


def _inverse_dynamics_second_derivatives(
    model: Model, *arguments: Any, loads: Sequence[str] = (), wrench_frame: str = "body"
) -> list[list[list[Scalar]]]:
    _refuse_loops(model, "inverse_dynamics_second_derivatives")
    state, wrenches = arguments[: len(arguments) - len(loads)], arguments[len(arguments) - len(loads) :]

    def acting(q: Scalars) -> tuple[Any, Any]:
        return _wrenches_and_turning(model, loads, wrenches, q, wrench_frame)

    q, qd, qdd, vector = state
    return list(rnea_second_derivatives.second_derivatives(model, q, qd, qdd, vector, acting))


def _constraint_forces(
    model: Model, q: Scalars, qd: Scalars, tau: Scalars, wrenches: Any = None, rows: Any = None, rank: Any = None
) -> list[list[Scalar]]:
    _, forces, _ = loop_dynamics.constrained_dynamics(model, q, qd, tau, wrenches, rows, rank=rank)
    return _rows(loop_equations.constraint_wrenches(model, q, forces, rows))


def _loop_forces(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    wrenches: Any = None,
    rows: Any = None,
    actuated: Any = (),
    rank: Any = None,
) -> list[list[Scalar]]:
    _, forces = loop_dynamics.loop_torques(model, q, qd, qdd, wrenches, rows, actuated, rank)
    return _rows(loop_equations.constraint_wrenches(model, q, forces, rows))


def _with_loop_forces(algorithm: Callable[..., Any]) -> Callable[..., Any]:
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


def _joint_wrenches(
    model: Model, *arguments: Scalars, loads: Sequence[str] = (), joints: Sequence[str], **loops: Any
) -> list[list[Scalar]]:
    F = _with_named_wrenches(_with_loop_forces(rnea.joint_wrenches))(model, *arguments, loads=loads, **loops)
    moves = {body.joint.name: body.index for body in model.bodies}
    return [list(F[moves[joint]]) for joint in joints]


def _newton_euler(model: Model, *arguments: Scalars, **options: Any) -> list[list[list[Scalar]]]:
    rows, _ = _with_named_wrenches(_with_loop_forces(vector_form.newton_euler))(model, *arguments, **options)
    return [[list(getattr(row, column)) for column in vector_form.UNITS] for row in rows]


def _recursion(model: Model, *arguments: Scalars, **options: Any) -> list[list[list[Scalar]]]:
    rows = _with_named_wrenches(_with_loop_forces(rnea.recursion))(model, *arguments, **options)
    return [[list(getattr(row, column)) for column in rnea.UNITS] for row in rows]


def _torque_terms(model: Model, *arguments: Scalars, **options: Any) -> list[list[Scalar]]:
    return list(_with_named_wrenches(terms.torque_terms)(model, *arguments, **options).values())


def _regressor(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, *, parts: Sequence[str], **loops: Any
) -> list[list[Scalar]]:
    Y = regressor.regressor(model, q, qd, qdd, parts)
    if not model.constraints:
        return Y
    unit = [[int(i == j) for j in range(model.nv)] for i in range(model.nv)]
    P = [loop_dynamics.actuated_torque(model, q, e, **loops)[0] for e in unit]  # by columns: tau = P t
    return [[dot(row, column) for column in transpose(Y)] for row in transpose(P)]


def terms_by_name(model: Model, options: Mapping[str, Any]) -> Callable[[Any], dict[str, Any]]:
    """A dictionary of terms (..., n) made of an array (..., terms, n)."""
    names = terms.term_names(model, loaded=bool(options.get("loads")))

    def by_name(values: Any) -> dict[str, Any]:
        return dict(zip(names, parts_first(values, 2)))  # noqa: B905 - `strict` takes a tenth of the time

    return by_name


def _bias(model: Model, q: Scalars, qd: Scalars, wrenches: Any) -> list[Scalar]:
    return vector_form.inverse_dynamics(model, q, qd, [0] * model.nv, wrenches)


def _static_torque(
    model: Model, q: Scalars, wrench: Scalars, *, loads: Sequence[str], frame: str = "body", **loops: Any
) -> list[Scalar]:
    tau = statics.static_torque(model, q, loads[0], Force.of(wrench), frame)
    return loop_dynamics.actuated_torque(model, q, tau, **loops)[0] if model.constraints else tau


_NOTHING = Needs.NOTHING
_LOADS = {"loads": LOADS, "wrench_frame": WRENCH_FRAME}
_ROWS = {"rows": ROWS, "rank": RANK}
_IN_LOOPS = {**_ROWS, "actuated": ACTUATED}
_PROJECTED = {**_ROWS, "held": HELD}

FUNCTIONS: dict[str, Function] = {
    # poses and velocities
    "pose": Function(
        _pose,
        (Q,),
        (4, 4),
        {"link": LINK, "relative_to": RELATIVE_TO},
        needs=_NOTHING,
        answer="pose of {link} in {relative_to}: a homogeneous matrix, its translation in m",
    ),
    "poses": Function(
        lambda m, q: [T.rows() for T in kinematics.poses(m, q)],
        (Q,),
        (LINKS, 4, 4),
        needs=_NOTHING,
        whole=True,
        answer="poses of {links} in the base: homogeneous matrices, their translations in m",
    ),
    "twists": Function(
        lambda m, q, qd: _rows(kinematics.twists(m, q, qd)),
        (Q, QD),
        (LINKS, 6),
        needs=_NOTHING,
        whole=True,
        answer="twists (angular, linear) of {links}, each in its own frame (rad/s, m/s)",
    ),
    "accelerations": Function(
        lambda m, q, qd, qdd, *, gravity=False: _rows(kinematics.accelerations(m, q, qd, qdd, gravity)),
        (Q, QD, QDD),
        (LINKS, 6),
        {"gravity": WITH_GRAVITY},
        needs=_NOTHING,
        whole=True,
        answer="rates of the twists (angular, linear) of {links}, each in its own frame{gravity} (rad/s^2, m/s^2)",
    ),
    "acceleration": Function(
        lambda m, q, qd, qdd, *, link, frame, gravity: list(
            kinematics.acceleration(m, q, qd, qdd, link, frame, gravity)
        ),
        (Q, QD, QDD),
        (6,),
        {"link": LINK, "frame": ACCELERATION_FRAME, "gravity": WITH_GRAVITY},
        needs=_NOTHING,
        answer="angular acceleration of {link} and acceleration of its origin, {axes}{gravity} (rad/s^2, m/s^2)",
    ),
    "jacobian": Function(
        lambda m, q, *, link, frame: _columns(jacobians.jacobian(m, q, link, frame)),
        (Q,),
        (6, N),
        {"link": LINK, "frame": FRAME},
        needs=_NOTHING,
        answer="Jacobian of {link}: rows (angular, linear), {frame} (rad/s, m/s); columns {columns}",
    ),
    "jacobian_derivative": Function(
        lambda m, q, qd, *, link, frame: _columns(jacobians.jacobian_derivative(m, q, qd, link, frame)),
        (Q, QD),
        (6, N),
        {"link": LINK, "frame": FRAME},
        needs=_NOTHING,
        answer="rate of the Jacobian of {link}: rows (angular, linear), {frame}; columns {columns}",
    ),
    "kinematic_hessian": Function(
        lambda m, q, *, link, frame: _last_first(jacobians.kinematic_hessian(m, q, link, frame)),
        (Q,),
        (6, N, N),
        {"link": LINK, "frame": FRAME},
        needs=_NOTHING,
        cost=per_pair(),
        answer="derivatives of the Jacobian of {link}, {frame}: rows (angular, linear), columns {columns}, each along "
        "these",
    ),
    "analytic_jacobian": Function(
        lambda m, q, *, link, order: jacobians.analytic_jacobian(m, q, link, order),
        (Q,),
        (6, N),
        {"link": LINK, "order": ORDER},
        needs=_NOTHING,
        answer="rates of the pose vector of {link}: rows x, y, z (m/s), angles {order} (rad/s); columns {columns}",
    ),
    "pose_vector": Function(
        lambda m, q, *, link, order: jacobians.pose_vector(m, q, link, order),
        (Q,),
        (6,),
        {"link": LINK, "order": ORDER},
        needs=_NOTHING,
        answer="x, y, z (m) and three angles, {order} (rad), of {link} in the base",
    ),
    "manipulability": Function(
        lambda m, q, *, link, axes, columns: manipulability.manipulability(m, q, link, axes, columns),
        (Q,),
        (),
        {"link": LINK, "axes": TASK_ROWS, "columns": BY_COLUMNS},
        needs=_NOTHING,
        answer="manipulability of {link}",
    ),
    # dynamics
    "inverse_dynamics": Function(  # the vector form: fewer operations than the twist-wrench recursion of `rnea`
        _with_named_wrenches(_inverse_dynamics),
        (Q, QD, QDD),
        (N,),
        _LOADS,
        loaded=True,
        loops=_IN_LOOPS,
        is_direct=without_loops,
        on_any_frames=True,
        answer="torques or forces of {torques}",
    ),
    "forward_dynamics": Function(
        _with_named_wrenches(_forward_dynamics),
        (Q, QD, TAU),
        (N,),
        _LOADS,
        needs=Needs.INVERTIBLE_MASS,
        loaded=True,
        loops=_ROWS,
        on_any_frames=True,
        answer="accelerations of {accelerations}",
    ),
    "sticking_dynamics": Function(
        _with_named_wrenches(_sticking_dynamics),
        (Q, QD, TAU),
        (N,),
        _LOADS,
        needs=Needs.INVERTIBLE_MASS,
        cost=_per_sticking_pass,
        loaded=True,
        loops=_ROWS,
        method="forward_dynamics",
        when={"stick": True},
        on_any_frames=True,
        answer="accelerations of {accelerations}, with joints at rest held by dry friction",
    ),
    "inverse_dynamics_derivatives": Function(
        _with_wrenches_that_turn(_inverse_dynamics_derivatives),
        (Q, QD, QDD),
        (3, N, N),
        _LOADS,
        cost=per_pair(2),
        loaded=True,
        is_direct=without_loops,
        named=InverseDynamicsDerivatives,
        on_any_frames=True,
        answer="derivatives of torques or forces with respect to q, qd and qdd: rows {torques}, columns {columns}",
    ),
    "inverse_dynamics_second_derivatives": Function(
        _inverse_dynamics_second_derivatives,
        (Q, QD, QDD, VECTOR),
        (4, N, N),
        _LOADS,
        cost=per_pair(10),
        loaded=True,
        is_direct=without_loops,
        named=InverseDynamicsSecondDerivatives,
        answer="second derivatives of vector . tau with respect to q and q, q and qd, q and qdd, qd and qd: {columns}",
    ),
    "forward_dynamics_derivatives": Function(
        _with_wrenches_that_turn(_forward_dynamics_derivatives),
        (Q, QD, TAU),
        (3, N, N),
        _LOADS,
        needs=Needs.INVERTIBLE_MASS,
        cost=_per_pair_and_product,
        loaded=True,
        loops=_ROWS,
        named=ForwardDynamicsDerivatives,
        on_any_frames=True,
        answer="derivatives of accelerations with respect to q, qd and tau: rows {accelerations}, columns {columns}",
    ),
    "bias": Function(
        _with_named_wrenches(_bias),
        (Q, QD),
        (N,),
        _LOADS,
        loaded=True,
        on_any_frames=True,
        answer="torques or forces without those of accelerations, of {torques}",
    ),
    "mass_matrix": Function(
        lambda m, q, *, half=False: _lower_triangle(crba.mass_matrix(m, q)) if half else crba.mass_matrix(m, q),
        (Q,),
        (N, N),
        {"half": HALF},
        cost=per_pair(),
        gives_half=(TRIANGLE,),
        on_any_frames=True,
        answer="mass matrix in kg, m and rad: rows and columns {columns}{half}",
    ),
    "mass_matrix_derivative": Function(
        configuration_derivatives.mass_matrix_derivative,
        (Q,),
        (N, N, N),
        cost=per_triple(),
        on_any_frames=True,
        answer="derivatives of the mass matrix, rows and columns {columns}, each along these",
    ),
    "apply_inverse_mass": Function(
        aba.apply_inverse_mass,
        (Q, X),
        (N,),
        needs=Needs.INVERTIBLE_MASS,
        on_any_frames=True,
        answer="accelerations of {accelerations}",
    ),
    "coriolis_matrix": Function(
        coriolis.coriolis_matrix,
        (Q, QD),
        (N, N),
        cost=per_pair(3),
        on_any_frames=True,
        answer="Coriolis matrix in kg, m, s and rad: rows and columns {columns}",
    ),
    "gravity_torque": Function(
        rnea.gravity_torque,
        (Q,),
        (N,),
        on_any_frames=True,
        answer="torques or forces against gravity of {torques}",
    ),
    "gravity_torque_jacobian": Function(
        configuration_derivatives.gravity_torque_jacobian,
        (Q,),
        (N, N),
        cost=per_pair(),
        on_any_frames=True,
        answer="derivatives of the torques against gravity: rows and columns {columns}",
    ),
    "friction_torque": Function(
        lambda m, qd: friction.friction_torque(m, None, qd),
        (QD,),
        (N,),
        needs=_NOTHING,
        answer="torques or forces that overcome friction of {torques}",
    ),
    "friction_torque_at": Function(
        lambda m, qd, q: friction.friction_torque(m, q, qd),
        (QD, Q),
        (N,),
        needs=_NOTHING,
        method="friction_torque",
        answer="torques or forces that overcome friction of {torques}",
    ),
    "spring_torque": Function(
        terms.spring_torque,
        (Q,),
        (N,),
        needs=_NOTHING,
        on_any_frames=True,
        answer="torques or forces that hold springs of {torques}",
    ),
    "torque_terms": Function(
        _torque_terms,
        (Q, QD, QDD),
        (TERMS, N),
        _LOADS,
        loaded=True,
        cost=per_body(6),
        loops=_IN_LOOPS,
        by_name=terms_by_name,
        on_any_frames=True,
        answer="terms {terms}, each of {torques}",
    ),
    "joint_wrenches": Function(
        _joint_wrenches,
        (Q, QD, QDD),
        (CHOSEN_JOINTS, 6),
        {"loads": LOADS, "joints": JOINTS, "wrench_frame": WRENCH_FRAME},
        loaded=True,
        whole=True,
        loops=_IN_LOOPS,
        answer="wrenches (moment, force) from parent to child at {joints}, in the frame of each child (N m, N)",
    ),
    "static_torque": Function(
        _static_torque,
        (Q,),
        (N,),
        {"loads": ONE_LOAD, "frame": STATIC_FRAME},
        needs=_NOTHING,
        loaded=True,
        loops=_IN_LOOPS,
        acts=True,
        answer="torques or forces of {torques}",
    ),
    "regressor": Function(
        _regressor,
        (Q, QD, QDD),
        (N, PARAMETERS),
        {"parts": PARTS},
        needs=_NOTHING,
        cost=per_pair(10),
        whole=True,
        loops=_IN_LOOPS,
        is_direct=without_loops,
        answer="torques or forces for a unit of each parameter: rows {torques}; columns {parameters}",
    ),
    # energy and momentum
    "kinetic_energy": Function(
        energy.kinetic_energy,
        (Q, QD),
        (),
        on_any_frames=True,
        answer="kinetic energy (J)",
    ),
    "potential_energy": Function(
        energy.potential_energy,
        (Q,),
        (),
        whole=True,
        answer="potential energy of gravity (J)",
    ),
    "kinetic_energy_derivatives": Function(
        lambda m, q, qd: list(energy.kinetic_energy_derivatives(m, q, qd)),
        (Q, QD),
        (2, N),
        named=StateDerivatives,
        on_any_frames=True,
        answer="derivatives of the kinetic energy along, and with respect to, the velocities of {columns}",
    ),
    "potential_energy_gradient": Function(
        energy.potential_energy_gradient,
        (Q,),
        (N,),
        answer="derivatives of the potential energy, torques or forces of {torques}",
    ),
    "center_of_mass": Function(
        lambda m, q: list(centroidal.center_of_mass(m, q)),
        (Q,),
        (3,),
        on_any_frames=True,
        answer="center of mass in base axes (m)",
    ),
    "center_of_mass_jacobian": Function(
        lambda m, q: _columns(centroidal.center_of_mass_jacobian(m, q)),
        (Q,),
        (3, N),
        on_any_frames=True,
        answer="velocity of the center of mass in base axes (m/s) for each of {columns}",
    ),
    "momentum": Function(
        lambda m, q, qd: list(centroidal.momentum(m, q, qd)),
        (Q, QD),
        (6,),
        on_any_frames=True,
        answer="angular and linear momentum about the origin of the base, in base axes (kg m^2/s, kg m/s)",
    ),
    "centroidal_momentum": Function(
        lambda m, q, qd: list(centroidal.centroidal_momentum(m, q, qd)),
        (Q, QD),
        (6,),
        on_any_frames=True,
        answer="angular and linear momentum about the center of mass, in base axes (kg m^2/s, kg m/s)",
    ),
    "centroidal_momentum_matrix": Function(
        lambda m, q: _columns(centroidal.centroidal_momentum_matrix(m, q)),
        (Q,),
        (6, N),
        on_any_frames=True,
        answer="momentum (angular, linear) about the center of mass, in base axes, for each of {columns}",
    ),
    "momentum_derivatives": Function(
        lambda m, q, qd: [_columns(part) for part in centroidal.momentum_derivatives(m, q, qd)],
        (Q, QD),
        (2, 6, N),
        named=StateDerivatives,
        on_any_frames=True,
        answer="derivatives of the momentum (angular, linear) about the origin of the base, in base axes, along, and "
        "with respect to, the velocities of {columns}",
    ),
    "centroidal_momentum_derivatives": Function(
        lambda m, q, qd: [_columns(part) for part in centroidal.centroidal_momentum_derivatives(m, q, qd)],
        (Q, QD),
        (2, 6, N),
        named=StateDerivatives,
        on_any_frames=True,
        answer="derivatives of the momentum (angular, linear) about the center of mass, in base axes, along, and with "
        "respect to, the velocities of {columns}",
    ),
    # configurations
    "integrate": Function(
        configuration.integrate,
        (Q, V),
        (NQ,),
        needs=_NOTHING,
        answer="positions of {coordinates}",
    ),
    "coordinate_rates": Function(
        configuration.coordinate_rates,
        (Q, V),
        (NQ,),
        needs=_NOTHING,
        answer="rates of the coordinates, per second, of {coordinates}",
    ),
    "difference": Function(
        configuration.difference,
        (Q0, Q1),
        (N,),
        needs=_NOTHING,
        answer="displacements from q0 to q1 of {displacements}",
    ),
    # the recursion, in vectors and in twists and wrenches
    "newton_euler": Function(
        _newton_euler,
        (Q, QD, QDD),
        (BODIES, len(vector_form.UNITS), 3),
        _LOADS,
        loaded=True,
        loops=_IN_LOOPS,
        is_direct=never,
        method="newton_euler_table",
        answer="omega, omega_dot, v_dot, v_dot_com, F, N, f, n of {bodies}, each in its own frame (rad, m, s, N)",
    ),
    "recursion": Function(
        _recursion,
        (Q, QD, QDD),
        (BODIES, len(rnea.UNITS), 6),
        _LOADS,
        loaded=True,
        loops=_IN_LOOPS,
        is_direct=never,
        method="rnea_table",
        answer="V, V_dot, F of {bodies}, angular part first, each in its own frame (rad, m, s, N)",
    ),
    # closed loops
    "constraint_residual": Function(
        loop_equations.residuals,
        (Q,),
        (EQUATIONS,),
        needs=_NOTHING,
        answer="residuals of the equations of {constraints} (m, or products of unit axes)",
    ),
    "constraint_jacobian": Function(
        loop_equations.constraint_jacobian,
        (Q,),
        (EQUATIONS, N),
        needs=_NOTHING,
        answer="derivatives of the residuals of {constraints}; columns {columns}",
    ),
    "constraint_velocity_terms": Function(
        loop_equations.velocity_terms,
        (Q, QD),
        (EQUATIONS,),
        needs=_NOTHING,
        answer="velocity terms of the second derivatives of the residuals of {constraints}",
    ),
    "constraint_poses": Function(
        lambda m, q: [X.rows() for X in loop_equations.constraint_poses(m, q)],
        (Q,),
        (CONSTRAINTS, 4, 4),
        needs=_NOTHING,
        answer="poses of the second frame of {constraints} in the first: homogeneous matrices, their translations in m",
    ),
    "constraint_forces": Function(
        _with_named_wrenches(_constraint_forces),
        (Q, QD, TAU),
        (CONSTRAINTS, 6),
        _LOADS,
        needs=Needs.INVERTIBLE_MASS,
        loaded=True,
        loops=_ROWS,
        answer="wrenches (moment, force) of {constraints} on their second links, in the frames of these (N m, N)",
    ),
    "loop_forces": Function(
        _with_named_wrenches(_loop_forces),
        (Q, QD, QDD),
        (CONSTRAINTS, 6),
        _LOADS,
        loaded=True,
        loops=_IN_LOOPS,
        answer="wrenches (moment, force) of {constraints} on their second links, in the frames of these (N m, N)",
    ),
    "closing_step": Function(
        loop_projection.closing_step,
        (Q,),
        (N,),
        needs=Needs.INVERTIBLE_MASS,
        loops=_PROJECTED,
        answer="displacements that close the loops, of {displacements}",
    ),
    "consistent_velocity": Function(
        loop_projection.consistent_velocity,
        (Q, QD),
        (N,),
        needs=Needs.INVERTIBLE_MASS,
        loops=_PROJECTED,
        answer="velocities that keep the loops closed, of {velocities}",
    ),
    "consistent_acceleration": Function(
        loop_projection.consistent_acceleration,
        (Q, QD, QDD),
        (N,),
        needs=Needs.INVERTIBLE_MASS,
        loops=_PROJECTED,
        answer="accelerations that keep the loops closed, of {accelerations}",
    ),
}


def entry_of(function: str) -> Function:
    """The entry of a function, by its name."""
    return FUNCTIONS[one_of(FUNCTIONS, function, "function")]

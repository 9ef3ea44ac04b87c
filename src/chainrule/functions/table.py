"""The table of functions: what each takes, gives, needs and costs. It is the only truth about them.

A function is declared once, beside its docstring (`core/declaration.py`), which fills the table. Evaluation, kernels,
frameworks, units, exports, benchmarks and tests read it; no other file decides anything by a function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any, NamedTuple

from chainrule.algorithms.solids import layout_length
from chainrule.algorithms.terms import term_names
from chainrule.arguments import one_of
from chainrule.functions.named import split
from chainrule.model import Model, Quantity

# --- arguments ---


class Argument(NamedTuple):
    """A vector that a function takes: its name, and what its entries are for each coordinate or velocity."""

    name: str
    quantity: Quantity

    @property
    def is_configuration(self) -> bool:
        """Whether it is a point of the configuration manifold, and may hold quaternions."""
        return self.quantity == "position"

    def length(self, model: Model) -> int:
        """The number of its entries for a model."""
        return model.nq if self.is_configuration else model.nv


Q, Q0, Q1 = (Argument(name, "position") for name in ("q", "q0", "q1"))
QD, QD0, V = (Argument(name, "velocity") for name in ("qd", "qd0", "v"))
QDD = Argument("qdd", "acceleration")
VECTOR = Argument("vector", "velocity")
TAU, X = (Argument(name, "effort") for name in ("tau", "x"))
ARGUMENTS = {argument.name: argument for argument in (Q, Q0, Q1, QD, QDD, TAU, V, X, QD0, VECTOR)}
"""Every argument that a function of a robot may take, by name."""

POSES = ("target",)
"""Arguments that are poses, in any form."""

Dimensions = Callable[[Mapping[str, Any], tuple[int, ...], Any], int]
"""The dimensions of one state in an argument, from all arguments, its shape, and its key where it has one."""

WRENCH_LENGTH = 6

# --- options ---


@dataclass(frozen=True)
class Option:
    """A choice that is fixed before any state is known, and so a part of what a kernel is compiled for.

    `default` is a value, or computed from the robot and the options before this one; `check` returns the value to use,
    or raises.
    """

    default: Any
    check: Callable[[Any, Any], Any]
    is_public: bool = True
    """Whether the method takes it as a parameter of the same name."""

    def default_for(self, robot: Any, chosen: Mapping[str, Any]) -> Any:
        """The value where none is given, after those of the options before this one."""
        return self.default(robot, chosen) if callable(self.default) else self.default


# --- shapes and units ---

Size = int | Callable[[Model, Mapping[str, Any]], int]
"""A dimension of a result: a number, or what it is for a model and options."""


@dataclass(frozen=True)
class Axis:
    """A dimension of a result whose entries have units, and names: joints, or the parts of a twist or a wrench."""

    size: Size
    units: Callable[[Model], Sequence[str]]
    parts: Mapping[str, slice] = field(default_factory=dict)
    """The names of its parts; none where its entries are joints."""
    quantity: Quantity | None = None
    """What its entries are, of a number for each joint."""


def DOFS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of degrees of freedom."""
    return model.nv


def _nq(model: Model, options: Mapping[str, Any]) -> int:
    return model.nq


def joint_axis(quantity: Quantity, *, inverse: bool = False) -> Axis:
    """A dimension with an entry for each degree of freedom, in the units of a quantity or, `inverse`, one over them."""
    form = "1/({})" if inverse else "{}"
    size = _nq if quantity == "position" else DOFS
    units = lambda model: [form.format(unit) for unit in model.layout.units_of(quantity)]  # noqa: E731
    return Axis(size, units, quantity=None if inverse else quantity)


def displacement_axis() -> Axis:
    """A dimension of derivatives with respect to q, along each velocity: one over rad or m."""
    return Axis(DOFS, lambda model: [f"1/({velocity.unit})" for velocity in model.layout.velocities])


def _six(angular: str, linear: str, names: tuple[str, str] = ("angular", "linear")) -> Axis:
    return Axis(6, lambda model: [angular] * 3 + [linear] * 3, {names[0]: slice(0, 3), names[1]: slice(3, 6)})


POSITIONS, VELOCITIES = joint_axis("position"), joint_axis("velocity")
ACCELERATIONS, EFFORTS = joint_axis("acceleration"), joint_axis("effort")
PER_VELOCITY, PER_ACCELERATION = joint_axis("velocity", inverse=True), joint_axis("acceleration", inverse=True)
PER_EFFORT, PER_DISPLACEMENT = joint_axis("effort", inverse=True), displacement_axis()
DISPLACEMENTS = Axis(DOFS, lambda model: [velocity.unit for velocity in model.layout.velocities])
RATES = Axis(_nq, lambda model: [f"{unit}/s" for unit in model.layout.units_of("position")])
TWIST, ACCELERATION = _six("rad/s", "m/s"), _six("rad/s^2", "m/s^2")
WRENCH = _six("N m", "N", ("moment", "force"))
MOMENTUM = _six("kg m^2/s", "kg m/s")


def TRIANGLE(model: Model, options: Mapping[str, Any]) -> int:
    """The number of entries on and below the diagonal of a matrix (n, n)."""
    return model.nv * (model.nv + 1) // 2


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


def SPRINGS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of springs and dampers between links."""
    return len(model.springs)


def TERMS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of named terms of a torque."""
    return len(term_names(model, loaded=bool(options.get("loads"))))


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


def per_triple() -> Cost:
    """A visit for each degree of freedom and each pair of a joint and a joint that carries it."""
    return lambda model: model.nv * per_pair()(model)


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

    name: str
    """How a robot's method is called: "pose", or "loops.residual" for one of a subject."""
    compute: Callable[..., Any]
    takes: tuple[Argument, ...]
    gives: tuple[Size | Axis, ...]
    """The dimensions of the result for one state."""
    unit: str = ""
    """The unit of every entry, besides those of its dimensions."""
    options: Mapping[str, Option] = field(default_factory=dict)
    needs: Needs = Needs.MASS
    cost: Cost = per_body()
    loaded: bool = False
    """Whether it also takes wrenches, six numbers each, on the links that the option `loads` names."""
    is_surrounded: bool = False
    """Whether it also takes the numbers of a world, whose kinds of obstacles the option `obstacles` tells."""
    whole: bool = False
    """Whether every link counts, those on fixed joints too; else fixed joints are merged first."""
    on_any_frames: bool = False
    """Whether it refers to joints and the base alone: no frame of a link shapes the answer, so that any will do."""
    loops: Mapping[str, Option] = field(default_factory=dict)
    """Further options where the robot has closed loops."""
    is_direct: Callable[[Model], bool] = always
    """Whether the method does nothing but call the kernel with its arguments and public options, so that the kernel can
    stand in for it."""
    variant_of: str | None = None
    """The function whose method evaluates it, where it has no method of its own."""
    named: type[tuple[Any, ...]] | None = None
    """The named result that the method makes of the parts of the answer, which are its first dimension."""
    gives_parts: tuple[tuple[Size | Axis, ...], ...] = ()
    """The dimensions of each part of the named result, for its units."""
    gives_half: tuple[Size | Axis, ...] = ()
    """The dimensions of the result with the option `half`, where it has one."""
    when: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of that method which choose this function."""
    acts: bool = False
    """Whether the method's wrench is an argument like the others: what its `link` applies, not a load on the robot."""
    by_name: Callable[[Model, Mapping[str, Any]], Callable[[Any], Any]] | None = None
    """What else the method makes of the array, for a model and options."""
    parts: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    """Parts of the result with units of their own: their indices, and units."""
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

    def own(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Its arguments and options among those of a call; others are those of a body around it."""
        return {name: given[name] for name in (*self.arguments, *self.options) if name in given}

    def argument_lengths(self, model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
        """The length of each argument, wrenches and the numbers of a world included."""
        further = [WRENCH_LENGTH for _ in options.get("loads", ())]
        if options.get("obstacles"):
            further.append(layout_length(options["obstacles"]))
        return (*(argument.length(model) for argument in self.takes), *further)

    def shape(self, model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of the answer for one state."""
        return tuple(_size(dimension, model, options) for dimension in self.dimensions(options))

    def dimensions(self, options: Mapping[str, Any]) -> tuple[Size | Axis, ...]:
        """The dimensions of the result for one state, with options."""
        return self.gives_half if options.get("half") else self.gives

    def visits(self, model: Model) -> float:
        """About how often straight-line code would visit a body: the measure of how large it gets."""
        looped = float((model.nv + len(model.rows)) ** 2) if model.constraints and self.loops else 0.0
        return max(self.cost(model), looped)


def _size(dimension: Size | Axis, model: Model, options: Mapping[str, Any]) -> int:
    size = dimension.size if isinstance(dimension, Axis) else dimension
    return size if isinstance(size, int) else size(model, options)


DECLARED_IN = (
    "bodies.distances",
    "dynamics.centroidal", "dynamics.derivatives", "dynamics.dynamics", "dynamics.energy", "dynamics.textbook",
    "parameters.regressor", "kinematics.configurations", "kinematics.manipulability", "kinematics.poses",
    "kinematics.velocities", "loops.constraints", "loops.forces", "loops.motion",
)  # fmt: skip
"""The modules that declare functions."""


class FunctionTable(Mapping[str, Function]):
    """Functions by name, filled by their declarations.

    A robot imports the modules of the functions that it is asked for; all of them are imported when a name is not
    there yet, and when the whole table is looked at.
    """

    def __init__(self) -> None:
        self.declared: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        return self.declared[name] if name in self.declared else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def variants(self, name: str) -> dict[str, Function]:
        """The function of a name and its variants, which one module declares."""
        return {own: entry for own, entry in self.declared.items() if name in (own, entry.variant_of)}

    def _all(self) -> dict[str, Function]:
        for module in DECLARED_IN:
            import_module(f"chainrule.{module}")
        return self.declared


FUNCTIONS = FunctionTable()
"""All functions by name."""


def register(entry: Function) -> Function:
    """Put a function into the table."""
    FUNCTIONS.declared[entry.name] = entry
    return entry


def entry_of(function: str) -> Function:
    """The entry of a function, by its name."""
    return FUNCTIONS[one_of(FUNCTIONS, function, "function")]

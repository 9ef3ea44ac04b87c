"""The regressor Y of a robot, with tau = Y p, and base parameters: the combinations of p that motions tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms import regressor as algorithm
from chainrule.arguments import Array, real_array
from chainrule.core.declaration import BY_ALGORITHM, function
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import DRIVEN, ENTRIES, PARTS, chosen_parts
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError
from chainrule.functions import adapters
from chainrule.functions.table import QD, QDD, Needs, Q, per_pair, without_loops
from chainrule.kinematics.configurations import random_state
from chainrule.loops.motion import consistent_acceleration, consistent_velocity
from chainrule.model import Model
from chainrule.parameters import vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RANK_TOLERANCE = 1e-8
"""What is left of a column of length one, if it is a combination of others up to rounding."""


def _count(model: Model, options: Mapping[str, Any]) -> int:
    """The number of parameters of the parts that the option `parts` names, or of sums of entries."""
    entries = options.get("entries")
    return len(algorithm.parameters(model, options["parts"]) if entries is None else entries)


def _rows(model: Model, options: Mapping[str, Any]) -> int:
    return model.nv if options.get("entries") is None else 1


@function(
    adapters.regressor,
    subject="parameters",
    takes=(Q, QD, QDD),
    gives=(_rows, _count),
    options={"parts": PARTS, "entries": ENTRIES},
    needs=Needs.NOTHING,
    cost=per_pair(10),
    whole=True,
    loops=DRIVEN,
    is_direct=without_loops,
    answer="torques or forces for a unit of each parameter: rows {torques}; columns {parameters}",
)
def regressor(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    parts: Sequence[str] | None = None,
    out: Array | None = None,
) -> Array:
    """Y with Y @ robot.parameters.values == robot.inverse_dynamics(q, qd, qdd): (..., nv, p).

    Every link that a joint moves has its own ten columns, those on fixed joints too; `robot.parameters.base()` tells
    which of them a motion can tell apart.

    parts: "links", "rotors", "friction", "springs"; all unless given. Y then has the columns of
    `robot.parameters.indices(parts)`.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> Y = arm.parameters.regressor([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    >>> (Y @ arm.parameters.values).round(4), arm.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).round(4)
    (array([32.4825, 10.9798]), array([32.4825, 10.9798]))
    """
    return BY_ALGORITHM


@dataclass(frozen=True, repr=False)
class BaseParameters(Shown):
    """The combinations b = matrix @ p of a robot's parameters that its torques depend on, and no fewer.

    With Y the regressor of the same parts, tau = Y[..., columns] @ values.
    """

    columns: tuple[int, ...]
    """The columns of the regressor that are linearly independent: one for each base parameter."""
    matrix: Array = field(repr=False)
    """(b, p): the base parameters for the parameters p of the chosen parts."""
    values: Array
    """Their values for the robot itself: (b,)."""
    names: tuple[str, ...] = field(repr=False)
    """Each as a sum of parameters: "link1.Izz + link2.mass"."""
    nominal: Array = field(repr=False)
    """The robot's own parameters of the chosen parts: (p,)."""

    def _view(self) -> Iterator[str | Table]:
        yield f"{len(self.names)} base parameters of {len(self.nominal)} parameters"
        values = [float(x) for x in self.values]
        yield Table(("column", "value", "parameters"), [*zip(self.columns, values, self.names, strict=True)])

    def parameters(self, values: ArrayLike) -> Array:
        """The parameters p nearest to the robot's own that have these base parameters: (p,).

        `robot.parameters.with_values(p, parts=.., check=False)` is a robot that has them. Motions say nothing about the
        rest, so that single masses and inertias in p need not be those of real links.
        """
        wanted = real_array(values, "values")
        if wanted.shape != self.values.shape:
            raise ShapeError(f"values must have shape {self.values.shape}, got {wanted.shape}")
        return np.asarray(self.nominal + np.linalg.pinv(self.matrix) @ (wanted - self.values))


def base(robot: Mechanism, *, parts: Sequence[str] | None = None) -> BaseParameters:
    """The base parameters of a robot, found from the rank of its regressor over random states.

    Going through the parameters in order, one whose column is a combination of those before it is grouped with them; so
    links farther out are grouped with those nearer to the base, as textbooks do. Columns that are zero are left out.

    parts: as of `regressor`.

    >>> import chainrule as cr
    >>> base = cr.load("planar_2r").parameters.base(parts=["links"])
    >>> base.names
    ('link1.mcx + link2.mass', 'link1.mcy', 'link1.Izz + link2.mass', 'link2.mcx', 'link2.mcy', 'link2.Izz')
    """
    chosen = None if parts is None else chosen_parts(parts)
    places = list(vector.indices(robot, chosen))
    Y = regressor(robot, *random_motions(robot, len(places)), parts=chosen)
    columns, matrix = independent_columns(Y.reshape(len(Y) * robot.nv, len(places)))
    nominal = vector.values(robot)[places]
    labels = [vector.names(robot)[i] for i in places]
    names = tuple(sum_in_words(row, labels) for row in matrix)
    return BaseParameters(columns, matrix, matrix @ nominal, names, nominal)


def random_motions(robot: Mechanism, count: int) -> tuple[Array, Array, Array]:
    """Random states and accelerations, enough to tell `count` parameters apart."""
    rng = np.random.default_rng(0)
    rows = 2 * (count // max(robot.nv, 1)) + 10
    q = random_state(robot, rng, (rows,))
    qd, qdd = (rng.normal(size=(rows, robot.nv)) for _ in range(2))
    if robot.model.constraints:
        qd = consistent_velocity(robot, q, qd)
        qdd = consistent_acceleration(robot, q, qd, qdd)
    return q, qd, qdd


def independent_columns(Y: Array) -> tuple[tuple[int, ...], Array]:
    """The columns that are no combinations of those before them, and B with Y = Y[:, columns] @ B."""
    lengths = np.linalg.norm(Y, axis=0)
    zero = lengths <= RANK_TOLERANCE * lengths.max(initial=0.0)
    R: Array = np.asarray(np.linalg.qr(Y / np.where(zero, 1.0, lengths), mode="r"))
    columns: list[int] = []
    basis = np.zeros((len(R), 0))
    for i in range(Y.shape[1]):
        if zero[i]:
            continue
        rest = R[:, i]
        for _ in range(2):  # twice: rounding of the first projection
            rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > RANK_TOLERANCE:
            columns.append(i)
            basis = np.column_stack([basis, rest / size])
    B = np.linalg.lstsq(R[:, columns], R, rcond=None)[0] * lengths / lengths[columns][:, None]
    B[np.abs(B) < RANK_TOLERANCE * np.abs(B).max(initial=0.0)] = 0.0
    B[:, columns] = np.eye(len(columns))
    return tuple(columns), B


def sum_in_words(row: Array, labels: Sequence[str]) -> str:
    """A combination of parameters in words."""
    text = ""
    for x, label in zip(row.tolist(), labels, strict=True):
        if x:
            size = "" if abs(abs(x) - 1) < 1e-6 else f"{abs(x):.6g} "
            text += (" - " if x < 0 else " + ") + size + label
    return text.removeprefix(" + ")

"""The forms of dynamics that textbooks print: the vector form link by link, and the closed matrix form."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import matrix_form as algorithm
from chainrule.algorithms.vector_form import UNITS
from chainrule.core.mechanism import Mechanism
from chainrule.core.results import MatrixForm, NewtonEulerTable
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.functions import reference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def newton_euler_table(robot: Mechanism, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> NewtonEulerTable:
    """The vector form (Craig): omega, omega-dot, v-dot, v-dot of the mass center, F, N, f, n of each link."""
    values = robot.evaluate("newton_euler", q=q, qd=qd, qdd=qdd)
    columns = {column: values[..., i, :] for i, column in enumerate(UNITS)}
    return NewtonEulerTable(_moving_links(robot), UNITS, **columns, tau=inverse_dynamics(robot, q, qd, qdd))


def matrix_form(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> MatrixForm:
    """The closed matrix form: S, A, L = (1 - A)^-1, J = L S, the block inertia, M = J^T I J and C.

    M includes the rotors; tau = M qdd + C qd + g, to which friction and springs are added.
    """
    arrays = robot.read("matrix_form", q=q, qd=qd)
    robot.require("mass_matrix")
    batch = arrays[0].shape[:-1]
    with np.errstate(all="ignore"):
        form = algorithm.matrix_form(robot.merged, *(reference.scalars_of(a) for a in arrays))
    matrices = {field.name: getattr(form, field.name) for field in fields(form)}
    widths = {"S": robot.n, "J": robot.n}
    stacks = {
        name: reference.stack(m, batch, (len(m), widths.get(name, len(m))) if name != "g" else (robot.n,))
        for name, m in matrices.items()
    }
    return MatrixForm(_moving_links(robot), **stacks)


def _moving_links(robot: Mechanism) -> tuple[str, ...]:
    return tuple(link.name for link in robot.merged.links[1:])

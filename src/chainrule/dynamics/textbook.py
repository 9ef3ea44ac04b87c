"""The forms of dynamics that textbooks print: the recursion link by link, and the closed matrix form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import matrix_form as algorithm
from chainrule.algorithms import rnea, vector_form
from chainrule.algorithms.coriolis import coriolis_matrix
from chainrule.algorithms.joint_forces import drive_torque
from chainrule.algorithms.kinematics import gravity_as_base_acceleration
from chainrule.algorithms.loads import WRENCH_FRAMES, on_links
from chainrule.arguments import Array, one_of, together
from chainrule.compile.backend import INTERPRETED, Scalars, Traceable, active
from chainrule.core.at import reads_model
from chainrule.core.declaration import composition, takes_dask, variant
from chainrule.core.derived import backend_of, merged_fingerprint, merged_model
from chainrule.core.evaluation import evaluate, require
from chainrule.core.link_tables import NewtonEulerTable, RneaTable
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import DRIVEN, LOADED
from chainrule.core.parameter_values import bound_parameters
from chainrule.core.reading import read_state, read_wrenches
from chainrule.core.results import MatrixForm
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.errors import ShapeError
from chainrule.functions import adapters, reference
from chainrule.functions.reference import scalars_of
from chainrule.functions.table import BODIES, QD, QDD, Q, never
from chainrule.model import Model
from chainrule.model.parameters import put_parameters
from chainrule.spatial import Twist

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


variant(
    adapters.newton_euler,
    "textbook.newton_euler",
    of="textbook.newton_euler_table",
    takes=(Q, QD, QDD),
    gives=(BODIES, len(vector_form.UNITS), 3),
    options=LOADED,
    loaded=True,
    loops=DRIVEN,
    is_direct=never,
    answer="omega, omega_dot, v_dot, v_dot_com, F, N, f, n of {bodies}, each in its own frame (rad, m, s, N)",
)
variant(
    adapters.recursion,
    "textbook.recursion",
    of="textbook.rnea_table",
    takes=(Q, QD, QDD),
    gives=(BODIES, len(rnea.UNITS), 6),
    options=LOADED,
    loaded=True,
    loops=DRIVEN,
    is_direct=never,
    answer="V, V_dot, F of {bodies}, angular part first, each in its own frame (rad, m, s, N)",
)


@composition()
def newton_euler_table(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> NewtonEulerTable:
    """The vector form (Craig): omega, omega-dot, v-dot, v-dot of the mass center, F, N, f, n of each link.

    Wrenches are as in inverse_dynamics; they are in f and n, and so in tau.
    """
    loads = read_wrenches(robot, "newton_euler_table", tip_wrench, external)
    values = evaluate(robot, "textbook.newton_euler", loads, q=q, qd=qd, qdd=qdd, frame=frame)
    columns = {column: values[..., i, :] for i, column in enumerate(vector_form.UNITS)}
    tau = inverse_dynamics(robot, q, qd, qdd, tip_wrench=tip_wrench, external=external, frame=frame)
    v_dot_0 = _base_acceleration(robot)[..., 3:]
    return NewtonEulerTable(_moving_links(robot), vector_form.UNITS, **columns, tau=tau, v_dot_0=v_dot_0)


@reads_model
@takes_dask()
def rnea_table(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> RneaTable:
    """The recursion in twists and wrenches (Lynch & Park): V_i, dV_i/dt, F_i and tau_i of each link, in its frame.

    Gravity is the acceleration V_dot_0 = (0, -g) of the base. Wrenches are as in inverse_dynamics. Fixed joints are
    merged first; closed loops and free joints are taken along.

    >>> import chainrule as cr
    >>> table = cr.load("planar_2r").textbook.rnea_table([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
    >>> table.V_dot_0.tolist()
    [0.0, 0.0, 0.0, 0.0, 9.81, 0.0]
    >>> table.F.round(2).tolist(), table.tau.round(2).tolist()
    ([[0.0, 0.0, 29.43, -3.0, 19.62, 0.0], [0.0, 0.0, 9.81, -2.0, 9.81, 0.0]], [29.43, 9.81])
    """
    loads = read_wrenches(robot, "rnea_table", tip_wrench, external)
    values = evaluate(robot, "textbook.recursion", loads, q=q, qd=qd, qdd=qdd, frame=frame)
    columns = {column: values[..., i, :] for i, column in enumerate(rnea.UNITS)}
    tau = inverse_dynamics(robot, q, qd, qdd, tip_wrench=tip_wrench, external=external, frame=frame)
    state = read_state(robot, "rnea_table", q=q, qd=qd, qdd=qdd)
    batch, scalars = values.shape[:-3], [reference.scalars_of(a) for a in state]
    bodies = merged_model(robot).at(scalars[0])
    screws: list[Twist] = [Twist.zero()] * robot.nv
    for body in bodies:
        for i, S in body.S if body.body.joint.mimic is None else ():
            screws[i] = S
    return RneaTable(
        _moving_links(robot),
        rnea.UNITS,
        **columns,
        tau=tau,
        drives=reference.stack(drive_torque(merged_model(robot), *scalars), batch, (robot.nv,)),
        T=reference.stack([body.T.inverse().rows() for body in bodies], batch, (len(bodies), 4, 4)),
        A=reference.stack([list(S) for S in screws], batch, (robot.nv, 6)),
        V_dot_0=_base_acceleration(robot),
    )


@reads_model
@takes_dask(by_reference=True)
def matrix_form(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike | None = None,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> MatrixForm:
    """The closed matrix form: S, A, L = (1 - A)^-1, J = L S, the block inertia, M = J^T I J, C and g, and stacked V.

    M includes the rotors; tau = M qdd + C qd + g, to which friction and springs are added. C is that of the matrices;
    `C_christoffel`, that of coriolis_matrix, is another one with the same C qd. M, C and g are those of the tree where
    there are closed loops.

    Parameters
    ----------
    q, qd
        Configurations (..., nq) and velocities (..., n).
    qdd
        Accelerations (..., n); with them come the stacked V_dot and W, and tau = S^T W with the rotors.
    tip_wrench, external, frame
        As in inverse_dynamics; they are in W and tau, and need qdd.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> form = arm.textbook.matrix_form([0.0, 0.5], [1.0, 2.0], [0.0, 1.0])
    >>> form.W.shape, bool(abs(form.tau - arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.0, 1.0])).max() < 1e-12)
    ((12,), True)
    """
    loads = read_wrenches(robot, "matrix_form", tip_wrench, external)
    frame = one_of(WRENCH_FRAMES, frame, "frame")
    if qdd is None and loads.links:
        raise ShapeError("matrix_form: wrenches are in W and tau, which need qdd; give qdd as well")
    state = {"q": q, "qd": qd} if qdd is None else {"q": q, "qd": qd, "qdd": qdd}
    require(robot, "mass_matrix")
    vectors = dict(zip(state, read_state(robot, "matrix_form", **state), strict=True))
    arrays = together(vectors | dict(zip(loads.labels, loads.wrenches, strict=True)), "matrix_form")
    text = _MatrixFormText(merged_model(robot), loads.links, frame, moves=qdd is not None)
    backend = active(backend_of(robot)) if robot.nv else INTERPRETED
    key = ("matrix_form", merged_fingerprint(robot), loads.links, frame, text.moves)
    source = Traceable(text, key, robot.name, "matrix_form", 6 * len(merged_model(robot).bodies) ** 2)
    evaluate = backend.function(source, [array.shape[-1] for array in arrays])
    return MatrixForm(_moving_links(robot), **text.parts(evaluate(*arrays)))


class _MatrixFormText:
    """All entries of the closed matrix form, and of a motion's part of it, one after the other."""

    def __init__(self, model: Model, links: Sequence[str], frame: str, *, moves: bool) -> None:
        self.model, self.links, self.frame, self.moves = model, links, frame, moves
        n, stacked = model.nv, 6 * len(model.bodies)
        square, screws, joints = (stacked, stacked), (stacked, n), (n, n)
        self.shapes: dict[str, tuple[int, ...]] = {
            "S": screws, "A": square, "A_dot": square, "L": square, "J": screws, "inertia": square, "ad_V": square,
            "rotors": joints, "M": joints, "C": joints, "g": (n,), "S_dot": screws, "V": (stacked,),
            "V_dot_0": (stacked,), "C_christoffel": joints,
        }  # fmt: skip
        if moves:
            self.shapes |= {"V_dot": (stacked,), "W": (stacked,), "tau": (n,)}

    def __call__(self, q: Scalars, qd: Scalars, *rest: Scalars) -> Scalars:
        """The entries, in the order of `shapes`."""
        form = algorithm.matrix_form(self.model, q, qd)
        found = {field.name: getattr(form, field.name) for field in fields(form)}
        found["C_christoffel"] = coriolis_matrix(self.model, q, qd)
        if self.moves:
            on = on_links(self.model, self.links, rest[1:], q, self.frame)
            motion = algorithm.stacked_motion(form, qd, rest[0], on)
            found |= {field.name: getattr(motion, field.name) for field in fields(motion)}
        return [x for name in self.shapes for x in reference.leaves(found[name])]

    def parts(self, entries: Array) -> dict[str, Array]:
        """The matrices of (..., entries), by name."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        cut = np.split(entries, ends[:-1], axis=-1)
        return {
            name: np.ascontiguousarray(part).reshape((*part.shape[:-1], *shape))
            for (name, shape), part in zip(self.shapes.items(), cut, strict=True)
        }


def _base_acceleration(robot: Mechanism) -> Array:
    """The twist (0, -g) that stands for gravity, without negative zeros: (..., 6), a row for each bound value."""
    bound = bound_parameters(robot)
    model = put_parameters(robot.model, bound.names, [scalars_of(array) for array in bound.arrays])
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in bound.arrays))
    return reference.stack(list(gravity_as_base_acceleration(model)), batch, (6,)) + 0.0


def _moving_links(robot: Mechanism) -> tuple[str, ...]:
    return tuple(link.name for link in merged_model(robot).links[1:])

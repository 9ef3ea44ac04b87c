"""The forms of kinematics that textbooks print: velocities from link to link, and the product of exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms import exponentials as algorithm
from chainrule.arguments import Array
from chainrule.core.at import reads_model
from chainrule.core.declaration import composition, takes_dask
from chainrule.core.exponential_table import ExponentialTable
from chainrule.core.link_tables import VelocityTable
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.functions import reference
from chainrule.kinematics.poses import pose, poses
from chainrule.kinematics.velocities import velocities, velocity
from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

VELOCITY_UNITS = {"omega": "rad/s", "v": "m/s", "omega_0": "rad/s", "v_0": "m/s"}


@composition()
def velocity_table(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> VelocityTable:
    """Velocities from the base to the tip (Craig): omega_i and v_i of each link in its own axes, and in the base's.

    omega_i = R^T omega_p + z qd and v_i = R^T (v_p + omega_p x P) for a joint that turns about z; one that slides adds
    z qd to v_i instead. All links have a row, those on fixed joints too, and so has the end-effector where it is a
    frame.

    >>> import chainrule as cr
    >>> table = cr.load("planar_2r").textbook.velocity_table([0.0, 0.0], [1.0, 2.0])
    >>> table.links, table.v[:, 1].tolist()
    (('link1', 'link2', 'tip'), [0.0, 1.0, 4.0])
    """
    q, qd = read_state(robot, "velocity_table", q=q, qd=qd)
    names, parents = _rows(robot.model)
    V, T = velocities(robot, q, qd, frame="body"), poses(robot, q)
    if len(names) > len(robot.link_names) - 1:  # the end-effector is a frame
        tip = names[-1]
        V = np.concatenate([V, velocity(robot, q, qd, tip, frame="body")[..., None, :]], axis=-2)
        T = np.concatenate([T, pose(robot, q, tip)[..., None, :, :]], axis=-3)
    own, turn, origins = V[..., 1:, :], T[..., 1:, :3, :3], T[..., :3, 3]
    in_base = (turn[..., None, :, :] @ own.reshape(*own.shape[:-1], 2, 3, 1))[..., 0]
    across = np.swapaxes(T[..., parents, :3, :3], -1, -2)
    P = (across @ (origins[..., 1:, :] - origins[..., parents, :])[..., None])[..., 0]
    vectors = {"omega": own[..., :3], "v": own[..., 3:], "omega_0": in_base[..., 0, :], "v_0": in_base[..., 1, :]}
    return VelocityTable(names, VELOCITY_UNITS, **vectors, R=across @ turn, P=P)


@reads_model
@takes_dask()
def exponential_table(robot: Mechanism, q: ArrayLike) -> ExponentialTable:
    """The product of exponentials: screws S_i, e^([S_i] q_i), their products, the columns Ad S_i, and what they make.

    The poses of all links are H_i(q) = e^([S_1] q_1) .. e^([S_i] q_i) H_i(0), and the columns make the Jacobian of each
    link. Joints whose coordinates are quaternions are refused.

    >>> import chainrule as cr
    >>> table = cr.load("planar_2r").textbook.exponential_table([0.0, 0.5])
    >>> table.S[1].tolist(), table.columns[1].tolist()
    ([0.0, 0.0, 1.0, 0.0, -1.0, 0.0], [0.0, 0.0, 1.0, 0.0, -1.0, 0.0])
    """
    (q,) = read_state(robot, "exponential_table", q=q)
    model = robot.model
    with np.errstate(all="ignore"):
        found = algorithm.exponentials(model, reference.scalars_of(q))
        names, _ = _rows(model)
        places = [model.locate(name) for name in names]
        H = [found.pose(index, offset) for index, offset in places]
        J = [found.jacobian(model, index) for index, _ in places]
        J_body = [[T.inv * S for S in columns] for T, columns in zip(H, J, strict=True)]
    steps, count = found.steps, len(found.steps)

    def stack(values: Any, *shape: int, batch: tuple[int, ...] = q.shape[:-1]) -> Array:
        return reference.stack(values, batch, shape)

    return ExponentialTable(
        joints=tuple(_name_of(model, step) for step in steps),
        links=names,
        S=stack([list(step.S) for step in steps], count, 6, batch=()),
        theta=stack([step.theta for step in steps], count),
        exponentials=stack([step.exponential.rows() for step in steps], count, 4, 4),
        products=stack([step.product.rows() for step in steps], count, 4, 4),
        columns=stack([list(step.column) for step in steps], count, 6),
        home=stack([(found.home[i] * offset).rows() for i, offset in places], len(names), 4, 4, batch=()),
        poses=stack([T.rows() for T in H], len(names), 4, 4),
        J=np.swapaxes(stack([[list(S) for S in columns] for columns in J], len(names), robot.nv, 6), -1, -2),
        J_body=np.swapaxes(stack([[list(S) for S in columns] for columns in J_body], len(names), robot.nv, 6), -1, -2),
    )


def _rows(model: Model) -> tuple[tuple[str, ...], list[int]]:
    """The links but the base, the end-effector where it is a frame, and the place of each one's parent."""
    names = [link.name for link in model.links[1:]]
    parents = [body.parent for body in model.bodies]
    tip = model.end_effector
    if tip is not None and tip not in model.index_of:
        names.append(tip)
        parents.append(model.locate(tip)[0])
    return tuple(names), parents


def _name_of(model: Model, step: algorithm.Step) -> str:
    """The name of a degree of freedom; of a mimic joint, its own."""
    return step.body.joint.name if step.body.joint.mimic else model.layout.velocity_names[step.index]

"""States of a robot with elastic joints: of its links and of its motors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state
from chainrule.errors import ModelError
from chainrule.model.elastic import ElasticJoint, elastic_joints, without_elastic_joints

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SideState(NamedTuple):
    """Positions and velocities, in the order of a robot."""

    q: Array
    qd: Array


def springs_of(robot: Mechanism, caller: str) -> tuple[ElasticJoint, ...]:
    """The elastic joints of a robot; refused where it has none."""
    pairs = elastic_joints(robot.model)
    if not pairs:
        raise ModelError(f"{caller}: robot {robot.name!r} has no elastic joints; robot.with_elastic_joints makes them")
    return pairs


def rigid_robot(robot: Mechanism) -> Mechanism:
    """The same robot without springs between motors and links."""
    return remember(robot, "without elastic joints", lambda: type(robot)(without_elastic_joints(robot.model)))


def link_side(robot: Mechanism, q: ArrayLike, qd: ArrayLike = 0) -> SideState:
    """Positions and velocities of the links, (..., n) each, in the order of the robot without elastic joints.

    >>> import chainrule as cr
    >>> soft = cr.load("pendulum").with_elastic_joints(100.0, rotor=0.1)
    >>> soft.states.link_side([0.5, -0.1]).q.tolist()
    [0.4]
    """
    return _side(robot, q, qd, 1.0, "link_side")


def motor_side(robot: Mechanism, q: ArrayLike, qd: ArrayLike = 0) -> SideState:
    """Positions and velocities of the motors, on the joints' side of their gears: (..., n) each, as of link_side."""
    return _side(robot, q, qd, 0.0, "motor_side")


def _side(robot: Mechanism, q: ArrayLike, qd: ArrayLike, share: float, caller: str) -> SideState:
    pairs = springs_of(robot, caller)
    position, velocity = (x.astype(float) for x in read_state(robot, caller, q=q, qd=qd))
    for pair in pairs:
        for x, (motor, spring) in ((position, pair.in_q), (velocity, pair.in_v)):
            x[..., motor] += share * x[..., spring]
    return SideState(
        np.delete(position, [pair.in_q[1] for pair in pairs], axis=-1),
        np.delete(velocity, [pair.in_v[1] for pair in pairs], axis=-1),
    )


def on_springs(robot: Mechanism, q: ArrayLike) -> Array:
    """The configuration (..., nq) at rest whose links are at q (..., n), their weight on the springs.

    >>> import chainrule as cr
    >>> soft = cr.load("pendulum").with_elastic_joints(100.0, rotor=0.1)
    >>> q = soft.states.on_springs([0.5])
    >>> soft.states.link_side(q).q.round(9).tolist(), abs(soft.inverse_dynamics(q, 0, 0)[1].round(9)).item()
    ([0.5], 0.0)
    """
    pairs, rigid = springs_of(robot, "on_springs"), rigid_robot(robot)
    (links,) = read_state(rigid, "on_springs", q=q)
    weight = evaluate(rigid, "bias", q=links, qd=np.zeros((*links.shape[:-1], rigid.nv)))
    out = np.zeros((*links.shape[:-1], robot.nq))
    out[..., np.setdiff1d(np.arange(robot.nq), [pair.in_q[1] for pair in pairs])] = links
    for k, pair in enumerate(pairs):
        (motor, spring), dof = pair.in_q, pair.spring.dofs[0]
        bent = -weight[..., pair.in_v[0] - k] / float(dof.stiffness)
        out[..., spring], out[..., motor] = bent, out[..., motor] - bent
    return out

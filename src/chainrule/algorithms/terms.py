"""The terms of the joint torques: inertial, centrifugal, Coriolis, gravity, friction, spring, damper, external
and loop."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.algorithms import joint_forces
from chainrule.algorithms.centrifugal import centrifugal_torque
from chainrule.algorithms.friction import friction_torque
from chainrule.algorithms.joint_forces import rotor_torque
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.loop_dynamics import actuated_torque
from chainrule.algorithms.loop_equations import Rows
from chainrule.algorithms.rnea import body_torque, gravity_torque, inward, project, velocity_torque
from chainrule.algorithms.springs import damper_wrenches, elastic_wrenches
from chainrule.model import Model
from chainrule.spatial import Scalar, Twist, Wrench
from chainrule.spatial.scalar import is_zero

Scalars = Sequence[Scalar]
TERMS = ("inertial", "centrifugal", "coriolis", "gravity", "friction", "spring", "total")


def term_names(model: Model, *, loaded: bool = False) -> tuple[str, ...]:
    """Names of the terms of a robot's torques; dampers between links, wrenches on links and loops add one each."""
    present = {"damper": has_dampers(model), "external": loaded, "loop": bool(model.constraints)}
    added = tuple(name for name, is_there in present.items() if is_there)
    return (*TERMS[:-1], *added, TERMS[-1])


def torque_terms(
    model: Model,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    rows: Rows = None,
    actuated: Sequence[int] = (),
    rank: int | None = None,
    *,
    wrenches: Wrenches | None = None,
) -> dict[str, list[Scalar]]:
    """Terms by name: inertial M qdd; centrifugal (in qd_i^2) and coriolis (in qd_i qd_j); gravity; friction; spring.

    "total" is their sum. Dampers between links add the term "damper". Wrenches that the world applies to links add the
    term "external", -J^T W. Closed loops add the term "loop", -G^T lambda, the part that the constraint forces carry.
    """
    rest = [0] * model.nv
    inertial = add(body_torque(model, q, rest, qdd, Twist.zero()), rotor_torque(model, qdd))
    centrifugal = centrifugal_torque(model, q, qd)
    both = velocity_torque(model, q, qd)
    terms = {
        "inertial": inertial,
        "centrifugal": centrifugal,
        "coriolis": [a - b for a, b in zip(both, centrifugal, strict=True)],
        "gravity": gravity_torque(model, q),
        "friction": friction_torque(model, q, qd),
        "spring": spring_torque(model, q),
    }
    if has_dampers(model):
        terms["damper"] = external_torque(model, q, damper_wrenches(model, q, qd))
    if wrenches:
        terms["external"] = external_torque(model, q, wrenches)
    total: list[Scalar] = rest
    for term in terms.values():
        total = add(total, term)
    if model.constraints:
        tau, _ = actuated_torque(model, q, total, rows, actuated, rank)
        terms["loop"] = [a - b for a, b in zip(tau, total, strict=True)]
        total = tau
    return {**terms, "total": total}


def has_dampers(model: Model) -> bool:
    """Whether there is a damper between links."""
    return any(not is_zero(spring.damping) for spring in model.springs)


def spring_torque(model: Model, q: Scalars) -> list[Scalar]:
    """Torques that hold the springs of joints and those between links."""
    own = joint_forces.spring_torque(model, q)
    return add(own, external_torque(model, q, elastic_wrenches(model, q))) if model.springs else own


def external_torque(model: Model, q: Scalars, wrenches: Wrenches) -> list[Scalar]:
    """Torques -J^T W that balance the wrenches W which the world applies to links."""
    bodies = model.at(q)
    F = [-wrenches.get(i, Wrench.zero()) for i in range(len(bodies) + 1)]
    return project(model, bodies, inward(bodies, F))


def add(a: Scalars, b: Scalars) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]

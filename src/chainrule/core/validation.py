"""Validation of a model: finite numbers, bodies that can exist, joints that move some mass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from chainrule.algorithms.configuration import integrate
from chainrule.algorithms.crba import mass_matrix
from chainrule.errors import ModelError, ModelWarning, quoted, warn_user
from chainrule.formats.exact import has_direction
from chainrule.model import (
    Composite,
    Constraint,
    Dof,
    Joint,
    Link,
    Model,
    Moved,
    Screw,
)
from chainrule.model.edits import merge_fixed
from chainrule.model.tree import refuse_duplicates
from chainrule.spatial import Transform
from chainrule.spatial.physical import nearest_physical, objection

MAX_TESTED_DOFS = 300
"""Degrees of freedom above which a robot with massless links is not tested for a singular mass matrix."""


def validate(model: Model, *, check: bool = True, repair: bool = False, warn: bool = True) -> Model:
    """The model, if nothing is wrong with it.

    Numbers that are not finite, zero axes and crossed limits are always refused. `check=False` lets physically
    impossible inertias and massless moving links pass; `repair=True` replaces impossible inertias by the nearest
    possible ones. What a user should know becomes a note of the model, and a warning.
    """
    where = f"robot {model.name!r}"
    refuse_duplicates("robot", [model.name], where)
    _refuse_numbers("gravity", model.gravity, where)
    for joint in model.joints:
        _check_joint(joint, f"{where}, joint {joint.name!r}")
    for frame in model.frames:
        _refuse_numbers("origin", _numbers(frame.origin), f"{where}, frame {frame.name!r}")
    for constraint in model.constraints:
        _check_constraint(constraint, f"{where}, constraint {constraint.name!r}")
    notes: list[str] = []
    links = [_validate_link(link, where, check and i > 0, repair, notes) for i, link in enumerate(model.links)]
    model = replace(model, links=tuple(links))
    if not has_mass(model):
        if model.nv:
            notes.append(f"{where} has no masses: its kinematics can be used, its dynamics cannot")
    elif check:
        _refuse_massless(model, where)
    for note in notes:
        if warn:
            warn_user(note, ModelWarning)
    return replace(model, notes=tuple(dict.fromkeys((*model.notes, *notes))))


def has_mass(model: Model) -> bool:
    """Whether anything that moves has a mass, an inertia or a rotor."""
    return any(link.mass or any(link.inertia.entries()) for link in model.links[1:]) or any(
        dof.rotor for joint in model.joints for dof in joint.dofs
    )


def _numbers(T: Transform) -> Iterator[float]:
    for row in T.rotation:
        yield from row
    yield from T.translation


def _refuse_numbers(what: str, numbers: object, where: str) -> None:
    values = list(numbers)  # type: ignore[call-overload]
    for value in values:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ModelError(f"{where}: {what} must be finite numbers, got {value!r}")


def _check_joint(joint: Joint, where: str) -> None:
    _refuse_numbers("origin", _numbers(joint.origin), where)
    kind = joint.kind
    if isinstance(kind, Moved):
        _refuse_numbers("offset", _numbers(kind.offset), where)
        kind = kind.inner
    for part in kind.parts if isinstance(kind, Composite) else (kind,):
        if isinstance(part, Screw):
            _refuse_numbers("axis", (*part.angular, *part.linear), where)
            if not has_direction(part.angular if part.turns else part.linear):
                raise ModelError(f"{where} has a zero axis; give the direction it moves along, such as 0 0 1")
    if isinstance(kind, Composite) and kind.name == "universal" and _parallel(*kind.parts):
        raise ModelError(f"{where} is universal, but its two axes are parallel; turn one of them")
    if joint.mimic:
        _refuse_numbers("multiplier and offset of mimic", (joint.mimic.multiplier, joint.mimic.offset), where)
    if len(joint.dofs) != joint.kind.nv:
        raise ModelError(
            f"{where} ({joint.type}) has {joint.kind.nv} degrees of freedom, but properties for {len(joint.dofs)}"
        )
    for dof in joint.dofs:
        _check_dof(dof, joint, where)


def _check_constraint(constraint: Constraint, where: str) -> None:
    _refuse_numbers("origin_a", _numbers(constraint.origin_a), where)
    _refuse_numbers("origin_b", _numbers(constraint.origin_b), where)
    if constraint.distance is not None:
        _refuse_numbers("distance", [constraint.distance], where)
        if not constraint.distance > 0:
            raise ModelError(
                f"{where}: the distance must be positive, got {constraint.distance!r}; two points that coincide are a "
                "constraint of the kind 'point'"
            )


def _parallel(first: Screw, second: Screw) -> bool:
    return bool(first.angular.cross(second.angular).norm() < 1e-6 * first.angular.norm() * second.angular.norm())


def _check_dof(dof: Dof, joint: Joint, where: str) -> None:
    for name in ("viscous", "coulomb", "coulomb_negative", "rotor", "gear", "stiffness", "rest"):
        _refuse_numbers(name, [getattr(dof, name)], where)
    for name in ("lower", "upper", "velocity", "effort"):
        if math.isnan(getattr(dof, name)):
            raise ModelError(f"{where}: {name} must be a number, got nan; leave it out where there is no limit")
    for name in ("viscous", "coulomb", "coulomb_negative", "rotor", "stiffness", "velocity", "effort"):
        value = getattr(dof, name)
        if value < 0:
            raise ModelError(f"{where}: {name} must not be negative, got {value!r}")
    if dof.rotor and not dof.gear:
        raise ModelError(f"{where} has a rotor behind a gear of ratio 0; give the ratio, 1 for a direct drive")
    if not dof.lower <= dof.upper:
        raise ModelError(f"{where}: the lower limit {dof.lower!r} is above the upper limit {dof.upper!r}; swap them")
    if math.inf in (dof.lower, -dof.upper):
        raise ModelError(
            f"{where}: the limits {dof.lower!r} and {dof.upper!r} leave no position; leave out what is no limit"
        )
    if dof.stiffness and joint.kind.nq != joint.kind.nv:
        raise ModelError(f"{where}: a {joint.type} joint cannot carry a spring; its coordinates are not angles")


def _validate_link(link: Link, where: str, check: bool, repair: bool, notes: list[str]) -> Link:
    here = f"{where}, link {link.name!r}"
    _refuse_numbers("mass", [link.mass], here)
    _refuse_numbers("centre of mass", link.com, here)
    _refuse_numbers("inertia", link.inertia.entries(), here)
    if link.mass < 0:
        raise ModelError(f"{here} has a negative mass, {link.mass:g} kg; masses are zero or positive")
    about_origin = link.mass * link.com.dot(link.com) + max(map(abs, link.inertia.entries()))
    _refuse_numbers("inertia about the link's origin", [about_origin], here)
    if not check and not repair:  # the base is not checked either: it stands still, and its inertia plays no part
        return link
    wrong = objection(link.mass, link.com, link.inertia)
    if wrong and repair:
        notes.append(f"{here} {wrong}; repaired: replaced by the nearest inertia that is possible")
        return replace(link, inertia=nearest_physical(link.inertia))
    if wrong:
        raise ModelError(
            f"{here} {wrong}. Correct it, or pass repair=True for the nearest possible inertia, or check=False to "
            "use it as it is"
        )
    if link.mass == 0 and any(link.inertia.entries()):
        notes.append(f"{here} has an inertia but no mass; it is used as given")
    return link


def _refuse_massless(model: Model, where: str) -> None:
    names = idle_joints(model)
    if names:
        carried = [joint.child for joint in model.joints if joint.name in names]
        raise ModelError(
            f"{where}: joint{'s' if len(names) > 1 else ''} {quoted(names)} move{'' if len(names) > 1 else 's'} no "
            f"mass (links {quoted(carried)}), so the mass matrix is singular; give the link an inertia or the joint a "
            "rotor, lock the joint, or pass check=False to use the kinematics alone"
        )


def idle_joints(model: Model) -> list[str]:
    """Joints that move nothing, alone or together: they make the mass matrix singular in every configuration."""
    merged = merge_fixed(model)
    if not all(_is_finite(body.link) for body in merged.bodies):
        raise _too_large(model)
    if all(_resists_everything(body.link) for body in merged.bodies) or merged.nv > MAX_TESTED_DOFS:
        return []
    rng = np.random.default_rng(0)
    steps = (rng.uniform(-1, 1, places.joint.kind.nv).tolist() for places in merged.layout.joints)
    q = integrate(merged, merged.layout.neutral, [x for step in steps for x in step])
    M = np.array(mass_matrix(merged, q), dtype=float)
    if not np.isfinite(M).all():
        raise _too_large(model)
    diagonal = np.diag(M)
    owners = [velocity.joint for velocity in merged.layout.velocities]
    scale = diagonal.max(initial=0.0)
    idle = [owners[i] for i in range(merged.nv) if diagonal[i] <= 1e-14 * scale or diagonal[i] <= 0]
    if not idle:
        root = np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(M / np.outer(root, root))
        if values[0] > 1e-13:
            return []
        weights = np.abs(vectors[:, 0])
        idle = [owners[i] for i in range(merged.nv) if weights[i] > 0.1 * weights.max()]
    return list(dict.fromkeys(idle))


def _is_finite(link: Link) -> bool:
    return all(math.isfinite(x) for x in (link.mass, *link.com, *link.inertia.entries()))


def _too_large(model: Model) -> ModelError:
    return ModelError(f"robot {model.name!r}: the mass matrix is not finite; some masses or lengths are far too large")


def _resists_everything(link: Link) -> bool:
    """Whether the link's own spatial inertia is positive definite: then no joint can move it for free."""
    if not link.mass > 0:
        return False
    I = link.inertia
    if not any(I.entries()):
        return False
    if I.xy == 0 and I.xz == 0 and I.yz == 0:
        return min(I.xx, I.yy, I.zz) > 0
    matrix = np.array([list(row) for row in I], dtype=float)
    return bool(np.linalg.eigvalsh(matrix)[0] > 0)

"""Validation of a model: finite numbers, bodies that can exist, joints that move some mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainrule.algorithms.configuration import integrate
from chainrule.algorithms.crba import mass_matrix
from chainrule.core.problems import WRONG, Check, check_mode, describe, report
from chainrule.errors import ModelError, quoted
from chainrule.formats.exact import has_direction
from chainrule.model import (
    Composite,
    Constraint,
    Dof,
    Joint,
    Link,
    Model,
    ModelProblem,
    Moved,
    PolynomialScrew,
    Screw,
    Spring,
)
from chainrule.model.edits import merge_fixed
from chainrule.model.tree import refuse_duplicates
from chainrule.spatial import Transform
from chainrule.spatial.physical import nearest_physical, objection

MAX_TESTED_DOFS = 300
"""Degrees of freedom above which a robot with massless links is not tested for a singular mass matrix."""

NO_LIMIT = "It is taken as no limit"
NO_BODY = "It is used as given: torques and energies are those of a body that cannot exist"
NO_MASSES = ModelProblem("", "has no masses: its kinematics can be used, its dynamics cannot", severity="note")


def validate(model: Model, *, check: Check = "strict", repair: bool = False, warn: bool = True) -> Model:
    """The model, with what is wrong with it told all at once: see `inspect`.

    check: "warn" for one warning that lists all problems, "strict" (or True) for one error, False for nothing. What
    leaves no robot to be used (numbers that are not finite, zero axes) is an error always. repair: mend what can be
    mended. The problems that were found become notes of the model.
    """
    mode = check_mode(check)
    in_file = any(problem.severity in WRONG for problem in model.problems)
    usable, found = inspect(model, repair=repair)
    problems = (*model.problems, *found)
    report(model.name, problems, mode, in_file=in_file, warn=warn)
    notes = [str(problem) if problem.element else f"robot {model.name!r} {problem}" for problem in found]
    seen = inspect(usable)[1] if found else ()
    lost = [problem for problem in found if problem not in seen]
    return replace(usable, notes=tuple(dict.fromkeys((*model.notes, *notes))), problems=(*model.problems, *lost))


def refuse_impossible_values(model: Model) -> Model:
    """The model, unless a number in it cannot be that of a robot; impossible inertias and massless links may pass.

    What edits and stored motions are held to: a robot that was loaded with its problems can be edited.
    """
    _, problems = inspect(model, physics=False)
    wrong = [problem for problem in problems if problem.severity != "note"]
    if wrong:
        raise ModelError(describe(model.name, wrong, brief=True))
    return model


def inspect(model: Model, *, repair: bool = False, physics: bool = True) -> tuple[Model, list[ModelProblem]]:
    """The model as it can be used, and its problems.

    Limits that cannot be (crossed, negative) are left out of it, and negative friction is taken as none; impossible
    inertias and massless links stay. With repair=True all these are mended where there is a way. physics=False
    leaves inertias and massless links alone.
    """
    problems: list[ModelProblem] = []
    refuse_duplicates("robot", [model.name], f"robot {model.name!r}")
    _require_finite("", "gravity", model.gravity, problems)
    joints = [_inspect_joint(joint, repair, problems) for joint in model.joints]
    for frame in model.frames:
        _require_finite(f"frame {frame.name!r}", "origin", _numbers(frame.origin), problems)
    for constraint in model.constraints:
        _inspect_constraint(constraint, problems)
    for spring in model.springs:
        _inspect_spring(spring, problems)
    links = [_inspect_link(link, physics and i > 0, repair, problems) for i, link in enumerate(model.links)]
    if any(problem.severity == "fatal" for problem in problems):
        return model, problems
    model = replace(model, links=tuple(links), joints=tuple(joints))
    if not physics:
        return model, problems
    if not model.has_mass:
        if model.nv:
            problems.append(NO_MASSES)
    else:
        model = _inspect_mass_matrix(model, repair, problems)
    return model, problems


def _numbers(T: Transform) -> Iterator[float]:
    for row in T.rotation:
        yield from row
    yield from T.translation


def _fatal(element: str, message: str) -> ModelProblem:
    return ModelProblem(element, message, severity="fatal")


def _require_finite(element: str, what: str, numbers: Iterable[object], problems: list[ModelProblem]) -> bool:
    """Whether all numbers are finite; a fatal problem if one is not."""
    for value in numbers:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            problems.append(_fatal(element, f": {what} must be finite numbers, got {value!r}"))
            return False
    return True


def _inspect_joint(joint: Joint, repair: bool, problems: list[ModelProblem]) -> Joint:
    element = f"joint {joint.name!r}"
    _require_finite(element, "origin", _numbers(joint.origin), problems)
    kind = joint.kind
    if isinstance(kind, Moved):
        _require_finite(element, "offset", _numbers(kind.offset), problems)
        kind = kind.inner
    if isinstance(kind, PolynomialScrew):
        _require_finite(element, "coefficients", kind.coefficients, problems)
        kind = kind.screw
    for part in kind.parts if isinstance(kind, Composite) else (kind,):
        if not isinstance(part, Screw):
            continue
        is_finite = _require_finite(element, "axis", (*part.angular, *part.linear), problems)
        if is_finite and not has_direction(part.angular if part.turns else part.linear):
            problems.append(_fatal(element, "has a zero axis; give the direction it moves along, such as 0 0 1"))
    if isinstance(kind, Composite) and kind.name == "universal" and _parallel(*kind.parts):
        problems.append(_fatal(element, "is universal, but its two axes are parallel; turn one of them"))
    if joint.mimic:
        numbers = (joint.mimic.multiplier, joint.mimic.offset)
        _require_finite(element, "multiplier and offset of mimic", numbers, problems)
    return replace(joint, dofs=tuple(_inspect_dof(dof, joint, repair, problems) for dof in joint.dofs))


def _inspect_constraint(constraint: Constraint, problems: list[ModelProblem]) -> None:
    element = f"constraint {constraint.name!r}"
    _require_finite(element, "origin_a", _numbers(constraint.origin_a), problems)
    _require_finite(element, "origin_b", _numbers(constraint.origin_b), problems)
    distance = constraint.distance
    if distance is not None and _require_finite(element, "distance", [distance], problems) and not distance > 0:
        problems.append(
            _fatal(
                element,
                f": the distance must be positive, got {distance!r}; two points that coincide are a constraint of the "
                "kind 'point'",
            )
        )


def _inspect_spring(spring: Spring, problems: list[ModelProblem]) -> None:
    element = f"spring {spring.name!r}"
    for what in ("point_a", "point_b"):
        _require_finite(element, what, getattr(spring, what), problems)
    _require_finite(element, "force", [spring.force], problems)
    for what in ("stiffness", "rest_length", "damping"):
        value = getattr(spring, what)
        if _require_finite(element, what, [value], problems) and value < 0:
            problems.append(_fatal(element, f": {what} must not be negative, got {value!r}"))


def _parallel(first: Screw, second: Screw) -> bool:
    return bool(first.angular.cross(second.angular).norm() < 1e-6 * first.angular.norm() * second.angular.norm())


RESISTANCES = ("viscous", "coulomb", "coulomb_negative", "static", "static_negative", "rotor", "stiffness")
"""Properties of a joint that are never negative."""


def _inspect_dof(dof: Dof, joint: Joint, repair: bool, problems: list[ModelProblem]) -> Dof:
    """The properties with impossible ones left out or mended."""
    element = f"joint {joint.name!r}"
    for name in (*RESISTANCES, "stribeck", "ripple", "ripple_waves", "ripple_phase", "gear", "rest"):
        if not _require_finite(element, name, [getattr(dof, name)], problems):
            return dof
    for name in ("lower", "upper", "velocity", "effort"):
        if math.isnan(getattr(dof, name)):
            message = f": {name} must be a number, got nan; leave it out where there is no limit"
            problems.append(_fatal(element, message))
            return dof
    if dof.rotor and not dof.gear:
        ratio = "has a rotor behind a gear of ratio 0; give the ratio, 1 for a direct drive"
        problems.append(_fatal(element, ratio))
    if dof.stiffness and joint.type == "spherical":
        if len({own.stiffness for own in joint.dofs}) > 1:
            message = ": the spring of a ball joint has one stiffness for all directions; give one number"
            problems.append(_fatal(element, message))
    elif dof.stiffness and joint.kind.nq != joint.kind.nv:
        problems.append(
            _fatal(element, f": a {joint.type} joint cannot carry a spring; its coordinates are not angles")
        )
    if dof.friction_depends_on_position and joint.kind.nq != joint.kind.nv:
        message = (
            f": the friction of a {joint.type} joint cannot depend on its position; its coordinates are not angles"
        )
        problems.append(_fatal(element, message))
    changes: dict[str, Any] = {}

    def mend(problem: ModelProblem, taken: Mapping[str, float], repaired: Mapping[str, float]) -> None:
        problems.append(problem.mend() if repair and problem.repair else problem)
        changes.update(repaired if repair else taken)

    for name in RESISTANCES:
        value = getattr(dof, name)
        if value < 0:
            meaning, way = "It would drive the joint instead of resisting; it is taken as 0", f"{-value:g} is taken"
            problem = ModelProblem(element, f": {name} must not be negative, got {value!r}", meaning, way)
            mend(problem, {name: 0.0}, {name: -value})
    _inspect_dry_friction(dof, element, mend)
    for name in ("velocity", "effort"):
        value = getattr(dof, name)
        if value < 0:
            problem = ModelProblem(
                element, f": {name} must not be negative, got {value!r}", NO_LIMIT, f"{-value:g} is taken"
            )
            mend(problem, {name: math.inf}, {name: -value})
    lower, upper = dof.lower, dof.upper
    none = {"lower": -math.inf, "upper": math.inf}
    if math.inf in (lower, -upper):
        message = f": the limits {lower!r} and {upper!r} leave no position; leave out what is no limit"
        mend(ModelProblem(element, message, NO_LIMIT), none, none)
    elif lower > upper:
        message = f": the lower limit {lower!r} is above the upper limit {upper!r}; swap them"
        mend(ModelProblem(element, message, NO_LIMIT, "they are swapped"), none, {"lower": upper, "upper": lower})
    return replace(dof, **changes) if changes else dof


def _inspect_dry_friction(
    dof: Dof, element: str, mend: Callable[[ModelProblem, Mapping[str, float], Mapping[str, float]], None]
) -> None:
    """Problems of dry friction that changes with speed and position."""
    for moving, resting in (("coulomb", "static"), ("coulomb_negative", "static_negative")):
        least, given = getattr(dof, moving), getattr(dof, resting)
        if 0 < given < least:
            problem = ModelProblem(
                element,
                f": {resting}, the friction at rest, is {given!r}, below {moving}, that in motion, {least!r}",
                "It is taken as that in motion; give a larger one, or 0 for the same",
            )
            mend(problem, {resting: 0.0}, {resting: 0.0})
    if dof.stribeck < 0:
        message = f": stribeck, a speed, must not be negative, got {dof.stribeck!r}"
        way = f"{-dof.stribeck:g} is taken"
        mend(ModelProblem(element, message, "It is taken as 0", way), {"stribeck": 0.0}, {"stribeck": -dof.stribeck})
    if dof.stribeck > 0 and not (dof.static or dof.static_negative):
        message = ": stribeck says how friction falls from static to coulomb, and there is no static; give it too"
        mend(ModelProblem(element, message, "It is left out"), {"stribeck": 0.0}, {"stribeck": 0.0})
    if not 0 <= dof.ripple <= 1:
        message = f": ripple, a share of dry friction, must be from 0 to 1, got {dof.ripple!r}"
        mend(
            ModelProblem(element, message, "It is taken as 0: more would drive the joint"),
            {"ripple": 0.0},
            {"ripple": 0.0},
        )


def _inspect_link(link: Link, physics: bool, repair: bool, problems: list[ModelProblem]) -> Link:
    element = f"link {link.name!r}"
    count = len(problems)
    _require_finite(element, "mass", [link.mass], problems)
    _require_finite(element, "center of mass", link.com, problems)
    if _require_finite(element, "inertia", link.inertia.entries(), problems) and len(problems) == count:
        about_origin = link.mass * link.com.dot(link.com) + max(map(abs, link.inertia.entries()))
        _require_finite(element, "inertia about the link's origin", [about_origin], problems)
    if len(problems) > count or not physics:  # the base is not checked: it stands still, and its inertia plays no part
        return link
    wrong = objection(link.mass, link.com, link.inertia)
    if wrong and link.mass < 0:
        way = "it is taken as massless"
        problem = ModelProblem(element, wrong, NO_BODY, way)
        problems.append(problem.mend() if repair else problem)
        return Link(link.name) if repair else link
    if wrong:
        problem = ModelProblem(element, wrong, NO_BODY, "the nearest possible inertia is taken")
        problems.append(problem.mend() if repair else problem)
        return replace(link, inertia=nearest_physical(link.inertia)) if repair else link
    if link.mass == 0 and any(link.inertia.entries()):
        problems.append(ModelProblem(element, "has an inertia but no mass; it is used as given", severity="note"))
    return link


def _inspect_mass_matrix(model: Model, repair: bool, problems: list[ModelProblem]) -> Model:
    """The model, with small rotors on joints that move no mass if these are to be mended."""
    names = idle_joints(model)
    if not names:
        return model
    carried = [joint.child for joint in model.joints if joint.name in names]
    several = len(names) > 1
    inertia = _small_inertia(model, names)
    problem = ModelProblem(
        f"joint{'s' if several else ''} {quoted(names)}",
        f"move{'' if several else 's'} no mass (links {quoted(carried)}), so the mass matrix is singular",
        "Kinematics and inverse dynamics can be used; forward dynamics and simulation cannot, until the link has an "
        "inertia, the joint a rotor, or the joint is locked",
        f"a rotor of {inertia:.3g} kg m^2 (kg where it slides) is added",
    )
    if not repair:
        problems.append(problem)
        return model
    joints = [
        replace(j, dofs=tuple(replace(d, rotor=inertia, gear=1) for d in j.dofs)) if j.name in names else j
        for j in model.joints
    ]
    mended = replace(model, joints=tuple(joints))
    works = not idle_joints(mended)
    problems.append(problem.mend() if works else replace(problem, repair=None))
    return mended if works else model


def _small_inertia(model: Model, idle: Sequence[str]) -> float:
    """A hundredth of the smallest inertia that a joint of the robot moves, to two digits."""
    merged = merge_fixed(model)
    M = np.array(mass_matrix(merged, list(merged.layout.neutral)), dtype=float)
    moved = [M[v.index, v.index] for v in merged.layout.velocities if v.joint not in idle]
    least = min((x for x in moved if x > 0), default=1.0)
    return float(f"{least / 100:.1e}")


def idle_joints(model: Model) -> list[str]:
    """Joints that move nothing, alone or together: they make the mass matrix singular in every configuration."""
    merged = merge_fixed(model)
    if not all(map(_is_finite, merged.links)):
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
        with np.errstate(over="ignore"):
            scaled = M / np.outer(root, root)
        if not np.isfinite(scaled).all():
            raise _too_large(model)
        values, vectors = np.linalg.eigh(scaled)
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

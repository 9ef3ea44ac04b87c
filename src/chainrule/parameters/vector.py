"""Parameters: the numbers of a robot in which its torques are linear, as one vector with names, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule.algorithms.regressor import LINK_NUMBERS, PARTS, SPRING, JointDof, TorqueParameter, axes, parameters
from chainrule.arguments import Array, flag, number, real_array, refuse_nonfinite
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import chosen_parts
from chainrule.core.parameter_values import edited_model
from chainrule.core.validation import RESISTANCES, refuse_impossible_values
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.model import Dof, Link, Model, Spring
from chainrule.model.parameters import is_parameter
from chainrule.spatial import Inertia, Symmetric, Vector
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)
Numbers = Mapping[str, float]
"""New values of the numbers of one link, degree of freedom or spring, by name."""


def parameter_table(robot: Mechanism) -> tuple[TorqueParameter, ...]:
    """The parameters of a robot, each with its part, owner, number, unit and value, in the order of the regressor."""
    return remember(robot, "parameters", lambda: tuple(parameters(robot.model)))


def values(robot: Mechanism) -> Array:
    """The parameters p of the robot, with tau = Y(q, qd, qdd) p and Y = `robot.parameters.regressor`: (p,).

    Of each link that a joint moves: mass (kg), mass times center of mass (kg m), inertia about the origin of the
    link's frame (xx, yy, zz, xy, xz, yz; kg m^2). Then of each degree of freedom: the armature gear^2 J of its rotor;
    viscous and Coulomb friction; stiffness and preload -stiffness rest of its spring, where it has one. Then of springs
    between links. `robot.parameters.names` names them.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> dict(zip(arm.parameters.names, arm.parameters.values.tolist()))["link2.mcx"]
    1.0
    """
    return np.array([parameter.value for parameter in parameter_table(robot)], dtype=float)


def names(robot: Mechanism) -> tuple[str, ...]:
    """The name of each parameter: "forearm.mass", "forearm.mcx", "forearm.Ixx", "elbow.armature", "elbow.viscous"."""
    return tuple(parameter.name for parameter in parameter_table(robot))


def indices(robot: Mechanism, parts: Sequence[str] | None = None) -> tuple[int, ...]:
    """The indices in `robot.parameters.values` of some parts: "links", "rotors", "friction", "springs".

    `robot.parameters.regressor` with the same parts has these columns.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").parameters.indices(["rotors"])
    (20, 21)
    """
    chosen = PARTS if parts is None else chosen_parts(parts)
    return tuple(i for i, parameter in enumerate(parameter_table(robot)) if parameter.part in chosen)


def with_values(
    robot: R,
    values: ArrayLike | Mapping[str, float],
    *,
    parts: Sequence[str] | None = None,
    check: bool = True,
) -> R:
    """A robot with other parameters. Numbers that no robot can have are refused, all at once and by name.

    Parameters
    ----------
    values
        All parameters (p,), in the order of `robot.parameters.names`, or some of them by name. The others stay as they
        are: a new mass alone leaves mass times center of mass, and so moves the center of mass. Other numbers go by the
        words of `robot.at`, and are put in first: "link2.com.x", "gravity.z".
    parts
        The parts that `values` has the parameters of, as of `robot.parameters.indices`; all unless given.
    check
        False accepts masses, inertias and friction that no robot has, as a fit of noisy data may give.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> shifted = arm.parameters.with_values({"link2.mass": 2.0, "joint2.viscous": 0.1})
    >>> shifted.links["link2"].mass, shifted.links["link2"].com.tolist()
    (2.0, [0.5, 0.0, 0.0])
    """
    strict = flag(check, "with_values: check")
    if isinstance(values, Mapping):
        own = {*names(robot)}
        others = {name: value for name, value in values.items() if name not in own and is_parameter(str(name))}
        if others:
            robot = type(robot)(edited_model(robot.model, "with_values", others))
            values = {name: value for name, value in values.items() if name not in others}
    table, chosen = parameter_table(robot), indices(robot, parts)
    new = np.array([parameter.value for parameter in table], dtype=float)
    if isinstance(values, Mapping):
        places = {parameter.name: i for i, parameter in enumerate(table)}
        for name, value in values.items():
            if name not in places:
                raise UnknownNameError.of("parameter", name, places, f"robot {robot.name!r}")
            new[places[name]] = number(value, f"with_values: {name!r}")
    else:
        array = real_array(values, "with_values: values")
        if array.shape != (len(chosen),):
            raise ShapeError(
                f"with_values: values must have shape ({len(chosen)},), one number for each of "
                f"robot.parameters.names, got {array.shape}"
            )
        refuse_nonfinite(array, "with_values: values")
        new[list(chosen)] = array
    changed: dict[tuple[bool, str], dict[str, float]] = {}
    for parameter, value in zip(table, new.tolist(), strict=True):
        if value != parameter.value:
            changed.setdefault((parameter.part == "links", parameter.owner), {})[parameter.number] = value
    model, wrong = _with_numbers(robot.model, changed)
    if strict and wrong:
        raise ModelError(
            f"with_values: robot {robot.name!r}: {'; '.join(wrong)}. Correct these numbers, or accept them with "
            "check=False"
        )
    return type(robot)(model if not strict else refuse_impossible_values(model))


def _with_numbers(model: Model, changed: Mapping[tuple[bool, str], Numbers]) -> tuple[Model, list[str]]:
    """The model with new numbers of links, and of joints and springs, by their names; and what is wrong with them."""
    wrong: list[str] = []
    links = [_link(link, changed.get((True, link.name), {}), wrong) for link in model.links]
    dofs: dict[str, list[Dof]] = {joint.name: list(joint.dofs) for joint in model.joints}
    for axis in axes(model):
        dofs[axis.body.joint.name][axis.k] = _dof(axis, changed.get((False, axis.name), {}), wrong)
    joints = [replace(joint, dofs=tuple(dofs[joint.name])) for joint in model.joints]
    springs = [_spring(spring, changed.get((False, spring.name), {}), wrong) for spring in model.springs]
    return replace(model, links=tuple(links), joints=tuple(joints), springs=tuple(springs)), wrong


def _link(link: Link, new: Numbers, wrong: list[str]) -> Link:
    if not new:
        return link
    I = link.spatial_inertia
    old = dict(zip(LINK_NUMBERS, (I.mass, *I.moment, *I.inertia.entries()), strict=True))
    mass, *rest = (float(x) for x in {**old, **new}.values())
    moment, inertia = Vector(*rest[:3]), Symmetric(*rest[3:])
    if mass == 0 and any(moment):
        raise ModelError(
            f"with_values: link {link.name!r} has no mass, but mass times center of mass {tuple(moment)} kg m; "
            "give it a mass"
        )
    built = Link.from_inertia(link.name, Inertia(mass, moment, inertia))
    objected = objection(built.mass, built.com, built.inertia)
    if objected:
        wrong.append(f"link {link.name!r} {objected}")
    return built


def _dof(axis: JointDof, new: Numbers, wrong: list[str]) -> Dof:
    dof, name = axis.dof, axis.name
    wanted: dict[str, Any] = {key: value for key, value in new.items() if not key.startswith(SPRING)}
    if wanted.pop("friction_function", 1) != 1:
        raise ModelError(
            f"with_values: '{name}.friction_function' must stay 1: a friction function has no numbers to change; "
            "give another one with robot.edit(joints=...)"
        )
    negative = [key for key in (*RESISTANCES, "armature") if wanted.get(key, 0) < 0]
    wrong += [f"'{name}.{key}' is negative, {wanted[key]:g}" for key in negative]
    if "armature" in wanted:
        if dof.gear == 0:
            raise ModelError(f"with_values: '{name}.armature': the gear of joint {axis.body.joint.name!r} is 0")
        wanted["rotor"] = wanted.pop("armature") / float(dof.gear * dof.gear)
    if axis.has_coordinate and not wanted.keys().isdisjoint(("stiffness", "preload")):
        preload = wanted.pop("preload", -dof.stiffness * dof.rest)
        stiffness = wanted.get("stiffness", dof.stiffness)
        if stiffness == 0 and preload:
            raise ModelError(f"with_values: '{name}.preload' is {preload:g}, but the spring has no stiffness")
        wanted["rest"] = -preload / stiffness if stiffness else 0.0
    return replace(dof, **wanted) if wanted else dof


def _spring(spring: Spring, new: Numbers, wrong: list[str]) -> Spring:
    wanted: dict[str, Any] = {key.removeprefix(SPRING): value for key, value in new.items() if key.startswith(SPRING)}
    negative = [key for key in ("stiffness", "damping") if wanted.get(key, 0) < 0]
    wrong += [f"'{spring.name}.{SPRING}{key}' is negative, {wanted[key]:g}" for key in negative]
    if not wanted:
        return spring
    stiffness = wanted.get("stiffness", spring.stiffness)
    preload = wanted.pop("preload", spring.force - spring.stiffness * spring.rest_length)
    return replace(spring, **wanted, force=preload + stiffness * spring.rest_length)

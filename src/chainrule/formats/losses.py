"""Models made so that URDF, MJCF or SDF can express them, and a list of what is lost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from chainrule.errors import FormatError, quoted
from chainrule.model import GRAVITY, Dof, Mesh, Model
from chainrule.model.edits import map_dofs

PRACTICALLY_UNLIMITED = 1e9
"""A limit (rad or m) in place of none, where URDF wants one on both sides."""


def without_inexpressible(model: Model, form: str = "urdf") -> tuple[Model, list[str]]:
    """The model without what a format has no element for, and a sentence for each thing that is lost."""
    lost: list[str] = []
    if model.constraints:
        lost.append(f"loops are open: {quoted(constraint.name for constraint in model.constraints)} are left out")
        model = replace(model, constraints=())
    if model.springs:
        lost.append(f"springs between links are left out: {quoted(spring.name for spring in model.springs)}")
        model = replace(model, springs=())
    for what, (test, change, sentence) in CHANGES.items():
        if what in HOLDS[form]:
            continue
        names = [joint.name for joint in model.joints if any(test(dof) for dof in joint.dofs)]
        if names:
            lost.append(f"{sentence}: joints {quoted(names)}")
            model = map_dofs(model, lambda dof, test=test, change=change: change(dof) if test(dof) else dof)  # type: ignore[misc]
    if model.configurations:
        lost.append(f"named configurations are left out: {quoted(entry.name for entry in model.configurations)}")
    base = model.links[0]
    seen = any(geometry.link == base.name for geometry in model.geometries)
    if form != "urdf" and (base.mass or (seen and form == "sdf")):
        lost.append(f"the base {base.name!r} becomes the world, without mass" + " and geometry" * (form == "sdf"))
    if model.end_effector is not None and _tips_in_urdf(model) != {model.end_effector}:
        lost.append(f"that the end-effector is {model.end_effector!r}")
    if model.gravity != GRAVITY and "gravity" not in HOLDS[form]:
        lost.append(f"gravity, here ({', '.join(f'{x:g}' for x in model.gravity)}) m/s^2")
        model = replace(model, gravity=GRAVITY)
    if form == "mjcf":
        meshes = [geometry.link for geometry in model.geometries if isinstance(geometry.shape, Mesh)]
        lost += [f"meshes are left out, on {quoted(dict.fromkeys(meshes))}"] if meshes else []
        model = replace(model, geometries=tuple(g for g in model.geometries if not isinstance(g.shape, Mesh)))
    return model, lost


def refuse_losses(model: Model, form: str) -> None:
    """Raise where a format cannot express all of a model."""
    changed, lost = without_inexpressible(model, form)
    if changed != model:
        raise FormatError(
            f"robot {model.name!r}: {form.upper()} cannot hold all of it: {'; '.join(lost)}. Save it in chainrule's "
            "own format (.toml), or with lossy=True"
        )


def _tips_in_urdf(model: Model) -> set[str]:
    """The links that carry no other where frames are links."""
    return (set(model.tips) - {frame.link for frame in model.frames}) | {frame.name for frame in model.frames}


def _is_one_sided(dof: Dof) -> bool:
    return math.isfinite(dof.lower) != math.isfinite(dof.upper)


def _with_both_sides(dof: Dof) -> Dof:
    return replace(dof, lower=max(dof.lower, -PRACTICALLY_UNLIMITED), upper=min(dof.upper, PRACTICALLY_UNLIMITED))


def _with_equal_friction(dof: Dof) -> Dof:
    larger = max(dof.coulomb, dof.coulomb_negative)
    return replace(dof, coulomb=larger, coulomb_negative=larger)


CHANGES: dict[str, tuple[Callable[[Dof], bool], Callable[[Dof], Dof], str]] = {
    "rotors": (lambda dof: bool(dof.rotor), lambda dof: replace(dof, rotor=0, gear=1),
     "rotors (armature) are left out"),
    "springs": (lambda dof: bool(dof.stiffness), lambda dof: replace(dof, stiffness=0, rest=0), "springs are left out"),
    "friction at rest": (lambda dof: bool(dof.static or dof.static_negative or dof.stribeck or dof.ripple),
     lambda dof: replace(dof, static=0, static_negative=0, stribeck=0, ripple=0, ripple_waves=0, ripple_phase=0),
     "friction at rest is that in motion, without Stribeck effect and ripple"),
    "functions": (lambda dof: dof.friction_function is not None, lambda dof: replace(dof, friction_function=None),
     "friction functions, which are Python code, are left out"),
    "direction": (lambda dof: dof.coulomb != dof.coulomb_negative, _with_equal_friction,
     "friction that differs with direction becomes the larger, both ways"),
    "one side": (_is_one_sided, _with_both_sides,
     f"a limit on one side gets one of {PRACTICALLY_UNLIMITED:g} on the other"),
    "speed": (lambda dof: math.isfinite(dof.velocity), lambda dof: replace(dof, velocity=math.inf),
     "limits of speed are left out"),
    "passive": (lambda dof: dof.passive, lambda dof: replace(dof, effort=math.inf), "that nothing drives them"),
}  # fmt: skip
"""Properties that a format may not express, what is made of them, and how that is told."""

HOLDS = {
    "urdf": ("speed", "passive"),
    "mjcf": ("rotors", "springs", "gravity"),
    "sdf": ("springs", "one side", "speed", "passive"),
}
"""What each format does hold of these."""

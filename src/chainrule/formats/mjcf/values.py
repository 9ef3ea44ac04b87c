"""The values that attributes of MJCF take: numbers, how many of them, and words.

What is used is read and checked where it is used; here stands what is checked of everything else, so that a file which
MuJoCo refuses is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from chainrule.formats.mjcf.defaults import ORIENTATIONS
from chainrule.formats.mjcf.document import Document
from chainrule.formats.xml import Node


@dataclass(frozen=True)
class Numbers:
    """An attribute of `least` to `most` numbers."""

    least: int
    most: float
    are_whole: bool = False

    def objection(self, value: str) -> str | None:
        """The numbers that a value should be, or None if it is."""
        words = value.split()
        try:
            if not value.isascii() or "_" in value:
                raise ValueError
            numbers = [int(word) if self.are_whole else float(word) for word in words]
            too_large = any(math.isinf(x) and "inf" not in word.lower() for x, word in zip(numbers, words, strict=True))
        except (ValueError, OverflowError):
            too_large = True
        if not too_large and self.least <= len(words) <= self.most:
            return None
        kind = "whole number" if self.are_whole else "number"
        if self.least == self.most == 1:
            return f"one {kind}"
        many = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"{many} {kind}s separated by spaces"


@dataclass(frozen=True)
class Words:
    """An attribute that is one of some words."""

    choices: tuple[str, ...]

    def objection(self, value: str) -> str | None:
        """The words that a value should be one of, or None if it is."""
        return None if value in self.choices else f"one of {', '.join(self.choices)}"


NUMBERS = {
    Numbers(1, 1, True): (
        "actdim ccd_iterations conaffinity condim contype group iterations ls_iterations noslip_iterations nsample "
        "priority sdf_initpoints sdf_iterations"
    ),
    Numbers(1, math.inf, True): "actuatorgroupdisable",
    Numbers(2, 2, True): "inertiagrouprange resolution",
    Numbers(1, 1): (
        "accel adhesion area armature boundinertia boundmass bulbradius ccd_tolerance coef cranklength cutoff "
        "dampratio delay density diameter divisor exponent fitscale force fovy fpmax frictionloss fvmax gain gap "
        "gravcomp imax impratio inheritrange intensity interval inttotal ipd ki kp kv lmax lmin ls_tolerance margin "
        "mass massscale maxforce noslip_tolerance o_margin light.range ref resistance muscle.scale frame.scale "
        "settotalmass sleep_tolerance slewmax softness solmix material.specular springref springyield tausmooth "
        "timeconst timestep tolerance tolrange torquescale viscosity vmax width"
    ),
    Numbers(1, 2): "inductance motorconst o_solref solref solreffriction solreflimit springlength",
    Numbers(1, 3): "cogging damping friction nominal saturation size stiffness",
    Numbers(1, 5): "fluidcoef pair.friction lugre o_friction o_solimp polycoef solimp solimpfriction solimplimit",
    Numbers(1, 6): "controller gear surfacevel thermal",
    Numbers(1, 10): "biasprm dynprm gainprm",
    Numbers(1, math.inf): "user",
    Numbers(2, 2): (
        "actrange actuatorfrcrange ctrlrange ffrange focal focalpixel forcerange lengthrange posrange principal "
        "principalpixel range sensorsize springdamper muscle.timeconst velrange"
    ),
    Numbers(3, 3): (
        "ambient anchor attenuation axis bias diaginertia diffuse dir euler gravity magnetic pos light.specular wind "
        "zaxis"
    ),
    Numbers(4, 4): "axisangle quat rgba",
    Numbers(6, 6): "fromto fullinertia xyaxes",
    Numbers(7, 7): "relpose",
}
"""Attributes that are numbers; where only one element has it so, the element's tag comes before."""

WORDS = {
    "true false": (
        "actearly active actuatorgravcomp alignfree autolimits balanceinertia castshadow directional discardvisual "
        "fitaabb fusestatic mocap savecanonical savecompiled saveinertial shellinertia strippath useexisting uselimit "
        "usethread"
    ),
    "true false auto": ("actlimited actuatorfrclimited align ctrllimited forcelimited inertiafromgeom limited"),
    "enable disable": (
        "flag.actuation flag.autoreset flag.clampctrl flag.constraint flag.contact flag.damper flag.diagexact "
        "flag.energy flag.equality flag.eulerdamp flag.filterparent flag.frictionloss flag.fwdinv flag.gravity "
        "flag.invdiscrete flag.ipc flag.island flag.limit flag.midphase flag.multiccd flag.nativeccd flag.override "
        "flag.refsafe flag.sensor flag.sleep flag.speculative flag.spring flag.warmstart"
    ),
    "radian degree": "compiler.angle",
    "local global": "compiler.coordinate",
    "warning merge error": "compiler.conflict",
    "Euler RK4 implicit implicitfast discrete": "option.integrator",
    "pyramidal elliptic": "option.cone",
    "dense sparse auto": "option.jacobian",
    "PGS CG Newton": "option.solver",
    "free ball slide hinge": "joint.type",
    "plane hfield sphere capsule ellipsoid cylinder box mesh sdf": "geom.type",
    "sphere capsule ellipsoid cylinder box mesh": "site.type",
    "spot directional point image": "light.type",
    "none ellipsoid": "fluidshape",
    "zoh linear cubic": "interp",
    "fixed track trackcom targetbody targetbodycom": "camera.mode light.mode",
    "perspective orthographic": "projection",
    "auto never allowed init": "body.sleep",
    "false auto": "fuse simple",
}
"""Attributes that are one of some words; where only one element has it so, the element's tag comes before."""

SECTIONS = ("compiler", "option", "default", "worldbody", "contact", "equality", "tendon", "actuator")
"""Sections whose values are checked; the others play no part in the motion."""


def refuse_values(document: Document) -> None:
    """An error at the first attribute whose value MuJoCo could not read."""
    for section in SECTIONS:
        waiting = [*document.sections(section)]
        while waiting:
            node = waiting.pop()
            _refuse(node)
            waiting += document.children(node)


def _refuse(node: Node) -> None:
    turns = [key for key in ORIENTATIONS if node.get(key) is not None]
    if len(turns) > 1:
        raise node.error(f"gives its orientation as {' and as '.join(turns)}; keep one")
    for key in map(str, node.element.attrib):
        form = FORMS.get(f"{node.tag}.{key}") or FORMS.get(key)
        value = (node.get(key) or "").strip()
        is_missing = not value and isinstance(form, Numbers)  # numbers that are not given stand as an empty text
        expected = form.objection(value) if form and not is_missing else None
        if expected:
            raise node.error(f"{key}={value[:60]!r} should be {expected}")


def _forms() -> Mapping[str, Numbers | Words]:
    forms: dict[str, Numbers | Words] = {}
    for numbers, attributes in NUMBERS.items():
        forms |= dict.fromkeys(attributes.split(), numbers)
    for choices, attributes in WORDS.items():
        forms |= dict.fromkeys(attributes.split(), Words(tuple(choices.split())))
    return forms


FORMS = _forms()
"""The form of each attribute, by its name or by its element's tag and its name."""

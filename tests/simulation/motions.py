"""Robots and lists of integrators that several of these tests share."""

from __future__ import annotations

import numpy as np
from trees import KINDS

import chainrule as cr
from chainrule.model import Joint, Link, Model, Screw
from chainrule.simulation.integrators import INTEGRATORS, AdaptiveStep, FixedStep
from chainrule.spatial import Symmetric, Vector

FIXED = tuple(name for name, kind in INTEGRATORS.items() if issubclass(kind, FixedStep))
ADAPTIVE = tuple(name for name, kind in INTEGRATORS.items() if issubclass(kind, AdaptiveStep))
ALL = FIXED + ADAPTIVE

ARM = cr.load("planar_2r")
START = [1.0, 0.5]


def with_tolerances(method, rtol, atol=1e-12, dt=1e-3):
    """An integrator by its name; those with fixed steps have no tolerances."""
    tolerances = {"rtol": rtol, "atol": atol} if method in ADAPTIVE else {}
    return INTEGRATORS[method](dt=dt, **tolerances)


def kinds_of(seed):
    """A third of the joint kinds for each of the seeds 0, 1 and 2, and all of them for 3."""
    return KINDS[seed::3] if seed < 3 else KINDS


def body(kind, mass=2.0, com=(0.0, 0.0, 0.0), inertia=(0.1, 0.2, 0.35), gravity=(0.0, 0.0, -9.81)):
    """One rigid body on one joint."""
    link = Link("body", mass, Vector(*com), Symmetric(*inertia, 0.0, 0.0, 0.0))
    return cr.Robot(
        Model.build("body", [Link("base"), link], [Joint("joint", "base", "body", kind)], gravity=Vector(*gravity))
    )


def block(angle, friction):
    """A block of 2 kg on a slope."""
    gravity = Vector(-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
    link = Link("block", 2.0)
    joint = Joint("slide", "ground", "block", Screw.prismatic(Vector(1, 0, 0)))
    robot = cr.Robot(Model.build("slope", [Link("ground"), link], [joint], gravity=gravity))
    return robot.edit(joints={"*": {"coulomb": friction}})

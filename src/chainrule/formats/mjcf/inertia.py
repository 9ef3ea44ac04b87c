"""Inertias of MJCF bodies: from <inertial> or from geoms, within the bounds that the compiler sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chainrule.formats.mjcf.defaults import ORIENTATIONS
from chainrule.formats.mjcf.geoms import Geoms
from chainrule.formats.mjcf.settings import Settings
from chainrule.formats.xml import Node
from chainrule.model import Link
from chainrule.spatial import Inertia, Symmetric, Transform, Vector
from chainrule.spatial.physical import principal_axes

MOMENT_TOLERANCE = 1e-12
"""Relative rounding error of computed principal moments."""

MIN_MASS = 1e-14
"""Mass (kg) below which the geoms of a body count as none."""

PosedNode = tuple[Node, Transform]
"""An element, and the frames between it and its body."""


def link_of(
    body: Node, name: str, inertial: PosedNode | None, geoms: Sequence[PosedNode], weigh: Geoms, settings: Settings
) -> Link:
    """The body as a link in its own frame.

    Geoms weigh where there is no <inertial>; with inertiafromgeom="true" even where there is one, unless all of
    them are massless; with "false", never. MuJoCo puts the least mass of a body that has no other at the body's own
    `pos`, read in the body's frame.
    """
    mode = settings.inertia_from_geoms
    total = Inertia.zero()
    if mode == "true" or (mode == "auto" and inertial is None):
        for geom, T in geoms:
            if weigh.counts(geom):
                total = total + T * weigh.inertia(geom)
    link = Link.from_inertia(name, total)
    if inertial is not None and not total.mass > 0:
        link = _link_from_inertial(name, *inertial, settings)
    elif total.mass < MIN_MASS and settings.least_mass > 0:
        link = Link(name, total.mass, Vector(*body.vector("pos", 3, (0.0, 0.0, 0.0))))
    return _apply_bounds(link, settings)


def _link_from_inertial(name: str, node: Node, T: Transform, settings: Settings) -> Link:
    node.vector("pos", 3)
    T = T * settings.pose(node)
    mass = node.number("mass")
    diagonal, full = node.numbers("diaginertia"), node.numbers("fullinertia")
    if mass < 0:
        raise node.error(f"has a negative mass, {mass:g} kg")
    if diagonal is not None and full is not None:
        raise node.error("gives both diaginertia and fullinertia; keep one")
    if full is not None:
        if any(node.get(key) is not None for key in ORIENTATIONS):
            raise node.error("gives both fullinertia and an orientation; fullinertia is in the body's axes")
        return Link(name, mass, T.translation, Symmetric(*node.vector("fullinertia", 6)).rotate(T.rotation))
    xx, yy, zz = node.vector("diaginertia", 3)
    return Link(name, mass, T.translation, Symmetric(xx, yy, zz).rotate(T.rotation))


def _apply_bounds(link: Link, settings: Settings) -> Link:
    """The link with boundmass, boundinertia and balanceinertia applied."""
    link = replace(link, mass=max(link.mass, settings.least_mass))
    if not settings.least_inertia and not settings.balance:
        return link
    moments, axes = principal_axes(link.inertia)
    bounded = np.maximum(moments, settings.least_inertia)
    smallest, middle, largest = np.sort(bounded)
    if settings.balance and smallest + middle < largest * (1 - MOMENT_TOLERANCE):
        bounded = np.full(3, bounded.mean())
    if (bounded == moments).all():
        return link
    return replace(link, inertia=Symmetric(*(float(x) for x in bounded)).rotate(axes))


def scale_to_total(links: Sequence[Link], total: float) -> list[Link]:
    """Links with all masses and inertias times one factor, so that the masses sum to `total`, if that is positive."""
    mass = sum(link.mass for link in links)
    if not total > 0 or not mass > 0:
        return list(links)
    factor = total / mass
    return [replace(link, mass=link.mass * factor, inertia=link.inertia.scale(factor)) for link in links]


def world() -> Link:
    """The base link; its geoms have no mass."""
    return Link("world", 0.0, Vector(0.0, 0.0, 0.0))

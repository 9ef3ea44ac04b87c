"""Inertias of MJCF bodies: stated, or inferred from geoms, and then bounded as the compiler is told."""

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
from chainrule.spatial.physical import principal

ROUNDING = 1e-12
"""What principal moments may be off by, relatively, after they were computed."""

Placed = tuple[Node, Transform]
"""An element, and the frames between it and its body."""


def link_of(name: str, inertial: Placed | None, geoms: Sequence[Placed], weigh: Geoms, settings: Settings) -> Link:
    """The body as a link in its own frame.

    Geoms weigh where there is no <inertial>; with inertiafromgeom="true" even where there is one, unless all of
    them are massless; with "false", never.
    """
    mode = settings.inertia_from_geoms
    total = Inertia.zero()
    if mode == "true" or (mode == "auto" and inertial is None):
        for geom, T in geoms:
            if weigh.counts(geom):
                total = total + T * weigh.inertia(geom)
    link = Link.from_inertia(name, total)
    if inertial is not None and not total.mass > 0:
        link = _stated(name, *inertial, settings)
    return _bounded(link, settings)


def _stated(name: str, node: Node, T: Transform, settings: Settings) -> Link:
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
        return Link(name, mass, T.translation, Symmetric(*node.vector("fullinertia", 6)).rotated(T.rotation))
    xx, yy, zz = node.vector("diaginertia", 3)
    return Link(name, mass, T.translation, Symmetric(xx, yy, zz).rotated(T.rotation))


def _bounded(link: Link, settings: Settings) -> Link:
    """boundmass and boundinertia raise what is smaller; balanceinertia evens out what no real body could have."""
    link = replace(link, mass=max(link.mass, settings.least_mass))
    if not settings.least_inertia and not settings.balance:
        return link
    moments, axes = principal(link.inertia)
    bounded = np.maximum(moments, settings.least_inertia)
    smallest, middle, largest = np.sort(bounded)
    if settings.balance and smallest + middle < largest * (1 - ROUNDING):
        bounded = np.full(3, bounded.mean())
    if (bounded == moments).all():
        return link
    return replace(link, inertia=Symmetric(*(float(x) for x in bounded)).rotated(axes))


def scaled_to(links: Sequence[Link], total: float) -> list[Link]:
    """All masses and inertias by one factor, so that the masses sum to `total`; as they are if it is not positive."""
    mass = sum(link.mass for link in links)
    if not total > 0 or not mass > 0:
        return list(links)
    factor = total / mass
    return [replace(link, mass=link.mass * factor, inertia=link.inertia.scaled(factor)) for link in links]


def world() -> Link:
    """The base: its geoms weigh nothing."""
    return Link("world", 0.0, Vector(0.0, 0.0, 0.0))

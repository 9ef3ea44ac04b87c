"""Wrenches that the world applies to links and frames, gathered on the links that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chainrule.model import Model
from chainrule.spatial import Force, Scalar

Wrenches = Mapping[int, Force]
"""Wrenches that the world applies to links, by link index, each in its link's frame."""


def on_links(model: Model, names: Iterable[str], wrenches: Iterable[Sequence[Scalar]]) -> dict[int, Force]:
    """Sum of the wrenches on each link, for wrenches (moment, force) on named links or frames, each in its frame.

    >>> import chainrule as cr
    >>> on_links(cr.load("planar_2r").model, ["link2", "link2"], [[0, 0, 1, 2, 0, 0], [0, 0, 0, 3, 0, 0]])[2].force
    Vector(x=5, y=0, z=0)
    """
    total: dict[int, Force] = {}
    for name, wrench in zip(names, wrenches, strict=True):
        index, offset = model.locate(name)
        total[index] = total.get(index, Force.zero()) + offset * Force.of(wrench)
    return total


def add(first: Wrenches | None, second: Wrenches) -> dict[int, Force]:
    """Sum of two sets of wrenches on links."""
    total = dict(first or {})
    for index, wrench in second.items():
        total[index] = total.get(index, Force.zero()) + wrench
    return total

"""Wrenches that the world applies to links and frames, gathered on the links that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chainrule.algorithms.kinematics import pose
from chainrule.model import Model
from chainrule.spatial import Force, Scalar

Wrenches = Mapping[int, Force]
"""Wrenches that the world applies to links, by link index, each in its link's frame."""


WRENCH_FRAMES = ("body", "world")
"""Axes in which a wrench on a link or frame is given: that frame's own, or the base's. Its moment is about the frame's
origin in both."""


def on_links(
    model: Model,
    names: Iterable[str],
    wrenches: Iterable[Sequence[Scalar]],
    q: Sequence[Scalar] = (),
    frame: str = "body",
) -> dict[int, Force]:
    """Sum of the wrenches on each link, in its frame, for wrenches (moment, force) on named links or frames.

    Each wrench is in its own frame's axes, or with "world" in base axes, and its moment is about that frame's origin.

    >>> import chainrule as cr
    >>> on_links(cr.load("planar_2r").model, ["link2", "link2"], [[0, 0, 1, 2, 0, 0], [0, 0, 0, 3, 0, 0]])[2].force
    Vector(x=5, y=0, z=0)
    """
    total: dict[int, Force] = {}
    for name, wrench in zip(names, wrenches, strict=True):
        index, offset = model.locate(name)
        F = Force.of(wrench)
        if frame == "world":
            into_frame = pose(model, q, name).rotation.inv
            F = Force(into_frame * F.moment, into_frame * F.force)
        total[index] = total.get(index, Force.zero()) + offset * F
    return total


def add(first: Wrenches | None, second: Wrenches) -> dict[int, Force]:
    """Sum of two sets of wrenches on links."""
    total = dict(first or {})
    for index, wrench in second.items():
        total[index] = total.get(index, Force.zero()) + wrench
    return total

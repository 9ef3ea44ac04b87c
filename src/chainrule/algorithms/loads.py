"""Wrenches that the world applies to links and frames, gathered on the links that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chainrule.algorithms.coriolis import BodyCoriolis
from chainrule.algorithms.kinematics import pose
from chainrule.model import Model
from chainrule.spatial import Matrix, Scalar, Transform, Wrench

Wrenches = Mapping[int, Wrench]
"""Wrenches that the world applies to links, by link index, each in its link's frame."""

Turning = Mapping[int, BodyCoriolis]
"""Wrenches with the axes of the base, by link index: see `fixed_in_base`."""

WRENCH_FRAMES = ("world", "body", "space")
"""Frames in which a wrench on a link or frame is given: "world", in base axes, its moment about the frame's origin;
"body", in the frame's own axes; "space", in base axes, its moment about the base's origin."""


def on_links(
    model: Model,
    names: Iterable[str],
    wrenches: Iterable[Sequence[Scalar]],
    q: Sequence[Scalar] = (),
    frame: str = "world",
) -> dict[int, Wrench]:
    """Sum of the wrenches on each link, in its frame, for wrenches (moment, force) on named links or frames.

    >>> import chainrule as cr
    >>> model = cr.load("planar_2r").model
    >>> on_links(model, ["link2", "link2"], [[0, 0, 1, 2, 0, 0], [0, 0, 0, 3, 0, 0]], frame="body")[2].force
    Vector(x=5, y=0, z=0)
    """
    total: dict[int, Wrench] = {}
    for name, wrench in zip(names, wrenches, strict=True):
        index, offset = model.locate(name)
        F = into_frame(model, q, name, Wrench.of(wrench), frame)
        total[index] = total.get(index, Wrench.zero()) + offset * F
    return total


def into_frame(model: Model, q: Sequence[Scalar], name: str, F: Wrench, frame: str) -> Wrench:
    """A wrench that is given in a frame of `WRENCH_FRAMES`, in the axes of a link or frame, at its origin."""
    if frame == "body":
        return F
    T = pose(model, q, name)
    if frame == "space":
        return T.inv * F
    R = T.rotation.inv
    return Wrench(R * F.moment, R * F.force)


def out_of_frame(T: Transform, F: Wrench, frame: str) -> Wrench:
    """A wrench in the axes of a frame with the pose T, at its origin, in a frame of `WRENCH_FRAMES`."""
    if frame == "body":
        return F
    return T * F if frame == "space" else Wrench(T.rotation * F.moment, T.rotation * F.force)


def fixed_in_base(
    model: Model, names: Iterable[str], wrenches: Iterable[Sequence[Scalar]], q: Sequence[Scalar]
) -> dict[int, BodyCoriolis]:
    """Wrenches with the axes of the base, by link index, as what their links turn away from: E.

    As a link turns by w, a wrench (m, f) at the point p that turned along would change by E w: by w x f at p, which
    is what B gives for a body with the momentum f at p, and by w x m.
    """
    total: dict[int, BodyCoriolis] = {}
    for name, wrench in zip(names, wrenches, strict=True):
        index, offset = model.locate(name)
        F = into_frame(model, q, name, Wrench.of(wrench), "world")
        m, f = offset.rotation * F.moment, offset.rotation * F.force
        E = BodyCoriolis(f, Matrix.outer(f, offset.translation) + m.skew())
        total[index] = total[index] + E if index in total else E
    return total


def add(first: Wrenches | None, second: Wrenches) -> dict[int, Wrench]:
    """Sum of two sets of wrenches on links."""
    total = dict(first or {})
    for index, wrench in second.items():
        total[index] = total.get(index, Wrench.zero()) + wrench
    return total

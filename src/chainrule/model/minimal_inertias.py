"""Inertias that need the same torques with fewer numbers: what a joint cannot move is counted with its parent.

Points on the axis of a turning joint move as the parent does, so that masses on the axis may belong to either. All
mass, the first moment along the axis and one of the second moments are moved to the parent this way; of a sliding
link, the whole inertia matrix, which turns with the parent. What ends on the base moves nothing. (Gautier & Khalil,
"Direct calculation of minimum set of inertial parameters of serial robots", 1990.) The results are no inertias of
bodies, for mass and inertia may be negative, but the torques that all joints need are the same.
"""

from __future__ import annotations

from chainrule.model.joints import Screw
from chainrule.model.model import Body, Model
from chainrule.spatial import Inertia, Matrix, Scalar, Symmetric, Vector
from chainrule.spatial.scalar import is_zero


def minimal_inertias(model: Model) -> list[Inertia]:
    """Spatial inertias of all links, by index; those of links with numbers of their own that are symbols stay."""
    I = [Inertia.zero(), *(body.link.spatial_inertia for body in model.bodies)]
    if not all(_is_plain(body, I[body.index]) for body in model.bodies):
        return I
    for body in reversed(model.bodies):
        kept, moved = _split(body.joint.kind, I[body.index])
        if moved is not None:
            I[body.index] = kept
            I[body.parent] = I[body.parent] + body.joint.origin * moved
    return I


def _is_plain(body: Body, I: Inertia) -> bool:
    """Whether the numbers of a body are plain ones."""
    origin = body.joint.origin
    numbers = [
        I.mass,
        *I.moment,
        *I.inertia.entries(),
        *origin.translation,
        *(x for row in origin.rotation for x in row),
    ]
    return all(isinstance(x, (int, float)) for x in numbers)


def _split(kind: object, I: Inertia) -> tuple[Inertia, Inertia | None]:
    """The part of an inertia that stays with a link, and the part that moves with the parent as well."""
    if not isinstance(kind, Screw):
        return I, None
    w, v = kind.angular, kind.linear
    if not kind.turns:
        return Inertia(I.mass, I.moment, Symmetric.zero()), Inertia(0, Vector.zero(), I.inertia)
    if not is_zero(w.dot(v)):
        return I, None
    square = w.dot(w)
    u, p = w / w.norm(), w.cross(v) / square
    on_axis = _on_axis(u, p, I.mass, I.moment.dot(u), _second_moment_along(u, I.inertia))
    rest = Inertia(0, _without(u, I.moment - p * I.mass), I.inertia - on_axis.inertia)
    return rest, on_axis


def _second_moment_along(u: Vector, I: Symmetric) -> Scalar:
    """The integral of (r . u)^2 dm."""
    return I.trace() / 2 - u.dot(I * u)


def _on_axis(u: Vector, p: Vector, mass: Scalar, first: Scalar, second: Scalar) -> Inertia:
    """Masses on the line through p, which is perpendicular to u, along u: with these moments along it."""
    moments = Symmetric.outer(p, mass) + Symmetric.outer(u, second)
    mixed = (Matrix.outer(p, u) + Matrix.outer(u, p)).table()
    moments = moments + Symmetric.of(mixed).scale(first)
    return Inertia(mass, p * mass + u * first, Symmetric.scaled_identity(moments.trace()) - moments)


def _without(u: Vector, h: Vector) -> Vector:
    """The part of a vector that is perpendicular to u, exactly zero along an axis of the frame."""
    rest = h - u * u.dot(h)
    return Vector(*(0 if abs(along) == 1 else x for along, x in zip(u, rest, strict=True)))

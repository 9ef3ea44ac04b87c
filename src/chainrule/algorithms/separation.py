"""Signed distances of solid bodies: how far apart two of them are, or, negative, how deep one is in the other.

The distance of convex bodies A and B is the largest over all unit vectors n of s(n) = min n.b - max n.a, the gap that n
sees between them, whether they are apart (s > 0) or overlap (s < 0). So each direction gives a lower bound.

There are closed forms for a ball with a ball, capsule, box or cylinder; for two capsules; for a capsule with a box; and
for anything with a half-space. All other pairs take the best of a number of directions: those of faces and edges, and
those of `ITERATIONS` steps of the algorithm of Gilbert, Johnson and Keerthi. What they give is never more than the
distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chainrule.algorithms.solids import (
    TINY,
    Balls,
    ConvexSolid,
    HalfSpace,
    Solid,
    SolidBox,
    SolidCapsule,
    SolidCylinder,
    SolidEllipsoid,
    SolidHull,
    choose,
    length,
)  # fmt: skip
from chainrule.spatial import Scalar, Vector
from chainrule.spatial.scalar import maximum, sqrt, where

ITERATIONS, CURVED_ITERATIONS = 12, 20
"""Steps of GJK: as many as boxes and hulls ever took, and for cylinders and ellipsoids, which get ever nearer: of
30,000 random pairs of half a meter the worst was 0.02 mm too near."""


@dataclass(frozen=True)
class Separation:
    """The signed distance in m, the nearest points of both bodies, and the unit normal from the first to the second."""

    distance: Scalar
    point_a: Vector
    point_b: Vector
    normal: Vector

    def exchange(self) -> Separation:
        """The same with the bodies exchanged."""
        return Separation(self.distance, self.point_b, self.point_a, -self.normal)

    def or_nearer(self, other: Separation) -> Separation:
        """The smaller of two distances."""
        nearer = other.distance < self.distance
        return Separation(
            where(nearer, other.distance, self.distance),
            choose(nearer, other.point_a, self.point_a),
            choose(nearer, other.point_b, self.point_b),
            choose(nearer, other.normal, self.normal),
        )


def separation(a: Solid, b: Solid) -> Separation:
    """The signed distance of two bodies, with nearest points and normal."""
    if isinstance(a, Balls) and isinstance(b, Balls):
        return of_balls(a, b)
    if isinstance(a, Balls):
        return nearest_of([of_ball(p, r, b) for p, r in zip(a.centers, a.radii, strict=True)])
    if (
        isinstance(b, Balls)
        or isinstance(a, HalfSpace)
        or (isinstance(b, SolidCapsule) and not isinstance(a, SolidCapsule))
    ):
        return separation(b, a).exchange()
    if isinstance(b, HalfSpace):
        point, height = a.lowest(b.normal)
        return from_plane(point, height, b)
    if isinstance(a, SolidCapsule):
        if isinstance(b, SolidCapsule):
            return of_lines(a, b)
        if type(b) is SolidBox:
            return of_line_and_box(a, b)
    return of_convex(a, b)


def nearest_of(found: Sequence[Separation]) -> Separation:
    """The smallest of several distances."""
    best, *others = found
    for other in others:
        best = best.or_nearer(other)
    return best


def of_ball(p: Vector, r: Scalar, b: Solid) -> Separation:
    """The distance of a ball from a body."""
    if isinstance(b, HalfSpace):
        return from_plane(p - b.normal * r, p.dot(b.normal) - r, b)
    if isinstance(b, SolidCapsule):
        return of_points(p, r, b.start + b.along * clamp((p - b.start).dot(b.along) * b.inverse), b.radius)
    if type(b) is SolidBox:
        return of_ball_and_box(p, r, b)
    if isinstance(b, SolidCylinder):
        return of_ball_and_cylinder(p, r, b)
    return of_convex(Balls((p,), (r,)), b)


def of_balls(a: Balls, b: Balls) -> Separation:
    """The distance of two clusters of balls: of those with the same radii, the nearest centers are looked for first."""
    groups: dict[Any, list[tuple[Scalar, Scalar, Vector, Vector]]] = {}
    origin = a.centers[0]  # |q - p|^2 = p.p + q.q - 2 p.q, of places about one of them, where that loses no digits
    for p, r in zip((p - origin for p in a.centers), a.radii, strict=True):
        for q, s in zip((q - origin for q in b.centers), b.radii, strict=True):
            known = isinstance(r, (int, float)) and isinstance(s, (int, float))
            groups.setdefault((r, s) if known else (id(r), id(s)), []).append((r, s, p, q))
    found = []
    for pairs in groups.values():
        r, s, near_p, near_q = pairs[0]
        least = square(near_p) + (square(near_q) - near_p.dot(near_q * 2))
        for *_, p, q in pairs[1:]:
            gain = least - (square(p) + (square(q) - p.dot(q * 2)))
            nearer = gain > 0
            least = least - where(nearer, gain, 0.0)
            near_p, near_q = choose(nearer, p, near_p), choose(nearer, q, near_q)
        size = sqrt(where(least > TINY, least, TINY))
        n = (near_q - near_p) / size
        found.append(Separation(size - (r + s), origin + near_p + n * r, origin + near_q - n * s, n))
    return nearest_of(found)


def of_points(p: Vector, r: Scalar, q: Vector, s: Scalar) -> Separation:
    """The distance of two balls."""
    d = q - p
    size = length(d)
    n = d / size
    return Separation(size - (r + s), p + n * r, q - n * s, n)


def from_plane(point: Vector, height: Scalar, b: HalfSpace) -> Separation:
    """The distance of a body from a half-space, whose lowest point and its height are known."""
    gap = height - b.offset
    return Separation(gap, point, point - b.normal * gap, -b.normal)


def of_lines(a: SolidCapsule, b: SolidCapsule) -> Separation:
    """The distance of two capsules: that of two line segments (Ericson, Real-Time Collision Detection, 5.1.9)."""
    u, v, w = a.along, b.along, a.start - b.start
    uv, uw, vw = u.dot(v), u.dot(w), v.dot(w)
    both_squares = a.square * b.square
    across = both_squares - uv * uv
    is_skew = across > both_squares * 1e-12
    s = clamp((uv * vw - uw * b.square) / where(is_skew, across, 1.0))  # of parallel lines any point will do
    t = clamp((uv * s + vw) * b.inverse)
    s = clamp((uv * t - uw) * a.inverse)
    return of_points(a.start + u * s, a.radius, b.start + v * t, b.radius)


def of_ball_and_box(p: Vector, r: Scalar, b: SolidBox) -> Separation:
    """The distance of a ball from a box: to the nearest point outside, to the nearest face inside."""
    x = b.local(p)
    inside = Vector(*(where(c > h, h, where(c < -h, -h, c)) for c, h in zip(x, b.half, strict=True)))
    depths = [abs_(c) - h for c, h in zip(x, b.half, strict=True)]
    out = x - inside
    apart = square(out)
    size = length(out)
    deepest = maximum(maximum(depths[0], depths[1]), depths[2])
    faces, taken = [], 0.0
    for c, depth in zip(x, depths, strict=True):  # the face that is nearest, the first of several
        is_one = where(depth >= deepest, 1.0 - taken, 0.0)
        faces.append(where(c < 0, -is_one, is_one))
        taken = taken + is_one
    is_out = apart > TINY
    n = b.axes * choose(is_out, out / size, Vector(*faces))
    gap = where(is_out, size, deepest)
    return Separation(gap - r, p - n * r, p - n * gap, -n)


def of_ball_and_cylinder(p: Vector, r: Scalar, b: SolidCylinder) -> Separation:
    """The distance of a ball from a cylinder, in the plane of the ball's center and the axis."""
    d = p - b.center
    z = d.dot(b.axis)
    across = d - b.axis * z
    rho = length(across)
    radial, up = across / rho, b.axis * where(z < 0, -1.0, 1.0)
    x, y = rho - b.radius, abs_(z) - b.half
    px, py = maximum(x, 0.0), maximum(y, 0.0)
    apart = px * px + py * py
    size = sqrt(maximum(apart, TINY))
    n = choose(apart > TINY, radial * (px / size) + up * (py / size), choose(x > y, radial, up))
    gap = where(apart > TINY, size, maximum(x, y))
    return Separation(gap - r, p - n * r, p - n * gap, -n)


def of_line_and_box(a: SolidCapsule, b: SolidBox) -> Separation:
    """The distance of a capsule from a box.

    The square of a point's distance from the box is convex along the line, with a derivative of straight pieces
    between the places where the line passes a face's plane: its zero lies between two of these places.
    """
    p, u = b.local(a.start), b.axes.inv * a.along

    def point_at(t: Scalar) -> tuple[Vector, Vector]:
        x = p + u * t
        near = Vector(*(where(c > h, h, where(c < -h, -h, c)) for c, h in zip(x, b.half, strict=True)))
        return near, x - near

    low, high = 0.0, 1.0
    low_rate, high_rate = point_at(0.0)[1].dot(u), point_at(1.0)[1].dot(u)
    for c, rate, h in zip(p, u, b.half, strict=True):
        slope = where(abs_(rate) > 1e-12, rate, 1.0)
        for side in (-h, h):
            t = clamp((side - c) / slope)
            slope_here = point_at(t)[1].dot(u)
            is_low, is_high = both(slope_here <= 0, t > low), both(slope_here >= 0, t < high)
            low, low_rate = where(is_low, t, low), where(is_low, slope_here, low_rate)
            high, high_rate = where(is_high, t, high), where(is_high, slope_here, high_rate)
    rise = high_rate - low_rate
    inner = low - low_rate * (high - low) / where(rise > TINY, rise, 1.0)
    t = where(low_rate >= 0, low, where(high_rate <= 0, high, inner))
    out = point_at(t)[1]
    size = length(out)
    # where the line passes through the box, the way out is along a face's normal or across the line and an edge
    best, face, deepest = -1e30, Vector.zero(), t
    middle = p + u * 0.5
    for k, e in enumerate((Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)) * 2):
        axis = e if k < 3 else u.cross(e)
        n = axis / length(axis)
        n = choose(middle.dot(n) < 0, -n, n)
        corner = Vector(*(where(c < 0, -h, h) for c, h in zip(n, b.half, strict=True)))
        rise = u.dot(n)
        gap = middle.dot(n) - abs_(rise) * 0.5 - corner.dot(n)
        place = where(rise > 0, 0.0, 1.0)
        if k >= 3:  # the line crosses an edge there
            across = e.cross(n)
            rate = u.dot(across)
            is_skew = square(axis) > a.square * 1e-12
            gap = where(is_skew, gap, -1e30)
            place = clamp((corner - p).dot(across) / where(is_skew, rate, 1.0))
        better = gap > best
        best, face, deepest = where(better, gap, best), choose(better, n, face), where(better, place, deepest)
    is_out = square(out) > TINY
    n = b.axes * choose(is_out, out / size, face)
    gap = where(is_out, size, best)
    on_line = a.start + a.along * where(is_out, t, deepest)
    return Separation(gap - a.radius, on_line - n * a.radius, on_line - n * gap, -n)


def of_convex(a: ConvexSolid, b: ConvexSolid) -> Separation:
    """A lower bound of the distance of two convex bodies: that of what is left without their round margins."""
    (a, r), (b, s) = _core(a), _core(b)
    found = of_cores(a, b)
    n = found.normal
    return Separation(found.distance - (r + s), found.point_a + n * r, found.point_b - n * s, n)


def _core(a: ConvexSolid) -> tuple[ConvexSolid, Scalar]:
    """A body without its round margin, and the margin."""
    if isinstance(a, Balls):
        return Balls(a.centers, (0,)), a.radii[0]
    if isinstance(a, SolidCapsule):
        return replace(a, radius=0), a.radius
    if isinstance(a, SolidHull):
        return replace(a, margin=0), a.margin
    return a, 0


def of_cores(a: ConvexSolid, b: ConvexSolid) -> Separation:
    """A lower bound of the distance of two convex bodies: the largest gap that any of a number of directions sees."""
    start = b.center - a.center
    n = start / length(start)
    first = _gap(a, b, n)
    gap, point_a, point_b = first
    candidates: list[tuple[Vector, str, Vector, Vector]] = [(axis, "face of a", axis, axis) for axis in a.directions()]
    candidates += [(axis, "face of b", axis, axis) for axis in b.directions()]
    candidates += [(x.cross(y), "edges", x, y) for x in a.edges() for y in b.edges()]
    axes = [x.axis for x in (a, b) if isinstance(x, SolidCylinder)]
    candidates += [(start - axis * start.dot(axis), "side", axis, axis) for axis in axes]
    for axis, kind, x, y in candidates:
        m = axis / length(axis)
        m = choose(m.dot(start) < 0, -m, m)
        found, on_a, on_b = _gap(a, b, m)
        if kind == "edges":  # they cross: on the one of a, the place where they do
            across = y.cross(m)
            rate = x.dot(across)
            on_a = on_a + x * ((on_b - on_a).dot(across) / where(abs_(rate) > TINY, rate, 1.0))
        elif kind == "face of a":  # a corner of b has passed it
            on_a = on_b - m * found
        better = both(found > gap, square(axis) > 1e-12)
        gap, n = where(better, found, gap), choose(better, m, n)
        point_a, point_b = choose(better, on_a, point_a), choose(better, on_a + m * found, point_b)
    # GJK: the point v nearest to 0 among b - a, by triangles of points of that difference
    corner = (first[2] - first[1], first[1])
    triangle = [corner, corner, corner]
    v, on_a = corner
    curved = any(isinstance(x, SolidCylinder | SolidEllipsoid) for x in (a, b))
    for _ in range(CURVED_ITERATIONS if curved else ITERATIONS):
        size = length(v)
        m = v / size
        found = _gap(a, b, m)
        better = both(found[0] > gap, square(v) > 1e-20)
        gap, n = where(better, found[0], gap), choose(better, m, n)
        point_a, point_b = choose(better, found[1], point_a), choose(better, found[2], point_b)
        triangle, v, on_a = _nearer_triangle((found[2] - found[1], found[1]), triangle, v, on_a)
    is_final = both(square(v) > 1e-20, gap > 0.98 * length(v))  # else the bodies overlap, or steps were too few
    point_a, point_b = choose(is_final, on_a, point_a), choose(is_final, on_a + v, point_b)
    return Separation(gap, point_a, point_b, n)


def _gap(a: ConvexSolid, b: ConvexSolid, n: Vector) -> tuple[Scalar, Vector, Vector]:
    """The gap s(n) that a direction sees between two bodies, and the points that bound it."""
    point_a, height_a = a.lowest(-n)
    point_b, height_b = b.lowest(n)
    return height_b + height_a, point_a, point_b


Corner = tuple[Vector, Vector]
"""A point of the difference b - a, and the point of a that it comes from."""


def _nearer_triangle(
    new: Corner, triangle: Sequence[Corner], v: Vector, on_a: Vector
) -> tuple[list[Corner], Vector, Vector]:
    """The triangle of the new point and two old ones that comes nearest to 0, with its nearest point."""
    best, w = square(v), new[0]
    kept = list(triangle)
    found, found_on_a = v, on_a
    for i, j in ((0, 1), (0, 2), (1, 2)):
        p, q = triangle[i], triangle[j]
        x, y = _weights(w, p[0] - w, q[0] - w)
        point = w + (p[0] - w) * x + (q[0] - w) * y
        d2 = square(point)
        nearer = d2 < best
        best = where(nearer, d2, best)
        on = new[1] + (p[1] - new[1]) * x + (q[1] - new[1]) * y
        found, found_on_a = choose(nearer, point, found), choose(nearer, on, found_on_a)
        chosen = (new, p, q)
        kept = [(choose(nearer, c[0], k[0]), choose(nearer, c[1], k[1])) for c, k in zip(chosen, kept, strict=True)]
    return kept, found, found_on_a


def _weights(w: Vector, e: Vector, f: Vector) -> tuple[Scalar, Scalar]:
    """x, y >= 0 with x + y <= 1 for which w + x e + y f is nearest to 0; the side without w is not looked at."""
    ee, ff, ef, we, wf = square(e), square(f), e.dot(f), w.dot(e), w.dot(f)
    across = ee * ff - ef * ef
    x, y = (ef * wf - ff * we) / maximum(across, TINY), (ef * we - ee * wf) / maximum(across, TINY)
    is_inner = both(both(across > ee * ff * 1e-12, x >= 0), both(y >= 0, x + y <= 1))
    s, t = clamp(-we / maximum(ee, TINY)), clamp(-wf / maximum(ff, TINY))
    along_e = s * s * ee + 2 * s * we < t * t * ff + 2 * t * wf  # the rise of the square on each side
    return where(is_inner, x, where(along_e, s, 0.0)), where(is_inner, y, where(along_e, 0.0, t))


def clamp(x: Scalar) -> Scalar:
    """x, at least 0 and at most 1; a choice between a number and 0 costs half of one between two numbers."""
    rest = 1 - where(x > 0, x, 0.0)
    return 1 - where(rest > 0, rest, 0.0)


def square(v: Vector) -> Scalar:
    """The square of a vector's length."""
    return v.dot(v)


def abs_(x: Scalar) -> Scalar:
    """The absolute value."""
    return where(x < 0, -x, x)


def both(p: Scalar, q: Scalar) -> Scalar:
    """Whether two conditions hold."""
    return p & q if hasattr(type(p), "__and__") else where(p, where(q, 1, 0), 0) > 0

"""Denavit-Hartenberg tables, standard and modified: robots from tables, and tables of robots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from chainrule.arguments import as_list, number
from chainrule.display import tables as display
from chainrule.display.text import Shown, Table
from chainrule.errors import FormatError, ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.formats.exact import snap, without_rounding
from chainrule.model import (
    Dof,
    Frame,
    Joint,
    JointKind,
    Link,
    Model,
    Moved,
    Screw,
)
from chainrule.spatial import Rotation, Transform, Vector
from chainrule.spatial.line import Line

CONVENTIONS = ("standard", "modified")
COLUMNS = ("a", "alpha", "d", "theta")
UNITS = {"a": "m", "alpha": "rad", "d": "m", "theta": "rad"}
X, Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0)

Row = tuple[float, float, float, float]
"""The numbers a, alpha, d and theta of a joint."""

ROW_TOLERANCE = 1e-12
"""Largest difference of a transform from that of a row, for entries of the rotation and for lengths in m."""


@dataclass(frozen=True, repr=False)
class DHTable(Shown):
    """Rows (a, alpha, d, theta) in m and rad, theta and d being those at q = 0; joint types "R" or "P".

    `base` is the pose of the table's frame 0 in the robot's base, `tool` that of the end-effector in the last frame.
    """

    rows: tuple[tuple[float, float, float, float], ...]
    types: str
    convention: str
    base: Transform
    tool: Transform

    def _view(self) -> Iterator[str | Table]:
        rows = [(i, *cells) for i, cells in enumerate(self._cells(str, "q{i} + ", "q{i} + "), 1)]
        caption = f"{self.convention} Denavit-Hartenberg table, lengths in m, angles in rad"
        yield Table(("joint", "a", "alpha", "d", "theta"), rows, caption)
        for name, pose in (("base", self.base), ("tool", self.tool)):
            if pose != Transform.identity():
                entries = [[float(x) for x in row] for row in (*pose.rotation, pose.translation)]
                turned = "; ".join(" ".join(f"{x + 0.0:.6g}" for x in row) for row in entries[:3])
                yield f"{name}: at ({', '.join(f'{x + 0.0:.6g}' for x in entries[3])}) m, axes {turned}"

    def _repr_latex_(self) -> str:
        rows = [
            (str(i), *cells)
            for i, cells in enumerate(self._cells(display.latex_number, r"\theta_{{{i}}} + ", "d_{{{i}}} + "), 1)
        ]
        return display.latex_table("r|llll", ("i", "a_i", r"\alpha_i", "d_i", r"\theta_i"), rows)

    def _cells(self, write: Callable[[float], str], angle: str, length: str) -> Iterator[tuple[str, ...]]:
        """The cells of each row; the variable of its joint stands before the number it has at q = 0."""
        for i, ((a, alpha, d, theta), kind) in enumerate(zip(self.rows, self.types, strict=True), 1):
            texts = [write(float(f"{x:.6g}") if write is str else x) for x in (a, alpha, d, theta)]
            place, prefix = (3, angle) if kind == "R" else (2, length)
            variable = prefix.format(i=i)
            texts[place] = variable.removesuffix(" + ") if (a, alpha, d, theta)[place] == 0 else variable + texts[place]
            yield tuple(text.replace("+ -", "- ") for text in texts)


def _along(axis: Vector, distance: float) -> Transform:
    return Transform(Rotation.identity(), axis * distance)


def _about(axis: Vector, angle: float) -> Transform:
    return Transform(snap(Rotation.about(axis, angle)), Vector(0.0, 0.0, 0.0))


def link_transform(row: Sequence[float], convention: str) -> Transform:
    """Transform T_{i-1,i} at q = 0."""
    a, alpha, d, theta = row
    if convention == "standard":
        return _about(Z, theta) * _along(Z, d) * _along(X, a) * _about(X, alpha)
    return _about(X, alpha) * _along(X, a) * _about(Z, theta) * _along(Z, d)


def row_of(T: Transform, convention: str) -> Row | None:
    """The row (a, alpha, d, theta) whose transform T_{i-1,i} is this one at q = 0; None if there is none.

    >>> row_of(link_transform((0.4, math.pi / 2, 0.1, 0.0), "standard"), "standard")
    (0.4, 1.5707963267948966, 0.1, 0.0)
    """
    (xx, xy, _), (yx, _, yz), (_, zy, zz) = ([float(x) for x in row] for row in T.rotation)
    x, y, z = map(float, T.translation)
    if convention == "standard":
        alpha, theta = math.atan2(zy, zz), math.atan2(yx, xx)
        a, d = x * math.cos(theta) + y * math.sin(theta), z
    else:
        alpha, theta = math.atan2(-yz, zz), math.atan2(-xy, xx)
        a, d = x, z * math.cos(alpha) - y * math.sin(alpha)
    size = max(map(abs, (x, y, z)))
    row = (without_rounding(a, size), without_rounding(alpha), without_rounding(d, size), without_rounding(theta))
    again = link_transform(row, convention)
    turned = max(abs(p - q) for u, v in zip(again.rotation, T.rotation, strict=True) for p, q in zip(u, v, strict=True))
    moved = max(abs(p - q) for p, q in zip(again.translation, T.translation, strict=True))
    return row if turned < ROW_TOLERANCE and moved <= ROW_TOLERANCE * max(size, 1.0) else None


def from_dh(
    name: str,
    rows: Sequence[Sequence[float] | Mapping[str, float]],
    convention: str,
    types: str | Sequence[str] | None,
    columns: Sequence[str],
    links: Sequence[Link],
    dofs: Sequence[Dof],
    base: Transform,
    tool: Transform,
    degrees: bool = False,
) -> Model:
    """A serial arm from a table. `links` and `dofs` have an entry for each row; link frames are the DH frames."""
    _check_convention(convention)
    table = [_row(row, i, columns, degrees) for i, row in enumerate(rows)]
    if not table:
        raise FormatError("the DH table has no rows; give one for each joint")
    if degrees:
        table = [(a, math.radians(alpha), d, math.radians(theta)) for a, alpha, d, theta in table]
    else:
        _refuse_degrees(table)
    letters = joint_types(types, len(table))
    joints = []
    above = "base"
    for i, (row, letter, link, dof) in enumerate(zip(table, letters, links, dofs, strict=True)):
        T = link_transform(row, convention)
        inner = Screw.revolute(Z) if letter == "R" else Screw.prismatic(Z)
        kind: JointKind = inner if convention == "modified" else Moved(inner, T)
        place = T if convention == "modified" else Transform.identity()
        origin = base * place if i == 0 else place
        joints.append(Joint(f"joint{i + 1}", above, link.name, kind, origin, (dof,), dh=convention))
        above = link.name
    frames = [Frame("tool", above, tool)]
    return Model.build(name, [Link("base"), *links], joints, frames, end_effector="tool")


def _check_convention(convention: str) -> None:
    if convention not in CONVENTIONS:
        raise FormatError(
            f"convention must be 'standard' or 'modified' (Craig), got {convention!r}; it is never guessed"
        )


def _refuse_degrees(table: Sequence[Sequence[float]]) -> None:
    """Raise where the angles of a table are whole multiples of 15 and beyond a turn: degrees, not radians."""
    angles = {
        f"DH row {i + 1}: {key}": row[k] for i, row in enumerate(table) for k, key in ((1, "alpha"), (3, "theta"))
    }
    large = [place for place, angle in angles.items() if abs(angle) > 2 * math.pi]
    if large and all(angle % 15 == 0 for angle in angles.values()):
        raise ShapeError(
            f"{large[0]} is {angles[large[0]]:g} rad, and all angles of the table are multiples of 15, as degrees are; "
            "pass degrees=True, or give radians"
        )


def _row(
    row: Sequence[float] | Mapping[str, float], i: int, columns: Sequence[str], degrees: bool
) -> tuple[float, ...]:
    if isinstance(row, Mapping):
        for key in row:
            if key not in COLUMNS:
                raise UnknownNameError.of("column", key, COLUMNS, f"DH row {i + 1}: a table")
        missing = [key for key in COLUMNS if key not in row]
        if missing:
            raise ShapeError(f"DH row {i + 1} has no {', '.join(missing)}; give it all of {', '.join(COLUMNS)}")
        values: list[Any] = [row[key] for key in COLUMNS]
    else:
        if not all(isinstance(key, str) for key in columns) or sorted(columns) != sorted(COLUMNS):
            raise FormatError(f"columns must be a, alpha, d and theta in some order, got {short_repr(tuple(columns))}")
        given = as_list(row, f"DH row {i + 1}")
        if len(given) != 4:
            raise ShapeError(f"DH row {i + 1} must have 4 numbers ({', '.join(columns)}), got {len(given)}")
        values = [given[list(columns).index(key)] for key in COLUMNS]
    units = {"rad": "deg"} if degrees else {}  # a quantity is converted once
    return tuple(
        number(x, f"DH row {i + 1}: {key}", units.get(UNITS[key], UNITS[key]))
        for key, x in zip(COLUMNS, values, strict=True)
    )


def joint_types(types: str | Sequence[str] | None, count: int) -> list[str]:
    """A letter for each row: "R" for a joint that turns, "P" for one that slides."""
    words = ["R"] * count if types is None else [str(word).upper() for word in as_list(types, "types")]
    if len(words) != count:
        raise ShapeError(f"types must have a letter for each of the {count} rows, got {len(words)} ({types!r})")
    for word in words:
        if word not in ("R", "REVOLUTE", "P", "PRISMATIC"):
            raise FormatError(f"joint types must be 'R' (revolute) or 'P' (prismatic), got {types!r}")
    return [word[0] for word in words]


def to_dh(model: Model, tip: str, convention: str) -> DHTable:
    """A table for the chain from the base to `tip`: the same poses at the same q, in axes of the table's own.

    x goes along the common normals of successive axes at q = 0. Where two axes are parallel their normal may lie
    anywhere; it is put where d is zero.
    """
    _check_convention(convention)
    index, offset = model.locate(tip)
    axes: list[Line] = []
    types = ""
    T = Transform.identity()
    home = _home(model)
    for body in model.ancestors(index):
        posed = body.at(home)
        T = T * posed.T
        if body.joint.kind.nv:
            axes.append(_axis(body.joint, T, axes))
            types += "R" if body.joint.kind.units == ("rad",) else "P"
    if not axes:
        raise ModelError(f"{tip!r} does not move: there is no joint between it and the base")
    base, rows, last = (_standard_table if convention == "standard" else _modified_table)(axes, _normals(axes))
    return DHTable(tuple(rows), types, convention, base, last.inv * (T * offset))


@dataclass(frozen=True)
class Normal:
    """The common normal of two axes: where it leaves the first, where it meets the second, its direction."""

    A: Vector
    B: Vector
    x: Vector


def _home(model: Model) -> list[float]:
    return list(model.layout.neutral)


def _axis(joint: Joint, T: Transform, before: Sequence[Line]) -> Line:
    inner = joint.kind.inner if isinstance(joint.kind, Moved) else joint.kind
    if not isinstance(inner, Screw) or joint.mimic:
        what = "follows another joint" if joint.mimic else f"is {joint.type}"
        raise ModelError(f"joint {joint.name!r} {what}; a DH table has independent revolute and prismatic joints only")
    S = T * joint.kind.columns([0.0])[0]
    z = S.angular if inner.turns else S.linear
    if abs(z.norm() - 1) > 1e-9 or abs(S.angular.dot(S.linear)) > 1e-9:
        raise ModelError(
            f"joint {joint.name!r} has a screw axis with pitch or of other than unit length; no DH row has"
        )
    if inner.turns:
        return Line(S.angular.cross(S.linear), z)
    return Line(before[-1].point if before else T.translation, z)


def _normals(axes: Sequence[Line]) -> list[Normal]:
    normals: list[Normal] = []
    last = Normal(axes[0].point, axes[0].point, _perpendicular(X, axes[0].direction))
    for first, second in pairwise(axes):
        across = first.direction.cross(second.direction)
        s = across.norm()
        if s < 1e-9:
            A = first.nearest(last.B)
            B = second.nearest(A)
            gap = B - A
            x = gap / gap.norm() if gap.norm() > 1e-12 else _perpendicular(last.x, first.direction)
        else:
            x = across / s
            gap = second.point - first.point
            A = first.point + first.direction * (gap.cross(second.direction).dot(x) / s)
            B = second.point + second.direction * (gap.cross(first.direction).dot(x) / s)
            if (B - A).dot(x) < -1e-12:
                x = -x
        last = Normal(A, B, x)
        normals.append(last)
    return normals


def _modified_table(axes: Sequence[Line], normals: Sequence[Normal]) -> tuple[Transform, list[Row], Transform]:
    """Rows with frame i on axis i, x_i towards axis i + 1; frame 0 is frame 1 at q = 0."""
    start = Normal(axes[0].point, axes[0].point, _perpendicular(X, axes[0].direction))
    before = [normals[0] if normals else start, *normals]
    rows: list[Row] = [(0.0, 0.0, 0.0, 0.0)]
    for i in range(1, len(axes)):
        into, z = before[i], axes[i].direction
        onward = normals[i] if i < len(normals) else Normal(into.B, into.B, into.x)
        alpha = _angle(axes[i - 1].direction, z, into.x)
        d, theta = (onward.A - into.B).dot(z), _angle(into.x, onward.x, z)
        rows.append(((into.B - into.A).dot(into.x), alpha, d, theta))
    first = before[0]
    base = _pose(first.A, first.x, axes[0].direction)
    return base, rows, _product(base, rows, "modified")


def _standard_table(axes: Sequence[Line], normals: Sequence[Normal]) -> tuple[Transform, list[Row], Transform]:
    """Rows with frame i on axis i + 1, x_i from axis i; the last frame stays on the last axis."""
    origin, x = (normals[0].A, normals[0].x) if normals else (axes[0].point, _perpendicular(X, axes[0].direction))
    base = _pose(origin, x, axes[0].direction)
    rows: list[Row] = []
    for axis, following, normal in zip(axes, axes[1:], normals, strict=False):
        d, theta = (normal.A - origin).dot(axis.direction), _angle(x, normal.x, axis.direction)
        alpha = _angle(axis.direction, following.direction, normal.x)
        rows.append(((normal.B - normal.A).dot(normal.x), alpha, d, theta))
        origin, x = normal.B, normal.x
    rows.append((0.0, 0.0, 0.0, 0.0))
    return base, rows, _product(base, rows, "standard")


def _product(T: Transform, rows: Sequence[Row], convention: str) -> Transform:
    for row in rows:
        T = T * link_transform(row, convention)
    return T


def _angle(u: Vector, v: Vector, about: Vector) -> float:
    return math.atan2(about.dot(u.cross(v)), u.dot(v))


def _perpendicular(x: Vector, z: Vector) -> Vector:
    """The part of x that is perpendicular to z, or any perpendicular if x is along z."""
    for candidate in (x, X, Vector(0.0, 1.0, 0.0)):
        flat = candidate - z * candidate.dot(z)
        if flat.norm() > 1e-6:
            return flat / flat.norm()
    raise AssertionError("no vector is along both x and y")


def _pose(origin: Vector, x: Vector, z: Vector) -> Transform:
    y = z.cross(x)
    return Transform(Rotation(*(Vector(a, b, c) for a, b, c in zip(x, y, z, strict=True))), origin)

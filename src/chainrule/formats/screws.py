"""Screw axes and a home pose: the product of exponentials, in Lynch & Park's lists M, G and S."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array, as_list, real_array, refuse_nonfinite, transform
from chainrule.display.text import Shown, Table
from chainrule.errors import FormatError, ModelError, ShapeError
from chainrule.formats.exact import has_direction, snap
from chainrule.model import Frame, Joint, Link, Model, Screw
from chainrule.model.edits import merge_fixed
from chainrule.model.joints import MAX_AXIS_ROUNDING
from chainrule.spatial import Symmetric, Transform, Twist, Vector


@dataclass(frozen=True, repr=False)
class ScrewTable(Shown):
    """A serial robot as product of exponentials.

    home: the end-effector's pose at q = 0; screws: (6, n), a column for each joint, angular part first; frames:
    M01, M12, .. Mn,n+1, the link frames at the centers of mass; inertias: the 6-by-6 G of each link.
    """

    home: Array
    screws: Array
    frames: list[Array]
    inertias: list[Array]

    def _view(self) -> Iterator[Table]:
        rows = [(k, *(float(x) for x in S)) for k, S in enumerate(np.asarray(self.screws).T, 1)]
        yield Table(("joint", "wx", "wy", "wz", "vx", "vy", "vz"), rows, "Screws at q = 0, angular part first")
        home = [[float(x) for x in row] for row in self.home]
        yield Table(("", "", "", ""), home, "Pose of the end-effector at q = 0")


def from_screws(
    name: str,
    home: object,
    screws: object,
    frames: Sequence[object] | None,
    inertias: Sequence[object] | None,
    gravity: Vector,
    axes: str,
    normalize: bool | None,
) -> Model:
    """A serial robot from its screws. Without `frames`, every link frame is the base frame at q = 0."""
    T_home = _clean(transform(home, "home"))
    columns = _columns(screws)
    if axes not in ("space", "body"):
        raise FormatError(f"axes must be 'space' or 'body', got {axes!r}")
    if axes == "body":
        columns = [T_home * S for S in columns]
    if normalize is not False:
        columns = [_normalize(S, i, any_length=normalize is True) for i, S in enumerate(columns)]
    n = len(columns)
    steps = _steps(frames, n, T_home)
    links = _links(inertias, n)
    joints = []
    T = Transform.identity()
    above = "base"
    for i, (S, step, link) in enumerate(zip(columns, steps, links, strict=False)):
        T = T * step
        A = T.inv * S
        kind = Screw(_exact(A.angular), _exact(A.linear), "screw")
        joints.append(Joint(f"joint{i + 1}", above, link.name, kind, step))
        above = link.name
    tool = Frame("tool", above, _clean(T.inv * T_home))
    return Model.build(name, [Link("base"), *links], joints, [tool], gravity, "tool")


def _columns(screws: object) -> list[Twist]:
    S = real_array(screws, "screws")
    refuse_nonfinite(S, "screws")
    if S.shape == (6, 6) and not isinstance(screws, np.ndarray) and _has_screws(S):
        raise ShapeError(
            "screws is a list of six lists, each of which could be a screw: for columns (omega, v), as in the books, "
            "give np.array(screws); for a screw in each list, np.array(screws).T"
        )
    if S.ndim != 2 or S.shape[0] != 6 or S.shape[1] == 0:
        turned = "; it looks transposed" if S.ndim == 2 and S.shape[1] == 6 else ""
        raise ShapeError(f"screws must have shape (6, n), one column for each joint, got {S.shape}{turned}")
    columns = [Twist.of(column) for column in S.T.tolist()]
    for i, column in enumerate(columns):
        if not has_direction(column.angular if any(column.angular) else column.linear):
            raise ModelError(f"screws: column {i} is zero; a joint needs an axis, (omega, v)")
    return columns


def _exact(v: Vector) -> Vector:
    """The vector without the rounding errors of a change of frame."""
    largest = max(map(abs, v))
    return Vector(*(0.0 if abs(x) < 1e-15 * max(largest, 1.0) else x for x in v))


def _clean(T: Transform) -> Transform:
    return Transform(snap(T.rotation), T.translation)


def _has_screws(rows: Array) -> bool:
    """Whether each row could be a screw of a joint: its axis has a length of 1."""
    turns, slides = (np.linalg.norm(part, axis=1) for part in (rows[:, :3], rows[:, 3:]))
    return bool((np.abs(np.where(turns > 0, turns, slides) - 1) <= MAX_AXIS_ROUNDING).all())


def _normalize(S: Twist, column: int, *, any_length: bool) -> Twist:
    """The screw with an axis of length 1."""
    length = S.angular.norm() or S.linear.norm()
    if abs(length - 1) > MAX_AXIS_ROUNDING and not any_length:
        part = "angular" if any(S.angular) else "linear"
        raise ModelError(
            f"screws: the {part} part of column {column} has length {length:.6g}, and not 1; pass normalize=True to "
            "divide the screw by it, or normalize=False to use it as given, so that q counts in other units"
        )
    return S if abs(length - 1) < 1e-14 else S * (1 / length)


def _steps(frames: Sequence[object] | None, n: int, home: Transform) -> list[Transform]:
    if frames is None:
        return [Transform.identity()] * n
    given = as_list(frames, "frames")
    if len(given) not in (n, n + 1):
        raise ShapeError(f"frames must have {n + 1} transforms, M01 to M{n},{n + 1}, for {n} screws, got {len(given)}")
    steps = [_clean(transform(M, f"frames[{i}]")) for i, M in enumerate(given)]
    if len(steps) == n + 1:
        T = Transform.identity()
        for step in steps:
            T = T * step
        error = np.abs(np.array(T.rows(), dtype=float) - np.array(home.rows(), dtype=float)).max()
        if error > 1e-6:
            raise ModelError(
                f"home and the product of the frames differ by {error:.2g}: both are the end-effector's pose at q = 0"
            )
    return steps[:n]


def _links(inertias: Sequence[object] | None, n: int) -> list[Link]:
    if inertias is None:
        return [Link(f"link{i + 1}") for i in range(n)]
    given = as_list(inertias, "inertias")
    if len(given) != n:
        raise ShapeError(f"inertias must have a 6-by-6 matrix for each of the {n} screws, got {len(given)}")
    return [_link(f"link{i + 1}", G, f"inertias[{i}]") for i, G in enumerate(given)]


def _link(name: str, inertia: object, what: str) -> Link:
    G = real_array(inertia, what)
    if G.shape != (6, 6):
        raise ShapeError(f"{what} must be a 6-by-6 spatial inertia matrix, got shape {G.shape}")
    refuse_nonfinite(G, what)
    m = float(G[3, 3])
    h = np.array([G[2, 4], G[0, 5], G[1, 3]])
    expected = np.block([[G[:3, :3], _skew(h)], [_skew(h).T, m * np.eye(3)]])
    if np.abs(G - expected).max() > 1e-9 * max(np.abs(G).max(), 1e-300) or np.abs(G - G.T).max() > 1e-9:
        raise ModelError(
            f"{what} is not a spatial inertia: it must be [[I, [h]], [[h]^T, m 1]] with I symmetric and m the mass"
        )
    if not h.any():
        return Link(name, m, Vector(0.0, 0.0, 0.0), Symmetric.of(G[:3, :3].tolist()))
    if m == 0:
        raise ModelError(f"{what} has a first moment of mass h = {h.tolist()}, but no mass; give its mass m, or h = 0")
    c = h / m
    about_com = G[:3, :3] - m * (c @ c * np.eye(3) - np.outer(c, c))
    return Link(name, m, Vector(*c.tolist()), Symmetric.of(about_com.tolist()))


def _skew(h: Array) -> Array:
    return np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])


def to_screws(model: Model, tip: str, axes: str = "space") -> ScrewTable:
    """The table of the chain from the base to `tip`, fixed links merged, link frames at the centers of mass."""
    if axes not in ("space", "body"):
        raise FormatError(f"axes must be 'space' or 'body', got {axes!r}")
    merged = merge_fixed(model)
    index, offset = merged.locate(tip)
    path = merged.ancestors(index)
    home = list(merged.layout.neutral)
    T = Transform.identity()
    screws, frames, inertias = [], [], []
    before = Transform.identity()
    for body in path:
        if body.joint.kind.nv != 1 or body.joint.mimic:
            raise ModelError(f"joint {body.joint.name!r} ({body.joint.type}) is not a single screw of its own")
        posed = body.at(home)
        T = T * posed.T
        ((_, S),) = posed.S
        screws.append(list(T * S))
        link = body.link
        at_com = Transform(T.rotation, T * link.com)
        frames.append(np.array((before.inv * at_com).rows(), dtype=float))
        centred = Link(link.name, link.mass, Vector(0.0, 0.0, 0.0), link.inertia).spatial_inertia
        inertias.append(np.array(centred.matrix(), dtype=float))
        before = at_com
    end = T * offset
    frames.append(np.array((before.inv * end).rows(), dtype=float))
    columns = [list(end.inv * Twist.of(S)) for S in screws] if axes == "body" else screws
    return ScrewTable(np.array(end.rows(), dtype=float), np.array(columns, dtype=float).T, frames, inertias)

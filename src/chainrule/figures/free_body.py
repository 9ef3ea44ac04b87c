"""The free-body diagram of a link: forces and moments of its neighbors on it, and what they make at its mass center."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.loads import WRENCH_FRAMES, into_frame
from chainrule.arguments import Array, one_of
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_wrenches
from chainrule.dynamics.textbook import newton_euler_table
from chainrule.errors import ModelError, ShapeError, quoted, visible
from chainrule.figures.figure import Figure
from chainrule.figures.posture import Posture, one_state
from chainrule.figures.scales import SpatialVector, draw_vectors
from chainrule.figures.sketch import Sketch, unit
from chainrule.figures.stick import draw_link, mass_mark
from chainrule.figures.view import best_view
from chainrule.plots.canvas import BLUE, GREEN, LIMIT_COLOR, VERMILLION
from chainrule.shapes.parts import up_direction
from chainrule.shapes.skeleton import place
from chainrule.spatial import Wrench

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BALANCE_TOLERANCE = 1e-6
SIZE = 0.6
"""The size of the link on paper, as a part of that of a whole robot."""


@explains_arguments
def free_body(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    qdd: ArrayLike = 0,
    *,
    link: str | None = None,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> Figure:
    """The free-body diagram of a link at a state: f_i, n_i, -f_k, -n_k, and F_i, N_i that they make, to scale.

    The numbers are those of robot.textbook.newton_euler_table. Its parent acts on link i by f_i and n_i, each link k
    that it carries by -f_k and -n_k, at the origins of their frames. F_i is their sum, and N_i that of their moments
    about the center of mass; gravity is in both, as an acceleration of the base. Forces are arrows, moments arrows with
    two heads, or arcs where they are across the paper; those too short to be seen have no name. `scene.vectors()` has
    the vectors in the axes of the base.

    Parameters
    ----------
    q, qd, qdd
        One state: (nq,), (n,), (n,); velocities and accelerations are zero if not given.
    link
        A link or frame; the link of the end-effector if none is given.
    tip_wrench, external, frame
        As in inverse_dynamics; those on this link are drawn too.

    >>> import chainrule as cr
    >>> body = cr.load("planar_2r").textbook.free_body([0.0, 0.0], link="link1")
    >>> for name, arrow in body.scene.vectors().items():
    ...     print(name, arrow.value.round(2).tolist())
    n_{1} [0.0, 0.0, 29.43]
    -n_{2} [0.0, 0.0, -9.81]
    f_{1} [0.0, 19.62, 0.0]
    -f_{2} [0.0, -9.81, 0.0]
    F_{1} [0.0, 9.81, 0.0]
    """
    posture = Posture.of(robot, "free_body", q)
    state = [one_state(robot, "free_body", name, x) for name, x in (("qd", qd), ("qdd", qdd))]
    one_of(WRENCH_FRAMES, frame, "frame")
    model = posture.robot.model
    i = model.locate(find_link(posture.robot, link))[0]
    if i == 0:
        moving = quoted(body.link.name for body in posture.bodies)
        raise ModelError(f"free_body: {link!r} is on the base, which does not move; the links that move are {moving}")
    loads = list(_loads(posture, i, tip_wrench, external, frame))
    table = newton_euler_table(posture.robot, posture.q, *state, tip_wrench=tip_wrench, external=external, frame=frame)

    def in_base(k: int, vector: Array) -> Array:
        return np.asarray(posture.T[k, :3, :3] @ vector)

    origin, com = posture.T[i, :3, 3], posture.com(i)
    forces = [SpatialVector(f"f_{{{i}}}", origin, in_base(i, table.f[i - 1]), BLUE)]
    moments = [SpatialVector(f"n_{{{i}}}", origin, in_base(i, table.n[i - 1]), VERMILLION)]
    for k in (body.index for body in posture.bodies if body.parent == i):
        forces.append(SpatialVector(f"-f_{{{k}}}", posture.T[k, :3, 3], 0.0 - in_base(k, table.f[k - 1]), BLUE))
        moments.append(SpatialVector(f"-n_{{{k}}}", posture.T[k, :3, 3], 0.0 - in_base(k, table.n[k - 1]), VERMILLION))
    for text, point, moment, force in loads:
        forces.append(SpatialVector(text.format("f"), point, force, BLUE))
        moments.append(SpatialVector(text.format("n"), point, moment, VERMILLION))
    F, N = in_base(i, table.F[i - 1]), in_base(i, table.N[i - 1])
    _refuse_unbalanced(posture, i, forces, moments, com, F, N)
    forces.append(SpatialVector(f"F_{{{i}}}", com, F, GREEN))
    moments.append(SpatialVector(f"N_{{{i}}}", com, N, GREEN))
    posture = _seen_close(posture, i, [*forces, *moments])
    sketch = Sketch(posture.view)
    draw_link(sketch, posture, i)
    sketch.frame(posture.T[i], 0.6, rf"\{{{i}\}}", color=LIMIT_COLOR)
    mass_mark(sketch, com)
    sketch.name(com, f"C_{{{i}}}", rank=2)
    draw_vectors(sketch, moments, "N m", turns=True)
    draw_vectors(sketch, forces, "N")
    name = visible(model.links[i].name)
    return Figure(sketch.scene(), f"Free-body diagram of link {i}, {name}, of {visible(robot.name)}")


def _loads(
    posture: Posture, i: int, tip_wrench: ArrayLike | None, external: Mapping[str, ArrayLike] | None, frame: str
) -> Iterator[tuple[str, Array, Array, Array]]:
    """The wrenches that the world applies to a link: name, point, moment and force in the axes of the base."""
    model = posture.robot.model
    loads = read_wrenches(posture.robot, "free_body", tip_wrench, external)
    count = 0
    for name, label, wrench in zip(loads.links, loads.labels, loads.wrenches, strict=True):
        if wrench.ndim != 1:
            raise ShapeError(f"free_body: {label} must be one wrench (6,) of a figure, got shape {wrench.shape}")
        if model.locate(name)[0] != i:
            continue
        T = posture.pose(name)
        own = into_frame(model, posture.q.tolist(), name, Wrench.of(wrench.tolist()), frame)
        moment, force = (T[:3, :3] @ np.array([float(x) for x in part]) for part in (own.moment, own.force))
        count += label != "tip_wrench"
        text = r"-{}_{{\mathrm{{tip}}}}" if label == "tip_wrench" else rf"{{}}_{{{{\mathrm{{{{ext}}}} {count}}}}}"
        yield text, T[:3, 3], moment, force


def _refuse_unbalanced(
    posture: Posture, i: int, forces: list[SpatialVector], moments: list[SpatialVector], com: Array, F: Array, N: Array
) -> None:
    """Refuse a link on which other forces act too: those of closed loops, or of springs between links."""
    force = sum((x.value for x in forces), start=-F)
    moment = sum((x.value for x in moments), start=-N)
    moment = moment + sum((np.cross(x.point - com, x.value) for x in forces), start=np.zeros(3))
    largest = max(float(np.linalg.norm(x.value)) for x in [*forces, *moments])
    if max(np.linalg.norm(force), np.linalg.norm(moment)) > BALANCE_TOLERANCE * max(1.0, largest):
        raise ModelError(
            f"free_body: on link {posture.robot.model.links[i].name!r} act other forces than those of the links beside "
            "it, of closed loops or springs between links, which newton_euler_table does not have one by one; take "
            "robot.without_constraint(...) or robot.without_spring()"
        )


def _seen_close(posture: Posture, i: int, vectors: list[SpatialVector]) -> Posture:
    """The posture seen so that the link fills the paper, and its vectors do not coincide."""
    link = posture.bones.links[i]
    points = np.concatenate([place(posture.T[i], link.points), [posture.com(i)], [x.point for x in vectors]])
    view = posture.view
    if not view.flat:
        ways = [unit(x.value) for x in vectors if np.linalg.norm(x.value) > BALANCE_TOLERANCE]
        bars = np.array([place(posture.T[i], link.points[[a, b]]) for a, b in link.bars]).reshape(-1, 2, 3)
        ways += [unit(b - a) for a, b in bars]
        view = best_view(up_direction(posture.robot), np.array([*np.eye(3), *ways]), points, bars)
    if np.ptp(points, axis=0).max() < 1e-3 * posture.bones.reach:
        points = points[0] + 0.1 * posture.bones.reach * np.array([[-1.0, -1, -1], [1, 1, 1]])
    view = view.fit(points)
    return replace(posture, view=replace(view, scale=SIZE * view.scale))

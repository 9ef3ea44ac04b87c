"""The frames and parameters of a Denavit-Hartenberg table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, word
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import visible
from chainrule.figures.figure import Figure
from chainrule.figures.posture import Posture
from chainrule.figures.scene import Stroke
from chainrule.figures.sketch import Sketch, unit
from chainrule.figures.stick import AXIS, draw_stick
from chainrule.formats.dh import link_transform, to_dh
from chainrule.plots.canvas import AXIS_COLORS, BLACK, PURPLE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ANGLE = Stroke(BLACK, 0.8)
LENGTH = Stroke(PURPLE, 1.5)
FRAME_LENGTH, AXIS_LENGTH = 0.8, 1.3
THETA_RADIUS, ALPHA_RADIUS = 0.55, 0.45
SMALL_ANGLE = 1e-6


@dataclass(frozen=True, eq=False)
class DHStep:
    """The way from a frame to the next that the row of a joint makes, at a state, in the base."""

    index: int
    before: Array
    """The pose of the frame before."""
    after: Array
    """The pose of the frame after."""
    corner: Array
    """The point between the length a along a common normal and the offset d along an axis."""
    kind: str
    """"R" or "P"."""
    row: tuple[float, float, float, float]
    """a, alpha, d and theta at the state."""


def dh_steps(robot: Mechanism, q: Array, link: str, convention: str) -> tuple[list[DHStep], Array]:
    """The rows of the chain from the base to a link at q, as ways from frame to frame, and the pose of frame 0."""
    table = to_dh(robot.model, link, convention)
    firsts = [body.first_q for body in robot.model.ancestors(robot.model.locate(link)[0]) if body.joint.kind.nv]
    T = start = np.array(table.base.rows(), dtype=float)
    steps = []
    for i, ((a, alpha, d, theta), kind, k) in enumerate(zip(table.rows, table.types, firsts, strict=True), 1):
        row = (a, alpha, d, theta + q[k]) if kind == "R" else (a, alpha, d + q[k], theta)
        own = np.array(link_transform(row, convention).rows(), dtype=float)
        after = T @ own
        along = T[:3, 3] + row[2] * T[:3, 2] if convention == "standard" else T[:3, 3] + row[0] * T[:3, 0]
        steps.append(DHStep(i, T, after, along, kind, row))
        T = after
    return steps, start


@explains_arguments
def dh_figure(robot: Mechanism, q: ArrayLike | None = None, *, convention: str, link: str | None = None) -> Figure:
    """The frames of a Denavit-Hartenberg table and its parameters: a, d along lines, alpha, theta as angles.

    Frames are those of robot.textbook.to_dh at q; those of the robot's own description may be others. Lengths and
    angles alpha that are zero are not drawn. In the modified convention a and alpha have the index of the axis before,
    as Craig writes them.

    Parameters
    ----------
    q
        One posture (nq,); the home posture if none is given.
    convention
        "standard" or "modified".
    link
        The end of the chain; the end-effector if none is given.

    >>> import chainrule as cr
    >>> figure = cr.load("scara").textbook.dh_figure(convention="modified")
    >>> sorted(name for name in figure.scene.vectors())
    ['a_{1}', 'a_{3}', 'd_{3}']
    """
    posture = Posture.of(robot, "dh_figure", q)
    end = find_link(posture.robot, link)
    word(convention, "convention")
    steps, start = dh_steps(posture.robot, posture.q, end, convention)
    poses = [start, *(step.after for step in steps)]
    points = np.concatenate([posture.bones.points_at(posture.T), [T[:3, 3] for T in poses], [s.corner for s in steps]])
    posture = replace(posture, view=posture.view.fit(points))
    sketch = Sketch(posture.view)
    draw_stick(sketch, posture, only=())
    for step in steps:
        _draw_step(sketch, step, convention)
    _draw_frames(sketch, poses)
    title = f"{convention} Denavit-Hartenberg parameters of {visible(robot.name)}"
    return Figure(sketch.scene(), title[0].upper() + title[1:])


def _draw_step(sketch: Sketch, step: DHStep, convention: str) -> None:
    """The four parameters of a row."""
    a, alpha, d, theta = step.row
    here, there = step.before[:3, 3], step.after[:3, 3]
    is_standard = convention == "standard"
    across = step.index if is_standard else step.index - 1
    first, second = (
        (f"d_{{{step.index}}}", f"a_{{{across}}}") if is_standard else (f"a_{{{across}}}", f"d_{{{step.index}}}")
    )
    sizes = (d, a) if is_standard else (a, d)
    scale = sketch.view.scale
    for text, size, begin, end in ((first, sizes[0], here, step.corner), (second, sizes[1], step.corner, there)):
        if abs(size) * scale > SMALL_ANGLE:
            sketch.measure(begin, end, np.zeros(2), text, LENGTH, name=text)
    # theta is about z of the frame before or after, alpha about x of the other
    turned, other = (step.before, step.after) if is_standard else (step.after, step.before)
    center, axis = step.corner, turned[:3, 2]
    text = rf"\theta_{{{step.index}}}"
    half = AXIS_LENGTH / scale * axis
    sketch.line(np.stack([center - 0.5 * half, center + half]), AXIS)
    if step.kind == "R" or abs(theta) > SMALL_ANGLE:
        _angle(sketch, center, axis, step.before[:3, 0], theta, THETA_RADIUS, text)
    if abs(alpha) > SMALL_ANGLE:
        apex = there if is_standard else here
        _angle(sketch, apex, other[:3, 0], step.before[:3, 2], alpha, ALPHA_RADIUS, rf"\alpha_{{{across}}}")


def _angle(sketch: Sketch, center: Array, axis: Array, start: Array, angle: float, radius: float, text: str) -> None:
    """An angle about an axis, from a direction across it, between two thin lines."""
    sweep = float(np.arctan2(np.sin(angle), np.cos(angle)))
    size = (radius + 0.15) / sketch.view.scale
    end = np.cos(sweep) * start + np.sin(sweep) * np.cross(axis, start)
    for along in (start, end):
        sketch.line(np.stack([center, center + size * along]), Stroke(ANGLE.color, 0.4))
    arc = sketch.turn(center, axis, start, sweep, radius, ANGLE, head="arrow" if abs(sweep) > 0.3 else "", name=text)
    if abs(sweep) <= SMALL_ANGLE:
        text = f"{text} = 0"
    sketch.wish(arc[[len(arc) // 2, len(arc) // 4, 3 * len(arc) // 4]], text, ANGLE.color)


def _draw_frames(sketch: Sketch, poses: list[Array]) -> None:
    """The x and z axes of the frames, with their numbers; axes that coincide are named together."""
    found: list[tuple[Array, Array, str, list[str]]] = []
    for k, T in enumerate(poses):
        for letter, column in (("x", 0), ("z", 2)):
            axis = T[:3, column]
            for point, along, known, names in found:
                if (
                    known == letter
                    and np.linalg.norm(point - T[:3, 3]) * sketch.view.scale < 0.05
                    and along @ axis > 1 - 1e-9
                ):
                    names.append(f"{letter}_{{{k}}}")
                    break
            else:
                found.append((T[:3, 3], axis, letter, [f"{letter}_{{{k}}}"]))
    for point, axis, letter, names in found:
        end = point + FRAME_LENGTH / sketch.view.scale * axis
        color = AXIS_COLORS[letter]
        on_paper = sketch.line(np.stack([point, end]), Stroke(color, 1.2), head="arrow", name=", ".join(names))
        away = unit(on_paper[1] - on_paper[0])
        if np.linalg.norm(on_paper[1] - on_paper[0]) < 0.1 * FRAME_LENGTH:
            sketch.end_on(on_paper[0], axis, Stroke(color, 1.0))
        sketch.wish(on_paper[1:], ", ".join(names), color, away=away if away.any() else None, rank=0)

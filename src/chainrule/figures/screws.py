"""The screw axes of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.figures.figure import Figure
from chainrule.figures.posture import Posture
from chainrule.figures.scene import Stroke
from chainrule.figures.sketch import Sketch
from chainrule.figures.stick import AXIS, draw_stick
from chainrule.plots.canvas import BLUE, LIMIT_COLOR, PURPLE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ARROW_LENGTH, LINE_LENGTH, BASE_LENGTH = 1.1, 0.8, 0.95
"""Lengths of the arrows of screws, of their lines beyond the joints, and of the axes of the base, in cm."""

ARM = Stroke(LIMIT_COLOR, 0.6, "dotted")


@explains_arguments
def screw_figure(robot: Mechanism, q: ArrayLike | None = None) -> Figure:
    """The screw axes of the joints: S_i along the axis of joint i, in the base, and a point p_i on each axis.

    A joint that turns has the screw (omega_i, -omega_i x p_i), one that slides (0, v_i); arrows are omega_i and v_i, of
    unit length. At q = 0 they are those of the product of exponentials, at other q the columns of the space Jacobian,
    as in robot.textbook.exponential_table. p_i is the point of the axis at the joint, joined to the origin {0}.

    Parameters
    ----------
    q
        One posture (nq,); the home posture if none is given.

    >>> import chainrule as cr
    >>> cr.load("scara").textbook.screw_figure().scene.vectors()["S_{3}"].value.tolist()
    [0.0, 0.0, 1.0]
    """
    posture = Posture.of(robot, "screw_figure", q)
    sketch = Sketch(posture.view)
    places = draw_stick(sketch, posture)
    scale = posture.view.scale
    points: list[tuple[np.ndarray, list[str]]] = []
    for joint, body in posture.joints():
        axis, here = posture.axis(joint), places[joint.name]
        if axis is None:
            continue
        before, after = LINE_LENGTH / scale * axis, (LINE_LENGTH + ARROW_LENGTH) / scale * axis
        sketch.line(np.stack([here - before, here + after]), AXIS)
        start = here + 0.25 / scale * axis
        stroke = Stroke(BLUE if joint.kind == "turns" else PURPLE, 1.4)
        name = f"S_{{{body.index}}}"
        sketch.vector(start, axis, ARROW_LENGTH, stroke, name, name=name)
        if joint.kind == "turns":
            point = posture.joint_point(joint)
            same = next((names for other, names in points if np.linalg.norm(other - point) * scale < 0.1), None)
            if same is None:
                points.append((point, [f"p_{{{body.index}}}"]))
            else:
                same.append(f"p_{{{body.index}}}")
    for point, names in points:
        sketch.line(np.stack([posture.T[0, :3, 3], point]), ARM, name=", ".join(names))
        sketch.disc(point, 0.05, None, "#000000")
        sketch.name(point, ", ".join(names), rank=2)
    sketch.frame(posture.T[0], BASE_LENGTH, r"\{0\}", "0")
    return Figure(sketch.scene(), f"Screw axes of {visible(robot.name)}")

"""The propagation of velocities from link to link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.figures.figure import Figure
from chainrule.figures.posture import Posture, one_state
from chainrule.figures.scales import SpatialVector, draw_vectors
from chainrule.figures.sketch import Sketch
from chainrule.figures.stick import draw_stick
from chainrule.kinematics.textbook import velocity_table
from chainrule.plots.canvas import BLUE, GREEN, VERMILLION

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TIP = "e"
"""The index of an end-effector that is a frame on a link."""


@explains_arguments
def velocity_figure(robot: Mechanism, q: ArrayLike, qd: ArrayLike) -> Figure:
    r"""The propagation of velocities at a state: v_i and omega_i of each link, and the term \omega_p x P_i, to scale.

    v_i is the velocity of the origin of frame i: that of its parent's frame, dashed, and from its tip the term of the
    parent's turning. What the joint itself adds comes on top: the speed of a slide, and that of an origin which is off
    the axis of its joint. The numbers are those of robot.textbook.velocity_table. Angular velocities are arrows with
    two heads, or arcs where they are across the paper.

    Parameters
    ----------
    q, qd
        One state: (nq,), (n,).

    >>> import chainrule as cr
    >>> figure = cr.load("planar_2r").textbook.velocity_figure([0.0, 0.0], [1.0, 2.0])
    >>> figure.scene.vectors()["v_{e}"].value.tolist()
    [0.0, 4.0, 0.0]
    """
    posture = Posture.of(robot, "velocity_figure", q)
    rates = one_state(robot, "velocity_figure", "qd", qd)
    model = posture.robot.model
    table = velocity_table(posture.robot, posture.q, rates)
    velocities, turns, terms = [], [], []
    for row, name in enumerate(table.links):
        k = model.index_of.get(name)
        index = TIP if k is None else str(k)
        parent = model.locate(name)[0] if k is None else model.bodies[k - 1].parent
        point = posture.pose(name)[:3, 3]
        velocities.append(SpatialVector(f"v_{{{index}}}", point, table.v_0[row], BLUE))
        turns.append(SpatialVector(rf"\omega_{{{index}}}", point, table.omega_0[row], VERMILLION))
        if parent:
            term = np.cross(table.omega_0[parent - 1], point - posture.T[parent, :3, 3])
            carried = table.v_0[parent - 1]
            if carried.any() and term.any():
                terms.append(SpatialVector("", point, carried, BLUE))
                name = rf"\omega_{{{parent}}} \times P_{{{index}}}"
                terms.append(SpatialVector(name, point, term, GREEN, after=carried))
    sketch = Sketch(posture.view)
    draw_stick(sketch, posture)
    for k in range(len(posture.T)):
        sketch.disc(posture.T[k, :3, 3], 0.05, None, "#000000")
    draw_vectors(sketch, turns, "rad/s", turns=True)
    draw_vectors(sketch, [*velocities, *terms], "m/s")
    return Figure(sketch.scene(), f"Velocities of the links of {visible(robot.name)}, from link to link")

"""Product of exponentials: poses H_i(q) = e^([S_1] q_1) .. e^([S_i] q_i) H_i(0), and the columns Ad S of the Jacobians.

Screws S are those of the joints at home, in the base frame (Lynch & Park, Modern Robotics, eqs. 4.14 and 5.11; lecture
15 of SCE 594). On a tree, the product goes over the joints that carry a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.model import Body, Model
from chainrule.spatial import Scalar, Transform, Twist

Scalars = Sequence[Scalar]


@dataclass(frozen=True, slots=True)
class Step:
    """One degree of freedom: its screw at home, its exponential, the product up to it, and its column Ad S.

    The column is that of the rate of theta; a mimic joint moves `multiplier` times as fast as the coordinate.
    """

    body: Body
    index: int
    S: Twist
    theta: Scalar
    exponential: Transform
    product: Transform
    column: Twist


@dataclass(frozen=True, slots=True)
class Exponentials:
    """The steps of all joints, and by link index the pose at home and the product of the exponentials below it."""

    steps: list[Step]
    home: list[Transform]
    products: list[Transform]

    def pose(self, index: int, offset: Transform) -> Transform:
        """Pose of a frame fixed to a link: the product times its pose at home."""
        return self.products[index] * (self.home[index] * offset)

    def jacobian(self, model: Model, index: int) -> list[Twist]:
        """Columns of the Jacobian of a link, in the base frame: Ad S of the joints that carry it, zero for others."""
        carriers = {body.index for body in model.ancestors(index)}
        columns = [Twist.zero()] * model.nv
        for step in self.steps:
            if step.body.index in carriers:
                columns[step.index] = columns[step.index] + step.column * step.body.multiplier
        return columns


def exponentials(model: Model, q: Scalars) -> Exponentials:
    """The product of exponentials of a model in one configuration, step by step."""
    steps: list[Step] = []
    home, products = [Transform.identity()], [Transform.identity()]
    for body in model.bodies:
        H = home[body.parent] * body.joint.origin
        product = products[body.parent]
        for k, (screw, theta) in enumerate(zip(body.joint.screws, body.coordinates(q), strict=True)):
            S = H * Twist(screw.angular, screw.linear)
            exponential = H * screw.transform([theta]) * H.inverse()  # e^([Ad_H s] theta) = H e^([s] theta) H^-1
            column = product * S
            product = product * exponential
            steps.append(Step(body, body.first_v + k, S, theta, exponential, product, column))
        home.append(H * body.joint.kind.transform(body.joint.kind.neutral()))
        products.append(product)
    return Exponentials(steps, home, products)

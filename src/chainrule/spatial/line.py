"""A straight line in space, such as the axis of a joint."""

from __future__ import annotations

from typing import NamedTuple

from chainrule.spatial.transform import Transform
from chainrule.spatial.vector import Vector


class Line(NamedTuple):
    """A line: one of its points, and its unit direction.

    >>> Line(Vector(0, 0, 1), Vector(1, 0, 0)).nearest(Vector(3, 4, 5))
    Vector(x=3, y=0, z=1)
    """

    point: Vector
    direction: Vector

    def transform(self, T: Transform) -> Line:
        """The line in the frame in which its own frame is at T."""
        return Line(T * self.point, T.rotation * self.direction)

    def nearest(self, point: Vector) -> Vector:
        """The point of the line that is nearest to a point."""
        return self.point + self.direction * self.direction.dot(point - self.point)

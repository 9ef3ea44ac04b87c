"""The event that a robot touches itself or a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, number
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.bodies.distances import distances
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.bodies.world import World
from chainrule.calls import explains_construction
from chainrule.control.requirements import known_robot
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.simulation.events import Event

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism


@explains_construction
class Touch(Event):
    """The event that two bodies of a robot, or one and an obstacle, come as near as `clearance`, in m.

    The motion stops there unless `terminal` is false. The event's name says which two. A start that is as near already
    is refused. Without a world, the robot is checked against itself alone.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> floor = cr.World().half_space("floor", normal=(0, 1, 0), point=(0, -1, 0))
    >>> fall = arm.simulate([0.0, 0.0], [0.0, 0.0], 2.0, events=cr.Touch(arm, floor))
    >>> fall.status, fall.events[0].name, bool(abs(arm.clearance(fall.q[-1], floor)) < 1e-9)
    ('stopped', "touch of 'link2' and 'floor'", True)
    """

    robot: Mechanism
    world: World | None
    clearance: float

    def __init__(
        self, robot: Mechanism, world: World | None = None, clearance: float = 0.0, *, terminal: bool = True
    ) -> None:
        known_robot(robot, "Touch", masses=False)
        if world is not None and not isinstance(world, World):
            raise ShapeError(f"Touch: world must be a cr.World, got {short_repr(world)}")
        super().__init__(self._room, "touch", -1, terminal)
        object.__setattr__(self, "robot", robot)
        object.__setattr__(self, "world", world)
        object.__setattr__(self, "clearance", number(clearance, "Touch: clearance", "m"))

    def _room(self, t: Array, q: Array, qd: Array) -> Array:
        room = np.asarray(clearance_of(self.robot, q, self.world) - self.clearance)
        near = np.asarray((t == 0) & (room <= 0))
        if near.any():
            pair, found = self.name_at(q[near][0]).removeprefix("touch of "), room[near][0] + self.clearance
            raise ModelError(
                f"Touch: {pair} are {1e3 * found:.3g} mm apart at the start, and clearance is "
                f"{1e3 * self.clearance:.3g} mm; begin elsewhere, give a smaller clearance=..., or leave out the pair "
                "(robot.bodies.without_pair)"
            )
        return room

    def name_at(self, q: Array) -> str:
        """The event's name, with the two bodies that are nearest in a configuration (nq,)."""
        pairs = bodies_of(self.robot).pairs_with(self.world)
        a, b = pairs[int(distances(self.robot, q, self.world).argmin())]
        return f"{self.name} of {a!r} and {b!r}"

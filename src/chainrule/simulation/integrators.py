"""One step in time, as the textbook writes it, over lists of generic scalars.

A step starts from the configuration q, the velocity v and further states x (of a controller; work done). `world`
tells the rates of v and x at a stage of the step, 0 at its start, 1 half way, 2 at its end; `start` are those at the
start. Configurations stay on their manifold: quaternions are unit ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]
Rates = tuple[Scalars, Scalars]
Next = tuple[Scalars, Scalars, Scalars, Scalar]
"""Configuration, velocity and further states after a step, and how far its equations are from being solved."""


class World(Protocol):
    """What is being integrated."""

    def rates(self, stage: int, q: Scalars, v: Scalars, x: Scalars) -> Rates:
        """dv/dt and dx/dt."""

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        """dq/dt, which is v but for quaternions."""

    def moved(self, q: Scalars, v: Scalars) -> Scalars:
        """The configuration reached from q by the constant velocity v in unit time."""

    def normalised(self, q: Scalars) -> Scalars:
        """q with unit quaternions."""


def ahead(y: Scalars, h: Scalar, *rates: Scalars) -> list[Scalar]:
    """y + h (sum of rates)."""
    return [a + h * sum(r, start=0) for a, r in zip(y, zip(*rates, strict=True), strict=True)]


def scaled(y: Scalars, h: Scalar) -> list[Scalar]:
    return [a * h for a in y]


def euler(world: World, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
    """Explicit Euler: q and v move on by their rates at the start. Order 1; energy grows."""
    a, r = start
    return world.moved(q, scaled(v, h)), ahead(v, h, a), ahead(x, h, r), 0


def semi_implicit_euler(world: World, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
    """Semi-implicit Euler: v first, then q by the new v. Order 1; energy stays bounded where v and q separate."""
    a, r = start
    v = ahead(v, h, a)
    return world.moved(q, scaled(v, h)), v, ahead(x, h, r), 0


def rk4(world: World, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
    """Runge and Kutta's method of order 4; quaternions are made unit again at the end of the step."""
    a1, r1 = start
    c1 = world.coordinate_rates(q, v)
    q2, v2, x2 = ahead(q, h / 2, c1), ahead(v, h / 2, a1), ahead(x, h / 2, r1)
    a2, r2 = world.rates(1, q2, v2, x2)
    c2 = world.coordinate_rates(q2, v2)
    q3, v3, x3 = ahead(q, h / 2, c2), ahead(v, h / 2, a2), ahead(x, h / 2, r2)
    a3, r3 = world.rates(1, q3, v3, x3)
    c3 = world.coordinate_rates(q3, v3)
    q4, v4, x4 = ahead(q, h, c3), ahead(v, h, a3), ahead(x, h, r3)
    a4, r4 = world.rates(2, q4, v4, x4)
    c4 = world.coordinate_rates(q4, v4)
    q = world.normalised(ahead(q, h / 6, c1, c2, c2, c3, c3, c4))
    return q, ahead(v, h / 6, a1, a2, a2, a3, a3, a4), ahead(x, h / 6, r1, r2, r2, r3, r3, r4), 0


ITERATIONS = 20
"""Fixed-point iterations of the implicit midpoint rule; each gains a factor of about h times the fastest rate."""


def implicit_midpoint(world: World, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
    """The midpoint rule: the rates are those half way. Order 2; symmetric, so that energy does not drift.

    Half way, v = v0 + h/2 a(q, v) and q = q0 moved by h/2 v: solved by iteration from the explicit guess.
    """
    a, r = start
    error: Scalar = 0
    for _ in range(ITERATIONS):
        vm = ahead(v, h / 2, a)
        before = a
        a, r = world.rates(1, world.moved(q, scaled(vm, h / 2)), vm, ahead(x, h / 2, r))
    vm = ahead(v, h / 2, a)
    for new, old in zip(a, before, strict=True):
        error = error + (new - old) * (new - old)
    return world.moved(q, scaled(vm, h)), ahead(v, h, a), ahead(x, h, r), error * h * h


METHODS: dict[str, Callable[[World, Rates, Scalars, Scalars, Scalars, Scalar], Next]] = {
    "euler": euler,
    "semi_implicit_euler": semi_implicit_euler,
    "rk4": rk4,
    "implicit_midpoint": implicit_midpoint,
}

"""Integrators: one step in time as the textbook writes it, and the options of each.

A step starts from the configuration q, the velocity v and further states x (of a controller; work done). `system` gives
the rates of v and x at a stage of the step: 0 at its start, 1 half way, 2 at its end. `start` are the rates at the
start. Configurations stay on their manifold: quaternions have unit length.

How to add an integrator with fixed steps

1. Write a subclass of `FixedStep` with a `name`, its `order` and a docstring. Options besides `dt` are fields of a
   frozen dataclass.
2. Write its `step` over lists of scalars, with `advance` for sums and with `system.displace` or
   `system.coordinate_rates` and `system.normalize` for configurations. The same function is compiled, and
   runs on NumPy arrays, so choose by a value with `chainrule.spatial.scalar.where`, never with `if`.
3. Return the state after the step, and the squared error of equations that were solved by iteration, 0 if there are
   none; in the first case set `iterates`, so that every step is checked.
4. Put it into the table with `register`. `simulate(..., integrator="its name")` and `integrator=It(dt=...)`
   then both find it.
5. Measure its order, and compare `robot.simulate` with `robot.reference.simulate`:
   tests/simulation/test_recipe_integrator.py does both for Heun's method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

from chainrule.arguments import positive
from chainrule.calls import explains_construction
from chainrule.compile.traced_function import TracedFunction
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import sin

Scalars = Sequence[Scalar]
Rates = tuple[Scalars, Scalars]
"""dv/dt and dx/dt."""
Next = tuple[Scalars, Scalars, Scalars, Scalar]
"""Configuration, velocity and further states after a step, and the squared error of the step's equations."""


class System(Protocol):
    """The equations of motion during one step."""

    def rates(self, stage: int, q: Scalars, v: Scalars, x: Scalars) -> Rates:
        """dv/dt and dx/dt."""

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        """dq/dt: equal to v except for quaternions."""

    def displace(self, q: Scalars, v: Scalars) -> Scalars:
        """The configuration that the velocity v leads to from q in unit time."""

    def normalize(self, q: Scalars) -> Scalars:
        """The configuration q with quaternions of unit length."""


def advance(y: Scalars, h: Scalar, *rates: Scalars) -> list[Scalar]:
    """y + h (sum of rates)."""
    return [a + h * sum(r, start=0) for a, r in zip(y, zip(*rates, strict=True), strict=True)]


def scale(y: Scalars, h: Scalar) -> list[Scalar]:
    """h y."""
    return [a * h for a in y]


# --- the two kinds ---


@dataclass(frozen=True)
class Integrator(ABC):
    """A way to follow a motion in time, with its options."""

    dt: float = field(default=1e-3, kw_only=True)
    """The step, or the interval between samples, in s."""
    name: ClassVar[str]
    """The name that `integrator=` takes."""

    def __post_init__(self) -> None:
        self._check("dt")

    def _check(self, *options: str) -> None:
        """Make options positive numbers, or refuse them."""
        for option in options:
            value = positive(getattr(self, option), f"{type(self).__name__}: {option}", unit=_unit_of(option))
            object.__setattr__(self, option, value)


@explains_construction
@dataclass(frozen=True)
class FixedStep(Integrator):
    """An integrator with steps of dt seconds, compiled together with the robot and its torques."""

    dt: float = 1e-3
    order: ClassVar[int]
    """The power of dt that the error of a whole motion goes with."""
    iterates: ClassVar[bool] = False
    """Whether a step solves equations by iteration, and may fail to."""

    @abstractmethod
    def step(self, system: System, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
        """The state a time h later."""

    @property
    def scheme(self) -> Self:
        """The integrator with dt = 1: all that shapes the arithmetic of a step, h being an argument of it."""
        return replace(self, dt=1.0)


@explains_construction
@dataclass(frozen=True)
class AdaptiveStep(Integrator):
    """An integrator of SciPy that chooses its steps to keep the error of each below rtol |y| + atol.

    dt is the interval at which the motion is recorded and events are looked for.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    solver: ClassVar[str]
    """Its class in scipy.integrate."""
    restarts_each_step: ClassVar[bool] = True
    """Whether a step depends on the state before it alone, so that the state may be corrected between steps."""

    def __post_init__(self) -> None:
        self._check("dt", "rtol", "atol")


# --- fixed steps ---


class Euler(FixedStep):
    """Explicit Euler: q and v move on by their rates at the start. Order 1; energy grows."""

    name = "euler"
    order = 1

    def step(self, system: System, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
        a, r = start
        return system.displace(q, scale(v, h)), advance(v, h, a), advance(x, h, r), 0


class SemiImplicitEuler(FixedStep):
    """Semi-implicit Euler: v first, then q by the new v. Order 1; energy stays bounded where v and q separate."""

    name = "semi_implicit_euler"
    order = 1

    def step(self, system: System, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
        a, r = start
        v = advance(v, h, a)
        return system.displace(q, scale(v, h)), v, advance(x, h, r), 0


class RK4(FixedStep):
    """The classical method of Runge and Kutta. Order 4; quaternions are normalized at the end of the step."""

    name = "rk4"
    order = 4

    def step(self, system: System, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
        a1, r1 = start
        c1 = system.coordinate_rates(q, v)
        q2, v2, x2 = advance(q, h / 2, c1), advance(v, h / 2, a1), advance(x, h / 2, r1)
        a2, r2 = system.rates(1, q2, v2, x2)
        c2 = system.coordinate_rates(q2, v2)
        q3, v3, x3 = advance(q, h / 2, c2), advance(v, h / 2, a2), advance(x, h / 2, r2)
        a3, r3 = system.rates(1, q3, v3, x3)
        c3 = system.coordinate_rates(q3, v3)
        q4, v4, x4 = advance(q, h, c3), advance(v, h, a3), advance(x, h, r3)
        a4, r4 = system.rates(2, q4, v4, x4)
        c4 = system.coordinate_rates(q4, v4)
        q = system.normalize(advance(q, h / 6, c1, c2, c2, c3, c3, c4))
        return q, advance(v, h / 6, a1, a2, a2, a3, a3, a4), advance(x, h / 6, r1, r2, r2, r3, r3, r4), 0


MIDPOINT_ITERATIONS = 20
"""Fixed-point iterations of the implicit midpoint rule; each gains a factor of about h times the fastest rate."""


class ImplicitMidpoint(FixedStep):
    """The implicit midpoint rule: the rates are those half way. Order 2; symmetric, so that energy does not drift.

    Half way, v = v0 + h/2 a(q, v) and q = q0 displaced by h/2 v: solved by iteration from the explicit guess.
    """

    name = "implicit_midpoint"
    order = 2
    iterates = True

    def step(self, system: System, start: Rates, q: Scalars, v: Scalars, x: Scalars, h: Scalar) -> Next:
        a, r = start
        error: Scalar = 0
        for _ in range(MIDPOINT_ITERATIONS):
            vm = advance(v, h / 2, a)
            before = a
            a, r = system.rates(1, system.displace(q, scale(vm, h / 2)), vm, advance(x, h / 2, r))
        vm = advance(v, h / 2, a)
        for new, old in zip(a, before, strict=True):
            error = error + (new - old) * (new - old)
        return system.displace(q, scale(vm, h)), advance(v, h, a), advance(x, h, r), error * h * h


# --- adaptive steps ---


class DOP853(AdaptiveStep):
    """Dormand and Prince's method of order 8: accurate, for motions that are not stiff."""

    name = "dop853"
    solver = "DOP853"


class Radau(AdaptiveStep):
    """The implicit Runge-Kutta method Radau IIA of order 5, for stiff motions."""

    name = "radau"
    solver = "Radau"


class LSODA(AdaptiveStep):
    """Adams' and BDF methods, chosen by how stiff the motion is."""

    name = "lsoda"
    solver = "LSODA"
    restarts_each_step = False


# --- the table ---

INTEGRATORS: dict[str, type[FixedStep] | type[AdaptiveStep]] = {}
"""The integrators that `simulate` knows, by name."""

Kind = TypeVar("Kind", bound=type[FixedStep] | type[AdaptiveStep])


def register(integrator: Kind) -> Kind:
    """Put an integrator into the table, under its name; the name of another one is refused."""
    known = INTEGRATORS.get(integrator.name)
    if known is not None and (known.__module__, known.__qualname__) != (integrator.__module__, integrator.__qualname__):
        raise ShapeError(f"there is already an integrator named {integrator.name!r}: {known.__qualname__}")
    INTEGRATORS[integrator.name] = integrator
    return integrator


for _integrator in (Euler, SemiImplicitEuler, RK4, ImplicitMidpoint, DOP853, Radau, LSODA):
    register(_integrator)

METHODS = tuple(name for name, integrator in INTEGRATORS.items() if issubclass(integrator, FixedStep))
"""Names of the integrators with fixed steps."""


def scheme_key(scheme: FixedStep) -> Hashable:
    """A key of the arithmetic of an integrator's step: equal keys mean equal arithmetic.

    Those of this file are known by their class. Others are traced, with a single joint, so that one whose attributes
    differ gets code of its own.
    """
    if type(scheme).__module__ == __name__:
        return scheme

    class OneJoint:
        """Equations whose rates tell the stages apart."""

        def rates(self, stage: int, q: Scalars, v: Scalars, x: Scalars) -> Rates:
            return [sin(q[0] * (stage + 1) + v[0])], [sin(x[0] * (stage + 1) - v[0])]

        def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
            return [sin(v[0] + q[0])]

        def displace(self, q: Scalars, v: Scalars) -> Scalars:
            return [sin(q[0] - v[0])]

        def normalize(self, q: Scalars) -> Scalars:
            return [sin(q[0])]

    def step(y: Scalars) -> list[Scalar]:
        q, v, x, a, r, h = y
        *after, error = scheme.step(OneJoint(), ([a], [r]), [q], [v], [x], h)
        return [*(part[0] for part in after), error]

    return (type(scheme), scheme, TracedFunction.of(step, [6]).fingerprint)


def choose_integrator(integrator: str | Integrator, dt: float | None = None) -> FixedStep | AdaptiveStep:
    """The integrator that is given with its options inside it, or named, with its step besides."""
    if isinstance(integrator, str):
        return _by_name(integrator, {} if dt is None else {"dt": dt})
    if not isinstance(integrator, (FixedStep, AdaptiveStep)):
        raise ShapeError(
            "simulate: integrator must be an integrator such as cr.RK4(dt=1e-3), or the name of one, got "
            f"{short_repr(integrator)}"
        )
    if dt is not None:
        raise ShapeError(
            f"simulate: dt belongs into the integrator: integrator={_constructor(type(integrator))}(dt={dt!r}, ...)"
        )
    return integrator


def _by_name(name: str, options: Mapping[str, Any]) -> FixedStep | AdaptiveStep:
    """The integrator of a name, with options."""
    if name not in INTEGRATORS:
        raise UnknownNameError.of("integrator", name, INTEGRATORS, "simulate")
    numbers = {
        option: positive(value, f"simulate: {option}", unit=_unit_of(option)) for option, value in options.items()
    }
    return INTEGRATORS[name](**numbers)


def _unit_of(option: str) -> str | None:
    """The unit of an option: the step has one, tolerances have none of their own."""
    return "s" if option == "dt" else None


def _constructor(kind: type[Integrator]) -> str:
    return f"cr.{kind.__name__}" if kind.__module__ == __name__ else kind.__name__

"""A friction law of the user's own: a function of a joint's position and rate, in plain arithmetic.

It is traced once, when it is made. Numbers and compiled code both come from the trace, so that a value which the
function takes from elsewhere cannot change behind a robot's back, and two laws are equal if their traces are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.lazy import cached_property
from chainrule.spatial import Scalar
from chainrule.spatial.dual import Dual, chain_rule
from chainrule.spatial.scalar import caller_of

TINY_SPEED = 1e-12
"""The speed, in rad/s or m/s, at which a law is evaluated for its value just beside rest."""

JUMP_RATIO = 1e-6
"""The jump of a law at rest, relative to its largest value, above which it holds a joint."""

PROBE_POSITIONS = (-2.9, -1.3, -0.4, 0.0, 0.7, 1.9, 3.1)
PROBE_RATES = (-10.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0, 10.0)
"""Positions (rad or m) and rates at which a law is tried."""


class FrictionFunction:
    """The torque that overcomes friction, as a function of a joint's position and rate: tau = f(q, qd).

    Plain arithmetic of two scalars: `+ - * / **`, np.tanh, np.exp, np.sign, np.abs and similar functions, and
    `chainrule.spatial.scalar.where` in place of `if`. A law that jumps at qd = 0 holds the joint at rest, up to its
    values on both sides of the jump.

    >>> law = FrictionFunction(lambda q, qd: 0.5 * qd + 2.0 * qd / (qd * qd + 0.01) ** 0.5)
    >>> round(law(0.0, 1.0), 4), law.jumps
    (2.4901, False)
    """

    def __init__(self, function: Callable[[Scalar, Scalar], Scalar], what: str = "the friction function") -> None:
        if not callable(function) or isinstance(function, type):
            raise ShapeError(
                f"{what} must be a function of (q, qd), the joint's position and rate, got {short_repr(function)}"
            )
        self.function: Callable[[Scalar, Scalar], Scalar] = getattr(function, "function", function)
        self.traced: Any = _trace(self.function, what)
        """The function as a graph of CasADi."""
        self.text: str = self.traced.serialize()
        """The trace, with all values that the function takes from elsewhere."""
        self.jumps = self._inspect(what)
        """Whether it jumps at rest, so that it holds the joint there."""

    def __call__(self, q: Scalar, qd: Scalar) -> Scalar:
        """The torque at a position and rate."""
        if isinstance(q, Dual) or isinstance(qd, Dual):
            return chain_rule(self, self.slopes, (q, qd))
        call = caller_of(q, qd)
        if call is not None:
            return call(self.traced, [[q], [qd]])[0]
        kinds = {type(x).__module__.partition(".")[0] for x in (q, qd)}
        if kinds <= {"builtins", "numpy"}:
            return _evaluate(self.traced, q, qd)
        return self.function(q, qd)

    @cached_property
    def slopes(self) -> tuple[Slope, Slope]:
        """Its derivatives with respect to position and rate."""
        return slopes_of(self.traced)

    def _inspect(self, what: str) -> bool:
        """Whether it jumps at rest; refused where it is not finite, or not what the function itself gives."""
        largest, jump = 0.0, 0.0
        for q in PROBE_POSITIONS:
            for qd in PROBE_RATES:
                found = float(self(q, qd))
                if not math.isfinite(found):
                    raise ModelError(f"{what} gives {found} at q = {q:g}, qd = {qd:g}; it must be finite everywhere")
                expected = _call(self.function, q, qd, what)
                if abs(found - expected) > 1e-9 * abs(expected) + 1e-12:
                    raise ShapeError(
                        f"{what} gives {found:.6g} when traced and {expected:.6g} when called at q = {q:g}, "
                        f"qd = {qd:g}: it is not plain arithmetic of its arguments (random numbers, or float() of a "
                        "value?)"
                    )
                if found * qd < 0:
                    raise ModelError(
                        f"{what} gives {found:.6g} at q = {q:g}, qd = {qd:g}, which drives the joint instead of "
                        "resisting; the torque that overcomes friction has the sign of qd"
                    )
                largest = max(largest, abs(found))
            jump = max(jump, abs(float(self(q, TINY_SPEED)) - float(self(q, -TINY_SPEED))))
        return jump > JUMP_RATIO * largest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrictionFunction) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrictionFunction, (self.function,)

    def __repr__(self) -> str:
        return f"<friction function {getattr(self.function, '__name__', 'of (q, qd)')}>"


class Slope:
    """A derivative of a friction law, as a function of position and rate."""

    def __init__(self, traced: Any) -> None:
        self.traced = traced

    def __call__(self, q: Scalar, qd: Scalar) -> Scalar:
        """The derivative at a position and rate."""
        if isinstance(q, Dual) or isinstance(qd, Dual):
            return chain_rule(self, slopes_of(self.traced), (q, qd))
        call = caller_of(q, qd)
        if call is not None:
            return call(self.traced, [[q], [qd]])[0]
        return _evaluate(self.traced, q, qd)


def slopes_of(traced: Any) -> tuple[Slope, Slope]:
    """The derivatives of a graph of CasADi with respect to position and rate."""
    import casadi

    arguments = [casadi.SX.sym("q"), casadi.SX.sym("qd")]
    value = traced(*arguments)
    slopes = [casadi.Function("slope", arguments, [casadi.gradient(value, x)]) for x in arguments]
    return Slope(slopes[0]), Slope(slopes[1])


def _evaluate(traced: Any, q: Any, qd: Any) -> Any:
    """A trace on numbers: floats, or arrays of one shape."""
    import numpy as np

    x, v = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
    if not x.ndim:
        return float(traced(float(x), float(v)))
    if not x.size:
        return np.zeros(x.shape)
    return np.asarray(traced(x.reshape(1, -1), v.reshape(1, -1))).reshape(x.shape)


def _trace(function: Callable[[Scalar, Scalar], Scalar], what: str) -> Any:
    """The function as a graph of CasADi, refused where it is not plain arithmetic."""
    import casadi

    q, qd = casadi.SX.sym("q"), casadi.SX.sym("qd")
    try:
        with warnings.catch_warnings():  # CasADi tells of a coming change of its own NumPy support
            warnings.simplefilter("ignore", FutureWarning)
            value = casadi.SX(function(q, qd))
    except Exception as error:
        raise ShapeError(
            f"{what} cannot be traced: {type(error).__name__}: {str(error).splitlines()[-1]:.120}. Write it in plain "
            "arithmetic of (q, qd), with chainrule.spatial.scalar.where in place of if"
        ) from error
    if value.numel() != 1:
        raise ShapeError(f"{what} must return one number, got {value.numel()}")
    return casadi.Function("friction", [q, qd], [value])


def _call(function: Callable[[Scalar, Scalar], Scalar], q: float, qd: float, what: str) -> float:
    """The number that the function itself returns."""
    try:
        return float(function(q, qd))
    except Exception as error:
        raise ShapeError(
            f"{what} must return a number, and fails at q = {q:g}, qd = {qd:g}: {type(error).__name__}: {error!s:.100}"
        ) from error


def missing_position(joint: str) -> ModelError:
    """The error that friction is asked for at a velocity alone, where it depends on the position too."""
    return ModelError(
        f"the friction of joint {joint!r} depends on its position: give q too, as in friction_torque(qd, q)"
    )

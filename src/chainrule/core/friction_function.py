"""A friction law of the user's own: a function of a joint's position and rate, in plain arithmetic.

It is traced once, when it is made. Numbers and compiled code both come from the trace, so that a value which the
function takes from elsewhere cannot change behind a robot's back, and two laws are equal if their traces are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chainrule.compile.symbol_array import array_of, with_symbols
from chainrule.compile.traced_function import ADVICE, TracedFunction, refuse_difference, trace_of_user
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.model.friction import TINY_SPEED
from chainrule.spatial import Scalar

JUMP_RATIO = 1e-6
"""The jump of a law at rest, relative to its largest value, above which it holds a joint."""

PROBE_POSITIONS = (-2.9, -1.3, -0.4, 0.0, 0.7, 1.9, 3.1)
PROBE_RATES = (-10.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0, 10.0)
"""Positions (rad or m) and rates at which a law is tried."""


class FrictionFunction:
    """The torque that overcomes friction, as a function of a joint's position and rate: tau = f(q, qd).

    Plain arithmetic of two scalars: `+ - * / **`, np.tanh, np.exp, np.sign, np.abs and similar functions, and np.where
    in place of `if`. A law that jumps at qd = 0 holds the joint at rest, up to its values on both sides of the jump.

    >>> law = FrictionFunction(lambda q, qd: 0.5 * qd + 2.0 * qd / (qd * qd + 0.01) ** 0.5)
    >>> round(float(law(0.0, 1.0)), 4), law.jumps
    (2.4901, False)
    """

    def __init__(self, function: Callable[[Scalar, Scalar], Scalar], what: str = "the friction function") -> None:
        if not callable(function) or isinstance(function, type):
            raise ShapeError(
                f"{what} must be a function of (q, qd), the joint's position and rate, got {short_repr(function)}"
            )
        self.function: Callable[[Scalar, Scalar], Scalar] = getattr(function, "function", function)
        self.traced = _trace(self.function, what)
        self.jumps = self._inspect(what)
        """Whether it jumps at rest, so that it holds the joint there."""

    @property
    def fingerprint(self) -> str:
        """A digest of the trace, with all values that the function takes from elsewhere."""
        return self.traced.fingerprint

    def __call__(self, q: Scalar, qd: Scalar) -> Scalar:
        """The torque at a position and rate."""
        return self.traced([q], [qd])[0]

    def _inspect(self, what: str) -> bool:
        """Whether it jumps at rest; refused where it is not finite, or not what the function itself gives."""
        largest, jump = 0.0, 0.0
        for q in PROBE_POSITIONS:
            for qd in PROBE_RATES:
                found = float(self(q, qd))
                if not math.isfinite(found):
                    raise ModelError(f"{what} gives {found} at q = {q:g}, qd = {qd:g}; it must be finite everywhere")
                expected = np.array([_call(self.function, q, qd, what)])
                refuse_difference(self.traced, ([q], [qd]), expected, f"{what}, at q = {q:g} and qd = {qd:g},")
                if found * qd < 0:
                    raise ModelError(
                        f"{what} gives {found:.6g} at q = {q:g}, qd = {qd:g}, which drives the joint instead of "
                        "resisting; the torque that overcomes friction has the sign of qd"
                    )
                largest = max(largest, abs(found))
            jump = max(jump, abs(float(self(q, TINY_SPEED)) - float(self(q, -TINY_SPEED))))
        return jump > JUMP_RATIO * largest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrictionFunction) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrictionFunction, (self.function,)

    def __repr__(self) -> str:
        return f"<friction function {getattr(self.function, '__name__', 'of (q, qd)')}>"


def _trace(function: Callable[[Scalar, Scalar], Scalar], what: str) -> TracedFunction:
    symbolic = with_symbols(function)
    advice = f"{ADVICE}; it takes (q, qd)"
    traced = trace_of_user(lambda q, qd: array_of(symbolic(q[0], qd[0])).reshape(-1).tolist(), (1, 1), what, advice)
    if len(traced.tape.outputs) != 1:
        raise ShapeError(f"{what} must return one number, got {len(traced.tape.outputs)}")
    return traced


def _call(function: Callable[[Scalar, Scalar], Scalar], q: float, qd: float, what: str) -> float:
    """The number that the function itself returns."""
    try:
        return float(function(q, qd))
    except Exception as error:
        raise ShapeError(
            f"{what} must return a number, and fails at q = {q:g}, qd = {qd:g}: {type(error).__name__}: {error!s:.100}"
        ) from error

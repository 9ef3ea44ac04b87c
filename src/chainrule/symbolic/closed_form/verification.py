"""Closed forms checked against the robot's own functions, at random states, before they are handed out.

The functions run on the model's numbers, as they are written, and know nothing of symbols and their names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ChainruleError
from chainrule.functions import reference
from chainrule.model import Model
from chainrule.symbolic.algebra.evaluation import evaluate
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.wrenches import SymbolicWrench

STATES = 4
"""Random states at which a closed form is compared."""

AGREEMENT_TOLERANCE = 1e-9
"""Largest difference from the robot's own functions, as a fraction of their largest number."""

ROUNDING = 1e-12
"""Largest difference by rounding, as a fraction of the size of the terms that are added up."""


class RandomStates(NamedTuple):
    """Random states: q, qd, qdd and tau, a row each."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array


def random_states(model: Model) -> RandomStates:
    """States of a model for the comparison, the same every time."""
    rng = np.random.default_rng(11)
    reach = np.array([np.pi if velocity.unit == "rad" else 1.0 for velocity in model.layout.velocities])
    q = rng.uniform(-1.0, 1.0, (STATES, model.nv)) * reach
    qd, qdd, tau = (rng.uniform(-1.5, 1.5, (STATES, model.nv)) for _ in range(3))
    return RandomStates(q, qd, qdd, tau)


def numbers_of(symbolic: SymbolicModel, state: RandomStates) -> dict[sp.Symbol, Any]:
    """The number of each parameter, and of each symbol of the state in all rows."""
    found: dict[sp.Symbol, Any] = dict(symbolic.parameters)
    for symbols, rows in zip((symbolic.q, symbolic.qd, symbolic.qdd, symbolic.tau), state, strict=True):
        found |= {symbol: rows[:, k] for k, symbol in enumerate(symbols)}
    return found


def _function(name: str, *arguments: str) -> Callable[[Model, RandomStates], Array]:
    return lambda model, state: reference.evaluate(model, name, [getattr(state, x) for x in arguments])


def _term(index: int) -> Callable[[Model, RandomStates], Array]:
    terms = _function("torque_terms", "q", "qd", "qdd")
    return lambda model, state: terms(model, state)[:, index]


def _velocity_torques(model: Model, state: RandomStates) -> Array:
    return _term(1)(model, state) + _term(2)(model, state)


EXPECTED: dict[str, Callable[[Model, RandomStates], Array]] = {
    "M": _function("mass_matrix", "q"), "C": _function("coriolis_matrix", "q", "qd"), "c": _velocity_torques,
    "centrifugal": _term(1), "coriolis": _term(2), "g": _function("gravity_torque", "q"),
    "spring": _function("spring_torque", "q"), "friction": _function("friction_torque_at", "qd", "q"),
    "h": _function("bias", "q", "qd"), "accelerations": _function("forward_dynamics", "q", "qd", "tau"),
    "tau": _function("inverse_dynamics", "q", "qd", "qdd"), "kinetic_energy": _function("kinetic_energy", "q", "qd"),
    "potential_energy": _function("potential_energy", "q"),
}  # fmt: skip
"""Term of the equations of motion -> its numbers, by the functions of the model."""


def check_term(
    name: str,
    found: Any,
    symbolic: SymbolicModel,
    others: Mapping[sp.Symbol, float] | None = None,
    wrenches: Sequence[SymbolicWrench] = (),
) -> None:
    """Refuse a term of the equations of motion that differs from the function of the model.

    `others` are numbers of further symbols; `wrenches` take torques that are the term "external", and part of tau.
    """
    model, state = symbolic.numbers, random_states(symbolic.numbers)
    values = numbers_of(symbolic, state) | dict(others or {})
    own, taken = random_wrenches(model, state, wrenches)
    values |= own
    state = state._replace(tau=state.tau - taken)
    expected = EXPECTED[name](model, state) if name in EXPECTED else np.zeros_like(state.q)
    expected = expected + taken if name in ("external", "tau") else expected
    check(name, found, expected, values, model, size_of_terms(model, state))


def random_wrenches(
    model: Model, state: RandomStates, wrenches: Sequence[SymbolicWrench]
) -> tuple[dict[sp.Symbol, Any], Array]:
    """Numbers of the components of wrenches, and the torques that these take, a row for each state."""
    values: dict[sp.Symbol, Any] = {}
    taken = np.zeros_like(state.q)
    for k, wrench in enumerate(wrenches):
        F = np.random.default_rng(12 + k).uniform(-5.0, 5.0, (STATES, len(wrench.components)))
        F[:, [x == 0 for x in wrench.components]] = 0.0
        values |= {x: F[:, i] for i, x in enumerate(wrench.components) if x != 0}
        options = {"loads": (wrench.link,), "frame": wrench.frame}
        taken = taken + wrench.sign * reference.evaluate(model, "static_torque", [state.q, F], **options)
    return values, taken


def size_of_terms(model: Model, state: RandomStates) -> float:
    """The size of what is added up in torques and energies: entries of the mass matrix, and weights at their arms."""
    inertia = float(np.abs(reference.evaluate(model, "mass_matrix", [state.q])).max(initial=0.0))
    mass = sum(float(link.mass) for link in model.links)
    return inertia + float(model.gravity.norm()) * math.sqrt(inertia * mass)


def check(
    what: str, found: Any, expected: Array, values: Mapping[sp.Symbol, Any], model: Model, size: float = 0.0
) -> None:
    """Refuse expressions whose numbers differ from those that are expected, (states, ...)."""
    expressions = list(found) if isinstance(found, sp.MatrixBase) else [found]
    compare(what, *evaluate(expressions, values, STATES), expected.reshape(STATES, -1), model, size)


def compare(what: str, values: Array, sizes: Array, expected: Array, model: Model, size: float = 0.0) -> None:
    """Refuse numbers (states, count) that differ by more than rounding.

    `sizes` are those of the terms in the numbers; `size` is that of the terms in what is expected.
    """
    defined = np.isfinite(expected)
    scale = np.abs(expected[defined]).max(initial=0.0)
    with np.errstate(all="ignore"):
        tolerance = AGREEMENT_TOLERANCE * scale + ROUNDING * (size + np.max(sizes, initial=0.0))
        wrong = np.argwhere(defined & ~(np.abs(values - expected) <= tolerance))
    if len(wrong):
        place = tuple(wrong[0])
        raise ChainruleError(
            f"the closed form of {what} of robot {model.name!r} gives {values[place]:.9g} at a random state where the "
            f"robot's own function gives {expected[place]:.9g}, so that it is not handed out: this is an error in "
            "chainrule; please report it with the robot's file, and use the robot's functions meanwhile"
        )

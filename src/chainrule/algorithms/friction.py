"""Friction along a joint's own axis: viscous, dry, and laws of the user's own.

Dry friction has a sign that jumps at rest, so that its levels are given for each direction: while the joint moves, and
at rest, where it holds up to the break-away level. `model.Dof` has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chainrule.model import Dof, Model
from chainrule.model.friction import TINY_SPEED, missing_position
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import exp, is_zero, maximum, sin, where

Scalars = Sequence[Scalar]
Levels = tuple[list[Scalar], list[Scalar]]
"""Levels of dry friction of each velocity: against positive motion, and against negative motion."""


class _Rubbing(NamedTuple):
    """A degree of freedom with its place in qd, its multiple of that velocity, its position and its rate."""

    place: int
    multiple: Scalar
    dof: Dof
    position: Scalar
    rate: Scalar


def _rubbing(model: Model, q: Scalars | None, qd: Scalars) -> Iterator[_Rubbing]:
    """The degrees of freedom, those of mimic joints too."""
    for body in model.bodies:
        known = () if q is None else body.coordinates(q)
        for n, ((i, k, dof), rate) in enumerate(zip(body.dofs, body.rates(qd), strict=True)):
            if dof.friction_depends_on_position and n >= len(known):
                raise missing_position(body.joint.name)
            yield _Rubbing(i, k, dof, known[n] if n < len(known) else 0, rate)


def friction_torque(model: Model, q: Scalars | None, qd: Scalars) -> list[Scalar]:
    """Torques that overcome friction; dry friction is zero at rest. q may be None where it plays no part."""
    smooth, dry = smooth_friction(model, q, qd), dry_friction(model, q, qd, qd)
    return [a + b for a, b in zip(smooth, dry, strict=True)]


def smooth_friction(model: Model, q: Scalars | None, qd: Scalars) -> list[Scalar]:
    """Torques that overcome the friction that does not jump at rest: the viscous one, and laws of the user's own."""
    tau: list[Scalar] = [0] * model.nv
    for i, k, dof, x, rate in _rubbing(model, q, qd):
        if not is_zero(dof.viscous):
            tau[i] = tau[i] + rate * dof.viscous * k
        if dof.friction_function is not None and not dof.friction_function.jumps:
            tau[i] = tau[i] + dof.friction_function(x, rate) * k
    return tau


def dry_friction(model: Model, q: Scalars | None, qd: Scalars, direction: Scalars) -> list[Scalar]:
    """Torques that overcome dry friction in a motion with the signs of `direction`; zero where that is zero."""
    return [
        0 if is_zero(up) and is_zero(down) else where(d > 0, up, where(d < 0, -down, 0 * up))
        for d, up, down in zip(direction, *sliding_levels(model, q, qd), strict=True)
    ]


def sliding_levels(model: Model, q: Scalars | None, qd: Scalars) -> Levels:
    """Levels of dry friction in motion."""
    levels: Levels = ([0] * model.nv, [0] * model.nv)
    for i, k, dof, x, rate in _rubbing(model, q, qd):
        if dof.has_dry_friction:
            _add(levels, i, k, sliding_level(dof, x, rate, 1), sliding_level(dof, x, rate, -1))
    return levels


def breakaway_levels(model: Model, q: Scalars | None) -> Levels:
    """Levels of dry friction at rest."""
    levels: Levels = ([0] * model.nv, [0] * model.nv)
    for i, k, dof, x, _ in _rubbing(model, q, [0] * model.nv):
        if dof.has_dry_friction:
            _add(levels, i, k, _breakaway(dof, x, 1), _breakaway(dof, x, -1))
    return levels


def _add(levels: Levels, i: int, k: Scalar, forth: Scalar, back: Scalar) -> None:
    """Add the levels of a degree of freedom that turns k times as fast as velocity i."""
    up, down = levels
    up[i] = up[i] + where(k > 0, forth, back) * abs(k)
    down[i] = down[i] + where(k > 0, back, forth) * abs(k)


def _coulomb(dof: Dof, direction: int) -> Scalar:
    return dof.coulomb if direction > 0 else dof.coulomb_negative


def _static(dof: Dof, direction: int) -> Scalar:
    given = dof.static if direction > 0 else dof.static_negative
    return _coulomb(dof, direction) if is_zero(given) else given


def sliding_level(dof: Dof, x: Scalar, rate: Scalar, direction: int) -> Scalar:
    """Dry friction of a degree of freedom that moves in a direction, 1 or -1."""
    level = _coulomb(dof, direction)
    if not is_zero(dof.stribeck):
        level = level + (_static(dof, direction) - level) * _share_at_rest(dof, rate)
    return _with_ripple(dof, x, level) + _own_level(dof, x, rate, direction)


def _share_at_rest(dof: Dof, rate: Scalar) -> Scalar:
    """The share of the break-away level that is left at a rate: 1 at rest."""
    slow = rate / dof.stribeck
    return exp(-(slow * slow))


def _breakaway(dof: Dof, x: Scalar, direction: int) -> Scalar:
    """Dry friction of a degree of freedom at rest."""
    own = _own_level(dof, x, 0 * x, direction)
    return _with_ripple(dof, x, _static(dof, direction)) + (own if is_zero(own) else maximum(own, 0 * own))


def _with_ripple(dof: Dof, x: Scalar, level: Scalar) -> Scalar:
    if is_zero(dof.ripple):
        return level
    return level * (1 + dof.ripple * sin(x * dof.ripple_waves + dof.ripple_phase))


def _own_level(dof: Dof, x: Scalar, rate: Scalar, direction: int) -> Scalar:
    """Friction by a law of the user's own that jumps at rest, at the rate or beside rest in this direction."""
    law = dof.friction_function
    if law is None or not law.jumps:
        return 0
    ahead = rate * direction
    return law(x, where(ahead > TINY_SPEED, ahead, TINY_SPEED + 0 * ahead) * direction) * direction


def friction_columns(dof: Dof, x: Scalar, rate: Scalar) -> dict[str, Scalar]:
    """Torque along a degree of freedom for a unit of each number in which its friction is linear.

    Stribeck speed and ripple stay as they are; a law of the user's own is one number, 1. The break-away levels play a
    part where they are given and there is a Stribeck speed.
    """
    columns = {"viscous": rate}
    ripple = _with_ripple(dof, x, 1)
    for direction, suffix in ((1, ""), (-1, "_negative")):
        moves = where(rate * direction > 0, direction + 0 * rate, 0 * rate) * ripple
        static = dof.static if direction > 0 else dof.static_negative
        if is_zero(dof.stribeck) or is_zero(static):
            columns[f"coulomb{suffix}"] = moves
        else:
            share = _share_at_rest(dof, rate)
            columns |= {f"coulomb{suffix}": moves * (1 - share), f"static{suffix}": moves * share}
    law = dof.friction_function
    if law is not None:
        columns["friction_function"] = where(rate != 0, law(x, rate), 0 * rate) if law.jumps else law(x, rate)
    return columns

"""Rollouts beside each other: a motion from several starts, with several payloads, or under several controllers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.robot.robot import Robot
from chainrule.simulation.trajectory import Trajectory
from chainrule.studio.player.laws import make_law, usable_laws
from chainrule.studio.player.live import STEP_S, Settings, make_stops
from chainrule.studio.postures import default_tip

VARIATIONS = ("Starts", "Payloads", "Controllers")
"""What differs from one rollout to the next."""

MAX_ROLLOUTS = 12
"""Rollouts that are drawn at once."""

MAX_DURATION_S = 60.0

RECORD_EVERY = 10
"""Steps of the simulation from one sample to the next."""


class RolloutVariant(NamedTuple):
    """A motion, and in what it differs from the others."""

    label: str
    motion: Trajectory


def vary(
    robot: Robot,
    q: Array,
    qd: Array,
    settings: Settings,
    variation: str,
    *,
    count: int = 5,
    amount: float = 0.3,
    duration: float = 4.0,
    parameters: Mapping[str, Array] | None = None,
) -> list[RolloutVariant]:
    """Motions from a state that differ in one thing, the first one being that of the state itself.

    Parameters
    ----------
    q, qd
        The state (nq,) and (nv,).
    settings
        The law and the limits. The law knows the robot without payload, and holds it at q.
    variation
        "Starts": every joint is moved by up to `amount` (rad or m). "Payloads": up to `amount` (kg) at the
        end-effector. "Controllers": each that the robot can have; count and amount do not matter.
    count
        The number of rollouts.
    duration
        In s.
    parameters
        Numbers of the robot in place of its own, which the law does not know.
    """
    if not 0 < duration <= MAX_DURATION_S:
        raise ShapeError(f"rollouts last up to {MAX_DURATION_S:g} s, got {duration:g} s")
    if not 1 <= count <= MAX_ROLLOUTS:
        raise ShapeError(f"at most {MAX_ROLLOUTS} rollouts are drawn at once, and at least one, got {count}")
    common: dict[str, Any] = {
        "dt": STEP_S, "record": RECORD_EVERY, "stops": make_stops(robot, q, settings.limits), "limits": False,
        "progress": False,
    }  # fmt: skip
    here = robot.at(parameters or {})
    law = make_law(robot, settings.law, q, settings.bandwidth)
    amounts = np.linspace(0.0, amount, count)
    if variation == "Starts":
        starts = robot.integrate(q, amounts[:, None] * np.ones(robot.nv))
        lower, upper = robot.limits.lower, robot.limits.upper
        starts[1:] = np.clip(starts[1:], np.minimum(lower, q), np.maximum(upper, q))
        motions = here.simulate(starts, qd, duration, law, **common)
        return [RolloutVariant(f"start + {x:.3g}", motions.row(k)) for k, x in enumerate(amounts)]
    if variation == "Payloads":
        name = f"{default_tip(robot)}.payload"
        bodies = np.tile((parameters or {}).get(name, np.zeros(10)), (count, 1))
        bodies[:, 0] += amounts
        motions = robot.at({**(parameters or {}), name: bodies}).simulate(q, qd, duration, law, **common)
        return [RolloutVariant(f"{x:.3g} kg", motions.row(k)) for k, x in enumerate(amounts)]
    if variation == "Controllers":
        laws = {name: make_law(robot, name, q, settings.bandwidth) for name in usable_laws(robot)}
        return [RolloutVariant(name, here.simulate(q, qd, duration, one, **common)) for name, one in laws.items()]
    raise UnknownNameError.of("variation", variation, VARIATIONS, "rollouts")

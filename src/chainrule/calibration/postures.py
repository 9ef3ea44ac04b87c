"""Postures in which to measure: those of many candidates that determine a robot's numbers best together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, whole_number
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.calibration.measurements import BASE, identifiable
from chainrule.calibration.request import ALL, first_guess, request
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.inverse_kinematics.keep_clear import Room, read_room
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.poses import pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.bodies.world import World

CANDIDATES = 500
MAX_DRAWS = 20
"""Times that as many candidates are drawn again where postures must be clear."""
MAX_EXCHANGES = 10
"""Passes through the chosen postures in which each may be exchanged; few are needed."""
PRIOR = 1e-6
"""Information that stands for what is known before the first posture, as a part of that of an average one."""


@explains_arguments
def choose_postures(
    robot: Mechanism,
    parameters: Sequence[str] | str = ALL,
    count: int = 20,
    *,
    candidates: ArrayLike | None = None,
    link: str | None = None,
    task: str = "pose",
    world: World | None = None,
    clearance: float | None = None,
    seed: int = 0,
) -> Array:
    """Configurations (count, nq) in which measured poses tell these parameters best: D-optimal.

    The determinant of the information of all measurements together is largest, which is the least volume of the
    ellipsoid of errors. Candidates are added one by one, each the best, and then exchanged while that helps.

    Parameters
    ----------
    robot, parameters, link
        As of `cr.calibrate`.
    count
        How many postures to measure.
    candidates
        Configurations (m, nq) to choose from, such as those in which the target is seen and nothing is in the way; 500
        random ones within the limits unless given.
    task
        What is measured: "pose", "position" or "orientation". Errors of 1 m and 1 rad count alike.
    world, clearance
        Obstacles, and the smallest distance in m of the robot's bodies from them and from each other, 0 where only a
        world is given: candidates that are nearer are left out. The ways between postures are for `cr.plan`.
    seed
        Chooses the random candidates.

    Examples
    --------
    >>> import chainrule as cr
    >>> q = cr.choose_postures(cr.load("panda"), ["base", "panda_joint2.offset", "panda_joint4.offset"], 8)
    >>> q.shape
    (8, 7)
    """
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"choose_postures: robot must be a Robot, got {short_repr(robot)}")
    rng = np.random.default_rng(whole_number(seed, "choose_postures: seed"))
    wanted = whole_number(count, "choose_postures: count", 1)
    given = random_state(robot, rng, (CANDIDATES,)) if candidates is None else candidates
    around = read_room(world, clearance, "choose_postures")
    if around is not None:
        given = _clear_ones(robot, given, around, None if candidates is not None else rng)
    data, asked = request(robot, given, pose(robot, given, link), parameters, link, task, None)
    if wanted > len(data.q):
        raise ShapeError(
            f"choose_postures: {wanted} of {len(data.q)} candidates; give more candidates, or a smaller count"
        )
    columns, _ = identifiable(data, first_guess(data, np.eye(4), BASE in asked), BASE in asked)
    _, J = data.errors(first_guess(data, np.eye(4), BASE in asked))
    J = J[..., columns]
    J = J / np.sqrt((J**2).sum(axis=(0, 1)) / len(J))
    return data.q[_best(J, wanted)]


def _clear_ones(robot: Mechanism, given: ArrayLike, around: Room, rng: np.random.Generator | None) -> Array:
    """The candidates that keep clear; with `rng` as many new ones as are missing."""
    q = np.asarray(given, dtype=float)
    clear = q[clearance_of(robot, q, around.world) >= around.clearance]
    for _ in range(MAX_DRAWS if rng is not None else 0):
        if len(clear) >= len(q):
            break
        more = random_state(robot, rng, (len(q),))
        clear = np.concatenate([clear, more[clearance_of(robot, more, around.world) >= around.clearance]])[: len(q)]
    if not len(clear):
        raise ModelError(
            f"choose_postures: none of the candidates keeps {1e3 * around.clearance:.3g} mm clear of the world and of "
            "the robot itself; give other candidates=..., or a smaller clearance=..."
        )
    return clear


def _best(J: Array, count: int) -> list[int]:
    """Rows of derivatives (m, r, n) whose information J^T J has together the largest determinant."""
    M = np.swapaxes(J, -1, -2) @ J
    chosen: list[int] = []
    total = PRIOR * np.eye(J.shape[-1])
    for _ in range(count):
        chosen.append(_most_gain(J, total, chosen))
        total = total + M[chosen[-1]]
    for _ in range(MAX_EXCHANGES):
        before = list(chosen)
        for k in range(count):
            rest = total - M[chosen[k]]
            others = [*chosen[:k], *chosen[k + 1 :]]
            chosen[k] = _most_gain(J, rest, others)
            total = rest + M[chosen[k]]
        if chosen == before:
            break
    return sorted(chosen)


def _most_gain(J: Array, total: Array, taken: list[int]) -> int:
    """The candidate that adds most: det(A + J^T J) = det(A) det(1 + J A^-1 J^T)."""
    inverse = np.linalg.inv(total)
    gain = np.linalg.slogdet(np.eye(J.shape[1]) + J @ inverse @ np.swapaxes(J, -1, -2))[1]
    gain[taken] = -np.inf
    return int(gain.argmax())

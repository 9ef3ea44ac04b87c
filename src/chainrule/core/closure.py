"""Closing the loops of a robot: Newton's method with damping on the configuration manifold, batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.evaluation import evaluate
from chainrule.core.rank import NEW_PART_TOLERANCE, independent_rows, motions
from chainrule.core.sampling import random_configurations
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.model import Constraint, Model

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

CLOSED_GAP = 1e-8
"""A loop counts as closed when its gap is at most this, in m, and its angle at most this, in rad."""
EXACT_RESIDUAL = 1e-14
"""The residual at which Newton's method stops."""
MAX_NEWTON_STEPS = 80
"""Newton steps from one start."""
RESTARTS = 8
"""Further starts, each farther from the one given, for states that the Newton steps do not close."""
MAX_STEP = 0.3
"""The longest step in one coordinate, in rad or m."""
ROW_SAMPLES = 8
"""Random configurations at which the equations are compared."""
RANK_SAMPLES = 16
"""Random configurations, closed, at which independent equations are counted."""
ROW_LENGTH_PER_OFFSET = 100.0
"""How long a row may be, relative to the longest, for each rad or m that a state is off its singular position."""
BLOCK_STATES = 1 << 16
"""States that are closed together: the memory on the way is theirs."""
WALK_STEPS = 4
"""How far to walk from a configuration in search of one that is not singular."""

Booleans = NDArray[np.bool_]
Evaluate = Callable[..., Array]


def closure_of(robot: Mechanism) -> Closure:
    """The closing of a robot's loops."""
    return remember(robot, "closure", lambda: Closure(robot.model, partial(evaluate, robot)))


class Closure:
    """The loops of one robot: `evaluate(function, **arguments)` evaluates its functions."""

    def __init__(self, model: Model, evaluate: Evaluate) -> None:
        self.model = model
        self._evaluate = evaluate

    def gaps(self, q: Array) -> tuple[Array, Array]:
        """The gap of each constraint, in m and in rad: (..., constraints) each."""
        return gaps(self.model.constraints, self._evaluate("loops.poses", q=q))

    def is_closed(self, q: Array, tolerance: float = CLOSED_GAP) -> Booleans:
        """Whether every loop is closed: (...)."""
        lengths, angles = self.gaps(q)
        return np.asarray((np.maximum(lengths, angles) <= tolerance).all(axis=-1))

    def describe_gap(self, q: Array) -> str:
        """The constraint that is farthest open in one configuration, and by how much."""
        lengths, angles = self.gaps(q)
        worst = int(np.argmax(np.maximum(lengths, angles)))
        turned = f" and {np.degrees(angles[worst]):.3g} degrees" if angles[worst] > CLOSED_GAP else ""
        return f"constraint {self.model.constraints[worst].name!r} stays open by {lengths[worst]:.3g} m{turned}"

    def close(self, q: Array, held: Sequence[int] = ()) -> tuple[Array, Booleans]:
        """Closed states near the states (N, nq), and which of them are closed; velocities in `held` do not move.

        Where the steps from a state itself end in an open or flipped loop, other starts around it are tried.
        """
        if len(q) > BLOCK_STATES:
            parts = [self.close(q[i : i + BLOCK_STATES], held) for i in range(0, len(q), BLOCK_STATES)]
            states, closed = zip(*parts, strict=True)
            return np.concatenate(states), np.concatenate(closed)
        free = np.array([i not in held for i in range(self.model.nv)])
        rng = np.random.default_rng(0)
        best = self._descend(q, free)
        good = self.is_closed(best)
        for k in range(RESTARTS):
            bad = np.flatnonzero(~good & np.isfinite(q).all(axis=-1))
            if not len(bad):
                break
            away = np.zeros((len(bad), len(free)))
            away[:, free] = rng.normal(size=(len(bad), int(free.sum()))) * 0.2 * (k + 1)
            attempt = self._descend(self._integrate(q[bad], away), free)
            fits = self.is_closed(attempt)
            best[bad[fits]], good[bad[fits]] = attempt[fits], True
        return best, good

    def _descend(self, q: Array, free: Booleans) -> Array:
        """Levenberg and Marquardt's steps: Newton's where it is near, shorter where the residual would not fall."""
        q = np.array(q, dtype=float)
        phi = self._evaluate("loops.residual", q=q)
        damping = np.full(len(q), 1e-6)
        for _ in range(MAX_NEWTON_STEPS):
            with np.errstate(invalid="ignore"):
                going = np.flatnonzero((np.abs(phi).max(axis=-1, initial=0.0) > EXACT_RESIDUAL) & (damping < 1e8))
            if not len(going):
                break
            step = np.zeros((len(going), len(free)))
            G = self._evaluate("loops.jacobian", q=q[going])[..., free]
            step[:, free] = _damped_step(G, phi[going], damping[going])
            attempt = self._integrate(q[going], step)
            there = self._evaluate("loops.residual", q=attempt)
            better = np.linalg.norm(there, axis=-1) < np.linalg.norm(phi[going], axis=-1)
            q[going[better]], phi[going[better]] = attempt[better], there[better]
            damping[going] = np.where(better, damping[going] * 0.1, np.maximum(damping[going], 1e-12) * 30)
        return q

    def _integrate(self, q: Array, v: Array) -> Array:
        return self._evaluate("integrate", q=q, v=v)

    @cached_property
    def neutral(self) -> Array:
        """The closed configuration next to that of zeros and unit quaternions; if there is none, any closed one."""
        neutral = np.array(self.model.layout.neutral, dtype=float)
        if not self.model.constraints:
            return neutral
        states, good = self.close(neutral[None])
        if good.all():
            return np.asarray(states[0])
        random, closed = self.close(random_configurations(self.model.layout, np.random.default_rng(0), (64,)))
        if closed.any():
            return np.asarray(random[closed][0])
        raise ModelError(self.refusal(states[0]))

    def refusal(self, q: Array, details: str = "", advice: str = "") -> str:
        """The message where a configuration cannot be closed."""
        return (
            f"close: robot {self.model.name!r} cannot be closed from this configuration{details}: "
            f"{self.describe_gap(q)}; start nearer to a closed configuration{advice}"
        )

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Equations of the constraints without those that follow from others in every configuration, open ones too.

        The others follow from these with coefficients that do not change: these lose rank only where all do. In a
        planar mechanism they leave out the third dimension. Of these, some may still follow from others in closed
        configurations, as in overconstrained mechanisms, and which do then changes from place to place.
        """
        if not self.model.constraints:
            return ()
        neutral = np.array(self.model.layout.neutral, dtype=float)
        random = random_configurations(self.model.layout, np.random.default_rng(0), (ROW_SAMPLES,))
        G = self._evaluate("loops.jacobian", q=np.concatenate([neutral[None], random]))
        return independent_rows(np.concatenate(list(G), axis=1))

    @cached_property
    def independent_rows(self) -> tuple[int, ...]:
        """Equations of the constraints that do not follow from others, chosen greedily in listed order.

        Chosen where the mechanism has most of them on a walk among closed configurations that starts at the neutral
        one; a row counts when more than 1e-7 of it, relative to its length, is new.
        """
        return self.rows_near(self.neutral) if self.model.constraints else ()

    @cached_property
    def rank(self) -> int:
        """The number of independent equations among `rows` in closed configurations, the largest that was found."""
        found = len(self.independent_rows)
        if found < len(self.rows):
            random = random_configurations(self.model.layout, np.random.default_rng(1), (RANK_SAMPLES,))
            states, good = self.close(random)
            found = max([found, *(len(rows) for rows in self._rows_at(states[good]))])
        return found

    def rank_near(self, q: Array) -> int:
        """The number of independent equations near the closed configurations (N, nq), the largest of them."""
        return max([len(self.rows_near(q[0])), *(len(rows) for rows in self._rows_at(q[1:]))])

    def rows_near(self, q: Array) -> tuple[int, ...]:
        """Independent equations at a closed configuration, or near it where it is a singular one."""
        rng = np.random.default_rng(0)
        best, (rows,) = q, self._rows_at(q[None])
        for _ in range(WALK_STEPS):
            Z = motions(self._evaluate("loops.jacobian", q=best))
            away = rng.normal(size=(8, Z.shape[1])) * 0.05 @ Z.T
            states, good = self.close(self._integrate(np.broadcast_to(best, (8, len(best))), away))
            for state, here in zip(states[good], self._rows_at(states[good]), strict=True):
                if len(here) > len(rows):
                    best, rows = state, here
        return rows

    def _rows_at(self, q: Array) -> list[tuple[int, ...]]:
        """Independent equations at each of the closed configurations (N, nq).

        Next to a singular one, where loops open with the square of the distance, Newton's method leaves a state off by
        the root of the residual, and rows that vanish there are as long: those are not counted.
        """
        G = self._evaluate("loops.jacobian", q=q)
        off = np.sqrt(np.abs(self._evaluate("loops.residual", q=q)).max(axis=-1, initial=0.0))
        tolerances = np.maximum(NEW_PART_TOLERANCE, ROW_LENGTH_PER_OFFSET * off)
        return [independent_rows(here, None, float(least)) for here, least in zip(G, tolerances, strict=True)]


def gaps(constraints: Sequence[Constraint], X: Array) -> tuple[Array, Array]:
    """Gaps of the constraints, in m and in rad, from the poses of second origins in first: (..., constraints).

    Angles are measured all the way round: axes that are parallel but opposed are pi apart.
    """
    lengths, angles = np.empty(X.shape[:-2]), np.zeros(X.shape[:-2])
    for k, constraint in enumerate(constraints):
        T = X[..., k, :, :]
        apart = np.linalg.norm(T[..., :3, 3], axis=-1)
        lengths[..., k] = apart if constraint.distance is None else np.abs(apart - constraint.distance)
        if constraint.kind == "hinge":
            angles[..., k] = np.arctan2(np.hypot(T[..., 0, 2], T[..., 1, 2]), T[..., 2, 2])
        elif constraint.kind == "weld":
            R = T[..., :3, :3]
            skew = (R - np.swapaxes(R, -1, -2))[..., [2, 0, 1], [1, 2, 0]]
            angles[..., k] = np.arctan2(np.linalg.norm(skew, axis=-1), np.trace(R, axis1=-2, axis2=-1) - 1)
    return lengths, angles


def _damped_step(J: Array, phi: Array, damping: Array) -> Array:
    """-J^+ phi, damped in proportion to the largest singular value, no coordinate moving more than MAX_STEP."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    largest = s.max(axis=-1, initial=0.0, keepdims=True)
    counts = s > 1e-9 * largest
    weights = np.where(counts, s, 0.0) / np.where(counts, s**2 + damping[:, None] * largest**2, 1.0)
    step: Any = -np.einsum("nkj,nk,nik,ni->nj", Vt, weights, U, phi)
    return step / np.maximum(np.abs(step).max(axis=-1, initial=0.0, keepdims=True) / MAX_STEP, 1.0)

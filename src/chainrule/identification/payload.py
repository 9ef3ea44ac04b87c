"""The payload of a running robot: recursive least squares as one call of machine code, with a flag when it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.regressor import LINK_NUMBERS, link_columns, moved_links
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.arguments import Array, positive, together
from chainrule.calls import explains_construction
from chainrule.compile.backend import Traceable, active
from chainrule.core.derived import backend_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_argument, read_per_joint
from chainrule.errors import ShapeError, short_repr
from chainrule.identification.unknowns import carried_numbers
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.spatial import Scalar

    Scalars = Sequence[Scalar]

UNKNOWNS = 4
"""Mass, and mass times center of mass (3)."""

LARGEST = (100.0, 50.0, 50.0, 50.0)
"""The standard deviation of the unknowns before there are data, in kg and kg m: all but nothing is known."""

SURPRISE, RECENT = 4.0, 20.0
"""The mean square of residuals of so many recent samples, in units of the noise, at which a payload has changed."""


@explains_construction
class PayloadEstimator:
    """The payload of a link, sample by sample: `estimator(q, qd, qdd, tau)` gives mass and mass times center (4,).

    The mass is in kg, mass times center of mass in kg m in the frame of the link. Torques of the load's inertia about
    that frame's origin are not explained: it is for hands, not for swings. Each call takes about a microsecond.

    Parameters
    ----------
    robot
        The robot without the payload, friction included.
    noise
        The standard deviation of measured torques, one number or (nv,), as `noise` of an `Identification`.
    link
        What carries the payload, the end-effector unless one is named.
    memory
        The number of samples after which a sample counts a third.

    Examples
    --------
    >>> import numpy as np, chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> loaded = arm.with_payload(0.7, link="link2")
    >>> estimator = cr.PayloadEstimator(arm, noise=0.1, link="link2")
    >>> for t in np.arange(0.0, 2.0, 0.01):
    ...     q, qd, qdd = np.sin([t, 2 * t]), np.cos([t, 2 * t]) * [1, 2], -np.sin([t, 2 * t]) * [1, 4]
    ...     estimate = estimator(q, qd, qdd, loaded.inverse_dynamics(q, qd, qdd))
    >>> round(estimator.mass, 2), estimator.changed
    (0.7, False)
    """

    def __init__(self, robot: Mechanism, *, noise: ArrayLike, link: str | None = None, memory: float = 500.0) -> None:
        if not isinstance(robot, Mechanism) or robot.model.constraints:
            raise ShapeError(f"PayloadEstimator: robot must be a Robot without closed loops, got {short_repr(robot)}")
        self.robot, self.link = robot, find_link(robot, link)
        index, offset = robot.model.locate(self.link)
        carried = carried_numbers(offset)[:, :UNKNOWNS].T.tolist()
        sigma = np.broadcast_to(read_per_joint(robot, noise, "PayloadEstimator: noise"), (robot.nv,))
        if not (sigma > 0).all():
            raise ShapeError(f"PayloadEstimator: noise must be positive, got {short_repr(noise)}")
        at = [body.index for body in moved_links(robot.model)]
        if index not in at:
            raise ShapeError(f"PayloadEstimator: no joint moves {self.link!r}: its payload shows in no torque")
        keep = float(np.exp(-1 / positive(memory, "PayloadEstimator: memory", "a positive number of samples")))
        self._update = self._compile(len(LINK_NUMBERS) * at.index(index), carried, (1 / sigma**2).tolist(), keep)
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._state = np.zeros(2 * UNKNOWNS + UNKNOWNS * (UNKNOWNS + 1) // 2 + 2)

    @property
    def mass(self) -> float:
        """The mass of the payload, in kg."""
        return float(self._state[0])

    @property
    def com(self) -> Array:
        """The center of mass of the payload in the frame of its link or frame, in m: (3,)."""
        return np.asarray(self._state[1:UNKNOWNS] / (self._state[0] or 1.0))

    @property
    def changed(self) -> bool:
        """Whether the last sample showed that the payload is another one; the estimate then starts anew."""
        return bool(self._state[-1] > 0.5)

    def __call__(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike) -> Array:
        """Take one sample; mass and mass times center of mass (4,)."""
        self._state = self._update(q, qd, qdd, tau, self._state)
        return self._state[:UNKNOWNS]

    def _compile(self, first: int, carried: Sequence[Sequence[float]], weights: Sequence[float], keep: float) -> Any:
        """One step as machine code: state, q, qd, qdd and tau to the next state."""
        robot, model, m = self.robot, self.robot.model, UNKNOWNS
        pairs = [(i, j) for i in range(m) for j in range(i + 1)]

        def function(q: Scalars, qd: Scalars, qdd: Scalars, tau: Scalars, state: Scalars) -> list[Scalar]:
            x, b, A, (recent, _) = state[:m], state[m : 2 * m], state[2 * m : -2], state[-2:]
            numbers = link_columns(model, q, qd, qdd)[first : first + len(LINK_NUMBERS)]
            columns = [
                [sum(x * column[k] for x, column in zip(row, numbers, strict=True) if x) for k in range(len(weights))]
                for row in carried
            ]
            rest = [a - b for a, b in zip(tau, inverse_dynamics(model, q, qd, qdd), strict=True)]
            off = [r - sum(c[k] * y for c, y in zip(columns, x, strict=True)) for k, r in enumerate(rest)]
            L, D = _factors(dict(zip(pairs, A, strict=True)))
            spread = [  # the variance of what was expected, and of what is measured
                1 / w + sum(y * y / d for y, d in zip(_forward(L, [c[k] for c in columns]), D, strict=True))
                for k, w in enumerate(weights)
            ]
            surprise = sum(e * e / v for v, e in zip(spread, off, strict=True)) / len(weights)
            recent = recent + (surprise - recent) / RECENT
            changed = where(recent > SURPRISE, 1.0, 0.0)
            left = keep * (1 - changed)
            A = [
                left * a + sum(w * columns[i][k] * columns[j][k] for k, w in enumerate(weights))
                for a, (i, j) in zip(A, pairs, strict=True)
            ]
            b = [
                left * y + sum(w * c[k] * rest[k] for k, w in enumerate(weights))
                for y, c in zip(b, columns, strict=True)
            ]
            new = _solve(dict(zip(pairs, A, strict=True)), b)
            return [*new, *b, *A, recent * (1 - changed), changed]

        def read(q: Any, qd: Any, qdd: Any, tau: Any, state: Array) -> list[Array]:
            given = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
            arrays = {name: read_argument(robot, "PayloadEstimator", name, x) for name, x in given.items()}
            return together(arrays | {"state": state}, "PayloadEstimator")

        key = ("payload", model.digest(), self.link, tuple(weights), keep)
        sizes = [robot.nq, robot.nv, robot.nv, robot.nv, 2 * m + len(pairs) + 2]
        quaternions = tuple((0, at) for _, at in model.quaternions)
        source = Traceable(function, key, robot.name, "PayloadEstimator")
        return active(backend_of(robot)).vector_function(source, sizes, read, quaternions)


Triangle = dict[tuple[int, int], Any]


def _factors(A: Triangle) -> tuple[Triangle, list[Scalar]]:
    """L and D with L D L^T = A + prior, of the lower triangle of A."""
    L: Triangle = {}
    D: list[Scalar] = []
    for i, size in enumerate(LARGEST):
        for j in range(i):
            L[i, j] = (A[i, j] - sum(L[i, k] * L[j, k] * D[k] for k in range(j))) / D[j]
        D.append(A[i, i] + size**-2 - sum(L[i, k] * L[i, k] * D[k] for k in range(i)))
    return L, D


def _forward(L: Triangle, b: Scalars) -> list[Scalar]:
    """The solution y of L y = b."""
    y: list[Scalar] = []
    for i, right in enumerate(b):
        y.append(right - sum(L[i, k] * y[k] for k in range(i)))
    return y


def _solve(A: Triangle, b: Scalars) -> list[Scalar]:
    """The solution of (A + prior) x = b; A by its lower triangle."""
    L, D = _factors(A)
    x = [y / d for y, d in zip(_forward(L, b), D, strict=True)]
    for i in reversed(range(len(b))):
        x[i] = x[i] - sum(L[k, i] * x[k] for k in range(i + 1, len(b)))
    return x

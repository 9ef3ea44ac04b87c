"""What a controller is: a law for the torque, written once over generic scalars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, real_array, rows_of, together
from chainrule.control.laws.targets import Target
from chainrule.core.mechanism import fingerprint
from chainrule.functions.reference import scalars_of, stacked
from chainrule.model import Model, edits
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

Scalars = Sequence[Scalar]


class Controller(ABC):
    """A law tau = f(t, q, qd, z), with internal states z that start at zero and change by dz/dt.

    What depends on time alone, the reference, is a vector of signals s(t); what may vary from one run to the next,
    gains and constant targets, is a vector of parameters p. Between them, `torque` is a pure function of scalars: it
    runs on arrays here, and is compiled together with a robot where that is simulated.

    `robot` is the robot that the controller knows. The one that it controls may be another, with other masses.

    To write one, subclass it: give `numbers`, arrays whose last dimensions are joined to p, and write `torque`, which
    gets them back with `self.parts(p)`. Whatever else changes the text of `torque` belongs into `structure`.
    """

    states: int = 0
    """How many internal states z there are."""

    def __init__(
        self,
        robot: Robot,
        numbers: Mapping[str, Array],
        target: Target | None = None,
        structure: tuple[Hashable, ...] = (),
    ) -> None:
        self.robot = robot
        self.model = edits.merge_fixed(robot.model)
        self.target = target
        self._structure = structure
        self._numbers = dict(numbers)
        if target is not None:
            self._numbers["target"] = target.numbers
        self.parameters = self._joined()
        """The numbers p (..., k) that may vary over a batch: gains, constant targets."""

    @abstractmethod
    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """The torques (nv), in N m or N, and dz/dt (states)."""

    @property
    def width(self) -> int:
        """How many signals s there are."""
        return 0 if self.target is None else self.target.width

    def _joined(self) -> Array:
        p = np.concatenate(together(self._numbers, type(self).__name__), axis=-1) if self._numbers else np.empty(0)
        p.setflags(write=False)
        return p

    def parts(self, p: Scalars) -> list[Scalars]:
        """The parameters by their names, in order; the target's, if there is one, last."""
        lengths = [array.shape[-1] for array in self._numbers.values()]
        ends = np.cumsum(lengths).tolist()
        return [p[end - length : end] for end, length in zip(ends, lengths, strict=True)]

    def signals(self, t: ArrayLike) -> Array:
        """s (T, width) at the times t (T,): all that is known ahead."""
        time = real_array(t, "t").astype(float)
        return np.empty((*time.shape, 0)) if self.target is None else self.target.signals(time)

    @cached_property
    def key(self) -> tuple[Hashable, ...]:
        """All that shapes the text of `torque`: two controllers with the same key differ in p and s only."""
        target = None if self.target is None else self.target.key
        lengths = tuple((name, array.shape[-1]) for name, array in self._numbers.items())
        return (type(self), fingerprint(self.model), target, lengths, self._structure)

    def __call__(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> Array:
        """The torque (..., nv) at the time t (...) in the state q, qd, z, for a loop of one's own."""
        return self.evaluate(t, q, qd, z)[0]

    def evaluate(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, z: ArrayLike | None = None) -> tuple[Array, Array]:
        """The torque (..., nv), and dz/dt (..., states)."""
        name = type(self).__name__
        position, velocity = self.robot._arguments(name, {"q": q, "qd": qd})
        internal = rows_of(np.zeros(self.states) if z is None else z, self.states, f"{name}: z", "internal states")
        arrays = together(
            {"q": position, "qd": velocity, "z": internal, "t": self.signals(t), "parameters": self.parameters}, name
        )
        batch = arrays[0].shape[:-1]
        with np.errstate(all="ignore"):
            tau, rates = self.torque(*(scalars_of(a) for a in arrays))
        return stacked(tau, batch, (self.model.nv,)), stacked(rates, batch, (self.states,))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of robot {self.robot.name!r}>"


def without_dry_friction(model: Model) -> Model:
    """The model as it is but for Coulomb friction, whose sign would flip with every change of a measured velocity."""
    return edits.map_dofs(model, lambda dof: replace(dof, coulomb=0, coulomb_negative=0))

"""One step of an observer with its memory, compiled for loops of one's own.

How to add an observer
----------------------
1. Subclass `Observer`; `inputs` names what a step takes, by the names of a robot's states.
2. In `__init__`, check what the user gives and call `super().__init__(robot, rate, {"gain": gain, ..}, states)`. The
   arrays, (..., k) each, become the parameters p. `structure` holds whatever else shapes the arithmetic.
3. Write `step(*inputs, z, p)` over lists of scalars, without a branch on a value: the estimate (nv) and the memory
   after it. The memory z begins as zeros; its first entry, `begun`, is 1 after the first step.
4. Write `__call__` with the inputs, which returns `self.advance(..)`.

tests/control/test_recipe_observer.py follows these steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainrule.arguments import Array, positive, together
from chainrule.calls import explains_construction
from chainrule.control.tick import Running, Signal, Tick
from chainrule.core.derived import fingerprint, merged_model
from chainrule.errors import ShapeError
from chainrule.model import Quantity
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]
Step = tuple[list[Scalar], list[Scalar]]
"""The estimate, and the memory after a step."""


class Observer:
    """An estimate of what is not measured, from samples at a fixed rate.

    Each call is one sample; the first begins the estimate. What it remembers lasts until `reset()`.
    """

    inputs: ClassVar[tuple[str, ...]] = ("q", "qd", "tau")
    """What a step takes."""

    estimates: ClassVar[tuple[str, Quantity]] = ("torques or forces of the world on the joints", "effort")
    """What it gives, and as which quantity of the joints."""

    step: Callable[..., Step]
    """The estimate (nv) at a sample, and the memory after it, of (*inputs, z, p)."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            explains_construction(cls)

    def __init__(
        self,
        robot: Mechanism,
        rate: float,
        parameters: Mapping[str, Array],
        states: int,
        structure: tuple[Hashable, ...] = (),
    ) -> None:
        self.robot, self.model = robot, merged_model(robot)
        self.rate = positive(rate, f"{type(self).__name__}: rate", unit="Hz")
        """Samples a second."""
        self.states = states
        """The length of the memory z."""
        self.parameters = np.concatenate(together(dict(parameters), type(self).__name__), axis=-1)
        """The parameters p (..., k), which may vary over a batch."""
        self.key: tuple[Any, ...] = ("observer", type(self), fingerprint(robot), states, structure)
        """What the arithmetic of `step` depends on, besides its arguments."""
        self._lengths = [array.shape[-1] for array in parameters.values()]
        self._running: Running | None = None
        self.reset()

    def parts(self, p: Scalars) -> list[Scalars]:
        """The parameters by their names, in order."""
        ends = np.cumsum(self._lengths).tolist()
        return [p[end - length : end] for end, length in zip(ends, self._lengths, strict=True)]

    def reset(self) -> None:
        """Begin again: the next call is the first."""
        self._memory = np.zeros(self.states)
        if self._running is not None:
            self._running.reset()

    def tick(self, rate: float | None = None) -> Tick:
        """One step, as `cr.export` writes it."""
        name, robot = type(self).__name__, self.robot
        if rate is not None and not math.isclose(rate, self.rate):
            raise ShapeError(
                f"{name}: made for {self.rate:g} Hz, not for {rate:g}; make another one with rate={rate:g}"
            )
        signals: dict[str, tuple[str, Quantity]] = {
            "q": ("measured positions", "position"),
            "qd": ("measured velocities", "velocity"),
            "tau": ("torques or forces of the motors since the last sample", "effort"),
        }
        return Tick(
            kind=name,
            robot=robot,
            period=1 / self.rate,
            inputs=tuple(Signal.of_joints(robot, key, *signals[key]) for key in self.inputs),
            outputs=(Signal.of_joints(robot, "estimate", *self.estimates),),
            compute=lambda inputs, z, s, p: self.step(*inputs, z, p),
            key=self.key,
            memory=np.zeros(self.states),
            memory_meaning="what the observer remembers from sample to sample",
            parameters=self.parameters,
        )

    def advance(self, *inputs: Any) -> Array:
        """The estimate (..., nv) at the next sample; a batch has a memory for each row."""
        if self._running is None:
            self._running = Running(self.tick())
            self._running.memory = self._memory
        return self._running.advance(*inputs)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_running": None, "_memory": self._running.memory if self._running else self._memory}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of robot {self.robot.name!r}, {self.rate:g} Hz>"

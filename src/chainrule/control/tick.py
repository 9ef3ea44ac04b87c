"""One tick of what runs at a fixed rate: a controller, a filter, an observer.

How to make something that can be called at speed and exported
--------------------------------------------------------------
1. Give it a method `tick(rate)` that returns a `Tick`, at its own rate for None: names, orders and units of inputs and
   outputs, the memory at the start, and `compute`: plain arithmetic over lists of scalars, without a branch on a value.
2. `compute(inputs, memory, s, p)` returns the outputs and the memory after the tick, two flat lists. `inputs` has a
   list for each input. `p` are the numbers of `parameters`: gains, and what depends on the rate, so that they are not
   folded into other constants. `s` ends with the time since the piece of the `reference` began and the time, tick times
   period, both in s; before them is the row of that piece, empty without a reference.
3. That is all: `Running(tick)` calls it from Python, `cr.export(it, "c", path=path)` writes it. Both do the same
   operations in the same order, each rounded by itself (`compile/portable.py`): numbers are equal to the last bit.

tests/control/test_recipe_tick.py follows these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, together
from chainrule.compile.backend import Traceable, active
from chainrule.compile.portable import Reproducible
from chainrule.compile.tape import Tape
from chainrule.core.derived import backend_of
from chainrule.core.reading import read_joints
from chainrule.model import Quantity
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.control.laws.pieces import Pieces
    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class Signal:
    """An input or an output: an identifier, what it is, and the names and units of its numbers in their order."""

    name: str
    meaning: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    quantity: Quantity | None = None
    """Whether it is a quantity of the robot's joints, which may be given by their names."""

    @classmethod
    def of_joints(cls, robot: Mechanism, name: str, meaning: str, quantity: Quantity) -> Signal:
        """Numbers of the joints: "position", "velocity", "effort" or another quantity of the robot's layout."""
        layout = robot.model.layout
        return cls(name, meaning, tuple(layout.names_of(quantity)), tuple(layout.units_of(quantity)), quantity)


@dataclass(frozen=True)
class Tick:
    """A function of inputs and memory that gives outputs and memory, once in a period. See the steps above."""

    kind: str
    """What it is, such as "ComputedTorque"."""
    robot: Mechanism
    period: float
    """The time from one tick to the next, in s."""
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    compute: Callable[[Sequence[Scalars], Scalars, Scalars, Scalars], tuple[Scalars, Scalars]]
    key: Hashable
    """What shapes its arithmetic: equal keys mean equal functions."""
    memory: Array = field(default_factory=lambda: np.zeros(0))
    """The memory at the start."""
    memory_meaning: str = "what it remembers from tick to tick"
    parameters: Array = field(default_factory=lambda: np.zeros(0))
    reference: Pieces | None = None

    @property
    def source(self) -> Traceable:
        """The function of the lists that are not empty: inputs, memory, row and times, parameters."""
        takes = [bool(length) for length in self._all_lengths]
        count = len(self.inputs)

        def function(*given: Scalars) -> list[Scalar]:
            rest = iter(given)
            *inputs, memory, row, times, p = (next(rest) if taken else [] for taken in takes)
            outputs, after = self.compute(inputs[:count], memory, [*row, *times], p)
            return [*outputs, *after]

        key = ("tick", self.kind, self.key, tuple(self._all_lengths))
        return Traceable(Reproducible(function), key, self.robot.name, f"{self.kind} tick")

    @property
    def _all_lengths(self) -> list[int]:
        """The lengths of the inputs, the memory, the row of the reference, the times, and the parameters."""
        inputs = [len(signal.names) for signal in self.inputs]
        width = 0 if self.reference is None else self.reference.width
        return [*inputs, self.memory.shape[-1], width, 2, self.parameters.shape[-1]]

    @property
    def lengths(self) -> list[int]:
        """The lengths of the lists that the function takes, none of them empty."""
        return [length for length in self._all_lengths if length]

    def tape(self) -> Tape:
        """The traced function."""
        from chainrule.compile.program import trace_function

        return trace_function(self.source.function, self.lengths)


class Running:
    """A tick that is called from Python: `running(*inputs)` gives the outputs and goes on to the next tick.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> q = Signal.of_joints(arm, "q", "positions", "position")
    >>> def plus_ticks(inputs, memory, s, p):
    ...     return [a + memory[0] for a in inputs[0]], [memory[0] + 1]
    >>> running = Running(Tick("Plus", arm, 0.001, (q,), (q,), plus_ticks, "plus", np.zeros(1)))
    >>> [running([0.0, 0.5])[0].tolist() for _ in range(2)]
    [[0.0, 0.5], [1.0, 1.5]]
    """

    def __init__(self, tick: Tick) -> None:
        self.tick, self.count = tick, 0
        self.memory = tick.memory
        """The memory after the last tick."""
        self._period, self._reference, self._times = tick.period, tick.reference, np.zeros(2)
        self._parameters = [np.ascontiguousarray(tick.parameters)] if tick.parameters.size else []
        ends = np.cumsum([len(signal.names) for signal in tick.outputs]).tolist()
        self._outputs = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
        self._end = ends[-1]
        quaternions = tuple((0, at) for _, at in tick.robot.model.quaternions) if tick.inputs[0].name == "q" else ()
        backend = active(backend_of(tick.robot))
        self._function = backend.vector_function(tick.source, tick.lengths, self._read, quaternions)

    def _read(self, *given: ArrayLike) -> list[Array]:
        """The arguments as arrays, numbers of joints by their names too."""
        tick = self.tick
        read = {
            signal.name: real_array(value, f"{tick.kind}: {signal.name}").astype(float)
            if signal.quantity is None
            else read_joints(tick.robot, value, signal.quantity, f"{tick.kind}: {signal.name}")
            for signal, value in zip(tick.inputs, given, strict=False)
        }
        rest = {f"argument {k}": np.asarray(given[k], dtype=float) for k in range(len(read), len(given))}
        return together(read | rest, tick.kind)

    def advance(self, *inputs: Any) -> Array:
        """The outputs at the time of this tick, one after the other in one array."""
        times = self._times
        times[1] = t = self.count * self._period
        if self._reference is None:
            rest = (times, *self._parameters)
        else:
            row, times[0] = self._reference.at(t)
            rest = (row, times, *self._parameters)
        self.count += 1
        if not self.memory.size:
            return self._function(*inputs, *rest)
        found = self._function(*inputs, self.memory, *rest)
        self.memory = found[..., self._end :]
        return found[..., : self._end]

    def __call__(self, *inputs: Any) -> tuple[Array, ...]:
        """The outputs at the time of this tick."""
        found = self.advance(*inputs)
        return tuple(found[..., part] for part in self._outputs)

    def reset(self) -> None:
        """Begin again, at tick 0 with the memory of the start."""
        self.count, self.memory = 0, self.tick.memory

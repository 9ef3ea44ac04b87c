"""Random starts, torques and numbers of a robot for the runs of a Monte Carlo: by a function, or by distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import read_parameters
from chainrule.core.reading import read_argument
from chainrule.display.text import FieldsShown
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.kinematics.configurations import integrate
from chainrule.model.parameters import find_parameters, is_parameter, parameter_length, parameter_names
from chainrule.simulation.torque_rows import join_torque, split_torque

Draw = Callable[[np.random.Generator, int], Mapping[str, Any]] | Mapping[str, Any]
"""A function of a generator and a number of runs, or a distribution for each name."""

ARGUMENTS = ("q0", "qd0", "torque")
"""What may be drawn beside parameters of the robot."""

DISTRIBUTIONS = {
    "normal": "('normal', mean, std)",
    "uniform": "('uniform', low, high)",
    "lognormal": "('lognormal', mean, sigma)",
    "choice": "('choice', values)",
}
"""How each is written."""


@dataclass(frozen=True, eq=False, repr=False)
class Runs(FieldsShown):
    """Starts, torques and parameters drawn for some runs, a row for each; None where nothing was."""

    q0: Array
    qd0: Any
    torque: Any
    parameters: Mapping[str, Any] | None

    def __len__(self) -> int:
        return len(self.q0)

    def part(self, robot: Mechanism, rows: slice) -> Runs:
        """Some of them."""
        law, numbers = split_torque(robot, self.torque)
        own = {name: array[rows] if array.ndim > 1 else array for name, array in (self.parameters or {}).items()}
        return Runs(
            self.q0[rows],
            None if self.qd0 is None else self.qd0[rows],
            join_torque(law, numbers[rows] if numbers is not None and numbers.ndim > 1 else numbers),
            own or None,
        )


class DrawnValues(Mapping[str, Any]):
    """Drawn numbers by name, as a controller sees them; the names that it reads are remembered."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.read: set[object] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        if name not in self._values:
            raise UnknownNameError.of("number", name, self._values, "monte_carlo: what draw gives the controller")
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The numbers drawn under a name, or the default."""
        self.read.add(name)
        return self._values.get(name, default)

    def __contains__(self, name: object) -> bool:
        self.read.add(name)
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True, eq=False)
class RunSampler:
    """The way runs are drawn: `draw`, and the torque that is made of it."""

    robot: Mechanism
    draw: Draw
    torque: Any
    controller: Callable[[Mapping[str, Any]], Any] | None

    def runs(self, generator: np.random.Generator, count: int) -> Runs:
        """Runs of this number, checked for their shapes."""
        robot, drawn = self.robot, self._draw(generator, count)
        if "q0" not in drawn:
            raise ShapeError(
                f"monte_carlo: draw gives no q0, the starts ({count}, {robot.nq}); it gives {sorted(drawn)}"
            )
        torque = self._torque(drawn)
        others = {name: value for name, value in drawn.items() if name not in ARGUMENTS}
        if self.controller is not None:
            others = {name: value for name, value in others.items() if is_parameter(name)}
        q0 = self._rows(read_argument(robot, "monte_carlo", "q0", drawn["q0"]), count, "q0", robot.nq)
        qd0 = drawn.get("qd0")
        if qd0 is not None:
            qd0 = self._rows(read_argument(robot, "monte_carlo", "qd0", qd0), count, "qd0", robot.nv)
        numbers = read_parameters(robot.model, "monte_carlo", others or None).as_dict()
        for name, array in numbers.items():
            if array.ndim > 1:
                self._rows(array, count, name, array.shape[-1])
        law_numbers = split_torque(robot, torque)[1]
        if law_numbers is not None and np.ndim(law_numbers) > 1:
            self._rows(law_numbers, count, "torque", np.shape(law_numbers)[-1])
        return Runs(q0, qd0, torque, numbers or None)

    def _torque(self, drawn: Mapping[str, Any]) -> Any:
        """The torque of runs, from the one place that gives it."""
        ways = {"torque": self.torque is not None, "controller": self.controller is not None, "draw": "torque" in drawn}
        if sum(ways.values()) > 1:
            both = " and ".join(way for way, is_used in ways.items() if is_used)
            raise ShapeError(f"monte_carlo: {both} both give the torque; leave one out")
        if self.controller is None:
            return drawn.get("torque", self.torque)
        seen = DrawnValues(drawn)
        torque = self.controller(seen)
        self._refuse_unread(seen)
        return torque

    def _refuse_unread(self, drawn: DrawnValues) -> None:
        """An error for a name that neither the robot nor the controller knows: nothing would depend on it."""
        for name in drawn:
            if name in drawn.read or name in ARGUMENTS or is_parameter(name):
                continue
            known = [
                *ARGUMENTS,
                *(read for read in drawn.read if isinstance(read, str)),
                *parameter_names(self.robot.model),
            ]
            error = UnknownNameError.of("number", name, known, f"robot {self.robot.name!r}")
            raise UnknownNameError(
                f"monte_carlo: {name!r} is drawn and never used: the controller does not read it, and {error}"
            )

    def _draw(self, generator: np.random.Generator, count: int) -> Mapping[str, Any]:
        is_table = isinstance(self.draw, Mapping)
        drawn: Any = self.draw if isinstance(self.draw, Mapping) else self.draw(generator, count)
        if not isinstance(drawn, Mapping) or not all(isinstance(name, str) for name in drawn):
            raise ShapeError(
                f"monte_carlo: draw must {'be' if is_table else 'return'} a dictionary such as {{'q0': starts, "
                f"'hand.payload.mass': masses}}, got {short_repr(drawn)}"
            )
        if not is_table:
            return drawn
        robot, each = self.robot, drawn.items()
        return {name: _flat(robot, name, draw_from(robot, name, of, generator, count), count) for name, of in each}

    @staticmethod
    def _rows(array: Array, count: int, name: str, width: int) -> Array:
        """Rows for all runs; one row is that of all."""
        if array.ndim == 1:
            return np.broadcast_to(array, (count, width))
        if array.shape != (count, width):
            raise ShapeError(
                f"monte_carlo: draw was asked for {count} runs, and {name} has the shape {array.shape}; give "
                f"({count}, {width}), or ({width},) for the same in all runs"
            )
        return array


def draw_from(robot: Mechanism, name: str, of: Any, generator: np.random.Generator, count: int) -> Any:
    """Numbers (count, k) from a distribution: ("normal", mean, std), ("uniform", low, high), a frozen one of SciPy.

    Anything else is the same for all runs. Normal configurations of robots with quaternions are drawn around their mean
    in the directions of the velocities.
    """
    if hasattr(of, "rvs"):
        return np.asarray(of.rvs(size=(count, _width(robot, name)), random_state=generator), dtype=float)
    if not isinstance(of, tuple) or not of or not isinstance(of[0], str):
        return of
    kind, *numbers = of
    if kind not in DISTRIBUTIONS:
        raise ShapeError(
            f"monte_carlo: the distribution of {name} is {kind!r}; known are {', '.join(DISTRIBUTIONS.values())}"
        )
    if kind == "choice" and len(numbers) == 1:
        among = real_array(numbers[0], f"monte_carlo: {name}")
        if not among.ndim or not len(among):
            raise ShapeError(f"monte_carlo: {name} must be {DISTRIBUTIONS[kind]}, some of them, got {short_repr(of)}")
        rows = among[generator.integers(0, len(among), count)]
        return rows if rows.ndim > 1 else rows[:, None]
    if len(numbers) != 2:
        raise ShapeError(f"monte_carlo: {name} must be {DISTRIBUTIONS[kind]}, got {short_repr(of)}")
    first, second = (real_array(x, f"monte_carlo: {name}").astype(float) for x in numbers)
    if kind == "normal" and name == "q0" and robot.nq != robot.nv:
        step = np.broadcast_to(second, (count, robot.nv)) * generator.standard_normal((count, robot.nv))
        return integrate(robot, np.broadcast_to(first, (count, robot.nq)), step)
    try:
        width = np.broadcast_shapes(first.shape, second.shape, (_width(robot, name),))
        return getattr(generator, kind)(first, second, (count, *width))
    except ValueError as error:  # a negative deviation, shapes that do not fit
        raise ShapeError(f"monte_carlo: {name} cannot be drawn from {short_repr(of)}: {error}") from None


def _flat(robot: Mechanism, name: str, value: Any, count: int) -> Any:
    """What was drawn (count, 1) for one number as (count,)."""
    is_one = is_parameter(name) and parameter_length(robot.model, name) == 1
    return value[:, 0] if is_one and np.shape(value) == (count, 1) else value


def _width(robot: Mechanism, name: str) -> int:
    """How many numbers a name has in a run; of a payload, its mass alone, unless more are given."""
    if name in ARGUMENTS:
        return robot.nq if name == "q0" else robot.nv
    if not is_parameter(name):
        return 1
    (parameter,) = find_parameters(robot.model, (name,))
    return 1 if parameter.kind.form == "LINK.payload" and parameter.which is None else len(parameter.labels)

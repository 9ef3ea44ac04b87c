"""The functions of a plant that a step evaluates, as calls: in place, or of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from chainrule.algorithms.sticking import Slip, loop_sticking_pass, sticking_pass
from chainrule.compile.backend import Backend, OutlinedCall, active
from chainrule.compile.portable import Reproducible
from chainrule.simulation.plant import Plant, Rates, Scalars
from chainrule.simulation.sampled import sample_sources
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import is_zero, where


class PlantCalls:
    """The plant's functions by calls: traced into a loop, compiled one by one, or made in place.

    With `by_rates` the joints that stick are found by `rates_pass`, where that is possible.
    """

    def __init__(
        self, plant: Plant, call: OutlinedCall, p: Scalars, close: OutlinedCall | None = None, by_rates: bool = False
    ) -> None:
        self.plant, self.call, self.p, self.by_rates = plant, call, p, by_rates
        self.close = call if close is None else close
        """Calls of the functions that close loops."""

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, slip: Slip | None) -> Rates:
        """`Plant.rates`."""
        if slip is None:
            return self.plant.unpack(self.call("rates", self._rates, q, v, x, s, self.p))
        flat = self.call("rates_slipping", self._rates, q, v, x, s, self.p, slip.direction, slip.is_free)
        return self.plant.unpack(flat)

    def _rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, *slip: Scalars) -> list[Scalar]:
        return self.plant.at(p).rates(q, v, x, s, p, Slip(*slip) if slip else None).flat()

    def sticking_problem(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, direction: Scalars) -> Scalars:
        """`Plant.sticking_problem`."""

        def resting() -> Scalar:
            return _count([1 - direction[i] * direction[i] for i in self.plant.can_stick])

        problem = self._in_state(Plant.sticking_problem)
        return self.call("sticking", problem, q, v, x, s, self.p, direction, when=resting)

    def _in_state(self, function: Callable[..., Scalars]) -> Callable[..., Scalars]:
        """A function of a plant in a state, as one of scalars alone: q, v, x, the signals, the parameters, and more."""
        return lambda q, v, x, s, p, *more: function(self.plant.at(p), q, v, x, s, p, *more)

    def sticking_pass(self, *problem: Scalars) -> Scalars:
        """`sticking.sticking_pass`: needed while joints at rest contradict what they are taken for."""
        sticking = loop_sticking_pass if self.plant.rows else sticking_pass
        *_, resting, _, counters = problem

        def contradicts() -> Scalar:
            return counters[0] * _count(resting)

        return self.call("sticking_pass", sticking, *problem, when=contradicts, is_iteration=True)

    def rates_pass(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, *problem: Scalars) -> Scalars:
        """`Plant.rates_pass`: needed until no joint contradicts what it is taken for."""
        contradictions = problem[-1][0]
        rates, arguments = self._in_state(Plant.rates_pass), (q, v, x, s, self.p, *problem)
        return self.call("rates_pass", rates, *arguments, when=lambda: contradictions, is_iteration=True)

    def jump(self, q: Scalars, is_free: Scalars, prescribed: Scalars) -> tuple[Scalars, Scalars]:
        """The jumps and the impulses of `Plant.jump`."""
        arguments = (q, is_free, prescribed, *self._robot_parameters)
        both = self.call("jump", self._of_plant(Plant.jump), *arguments, when=lambda: _count(prescribed))
        return both[: len(both) // 2], both[len(both) // 2 :]

    def closing_step(self, q: Scalars, is_free: Scalars) -> Scalars:
        """`Plant.closing_step`."""
        return self.close("close", self._of_plant(Plant.closing_step), q, is_free, *self._robot_parameters)

    def consistent_velocity(self, q: Scalars, v: Scalars, is_free: Scalars) -> Scalars:
        """`Plant.consistent_velocity`."""
        return self.close("settle", self._of_plant(Plant.consistent_velocity), q, v, is_free, *self._robot_parameters)

    @property
    def _robot_parameters(self) -> list[Scalars]:
        """The parameters, for functions that need them only where those of the robot are among them."""
        return [self.p] if self.plant.opened else []

    def _of_plant(self, function: Callable[..., Scalars]) -> Callable[..., Scalars]:
        """A function of a plant, as one of scalars alone; the parameters come last."""
        if not self.plant.opened:
            return partial(function, self.plant)
        return lambda *arguments: function(self.plant.at(arguments[-1]), *arguments[:-1])

    def sample(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars) -> Scalars:
        """The further states x after laws are sampled, if the signals say that this is the time."""
        return self.call("sample", Reproducible(partial(sample_sources, self.plant)), q, v, x, s, self.p)


def _count(values: Scalars) -> Scalar:
    """How many of the values are not zero."""
    return sum((where(x == 0, 0.0, 1.0) for x in values if not is_zero(x)), start=0)


def plant_calls(plant: Plant, p: Scalars, backend: Backend) -> PlantCalls:
    """The plant's functions on arrays, called from Python for parameters p, each a number for every row."""
    backend = active(backend)
    call = backend.outlined_call(plant.fingerprint if backend.compiles else (), plant.model.name)
    return PlantCalls(plant, call, p)

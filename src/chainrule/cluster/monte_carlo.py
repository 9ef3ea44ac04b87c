"""Monte Carlo: many runs of a simulation with random starts, gains and masses, reduced to statistics on the way.

Runs are drawn and simulated in blocks. The seed and the number of a block decide what is in it, and blocks are merged
in their order, so that the result does not depend on where, or by how many, they were computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, names, one_of, real_array, whole_number
from chainrule.calls import explains_arguments
from chainrule.cluster.client import connect
from chainrule.cluster.draws import Draw, Runs, RunSampler
from chainrule.cluster.stream import run_tasks
from chainrule.control.laws.controller import Controller
from chainrule.core.at import bind
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import ParameterValues
from chainrule.errors import (
    ChainruleError,
    ShapeError,
    SimulationError,
    SimulationWarning,
    import_optional,
    short_repr,
    warn_user,
)
from chainrule.simulation.columns import COLUMNS, WORKS
from chainrule.simulation.dask_batches import sample_times, with_rows_of_whole
from chainrule.simulation.guards import max_kinetic_energy
from chainrule.simulation.run import read_request
from chainrule.simulation.simulate import simulate
from chainrule.simulation.time_loop import record_size
from chainrule.simulation.torque_rows import mixes_rows
from chainrule.simulation.trajectory import Trajectory
from chainrule.statistics.statistics import Statistics

BLOCK = 1000
"""Runs that are drawn and simulated together."""

SAMPLES = 200
"""About how many samples of a run are recorded, unless `record` says otherwise."""

INSTANTS = 26
"""Times at which there are statistics over all runs."""

MAX_BLOCK_BYTES = 1 << 30
"""Memory for the recorded motions of a block."""

MAX_NAMED = 1000
"""Runs without a result that are named."""

UNFIT = {
    "parameters": "numbers of the robot are drawn by their names, those that are the same in all runs too",
    "events": "they end motions at times of their own; find them in the motion, by a measure",
    "device": "runs are simulated on CPUs",
    "dtype": "runs are simulated on CPUs, in float64",
    "diverged": "runs that diverge are counted and named",
}
"""Options of `simulate` that a Monte Carlo does not take, and why."""

QUANTITIES = ("q", "qd", "tau", "energy")
KNOWN_QUANTITIES = (*COLUMNS, "power", "energy", "kinetic_energy", "potential_energy")

Measure = Callable[[Trajectory], Mapping[str, Any]]


@explains_arguments
def monte_carlo(
    robot: Mechanism,
    draw: Draw,
    runs: int,
    duration: float = 1.0,
    torque: Any = None,
    *,
    seed: int = 0,
    controller: Callable[[Mapping[str, Any]], Any] | None = None,
    measure: Measure | None = None,
    quantities: Sequence[str] = QUANTITIES,
    block: int = BLOCK,
    record: int | None = None,
    cluster: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> MonteCarlo:
    """Statistics of many simulated motions whose starts, torques and numbers of the robot are random.

    The same seed gives the same runs, and the same statistics to the last bit, whatever the number of workers. At no
    time is there more than a block of motions in a process.

    Parameters
    ----------
    robot
        The robot.
    draw
        A function of a NumPy generator and a number of runs that returns a dictionary: "q0" (runs, nq), "qd0"
        (runs, nv), "torque" (whatever `simulate` takes, a controller with gains for each run among it), and parameters
        of the robot such as "hand.payload.mass" (runs,); or a dictionary with a distribution for each name: ("normal",
        mean, std), ("uniform", low, high), ("lognormal", mean, sigma), ("choice", values), a frozen distribution of
        SciPy, or numbers that are the same in all runs.
    runs
        Their number.
    duration, torque
        As of `simulate`.
    seed
        Seed of all random numbers.
    controller
        A function of what was drawn, a dictionary with other names such as "kp" among it, that returns the torque: a
        controller with gains (runs, n). A name that it does not read, and that is no number of the robot, is refused.
    measure
        A function of the trajectory (runs, T, n) of a block that returns a dictionary of arrays (runs,) or (runs, k),
        of which there are statistics too.
    quantities
        Of which there are statistics: "q", "qd", "qdd", "tau", "friction", "work", "states", "power", "energy",
        "kinetic_energy", "potential_energy".
    block
        Runs that are drawn and simulated together. Another number gives other random numbers.
    record
        Every how many steps a sample is kept, of which the statistics are; about 200 samples a run unless given.
    cluster, workers
        The address, Client or Cluster of Dask, or a number of processes on this machine; in this process with
        all its cores otherwise.
    progress
        Show a progress bar; None for on a terminal only.
    **options
        Others of `simulate`: integrator, dt, tip_wrench, external, prescribed, stops, limits...

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> swings = cr.monte_carlo(arm, {"q0": ("normal", [0.5, 0.0], 0.1)}, 2000, 0.5, seed=1, dt=5e-3)
    >>> swings
    <MonteCarlo of 'planar_2r': 2000 runs of 0.5 s, none diverged>
    >>> swings.statistics["qd"].maximum_row.shape, swings.over_time["q"].shape
    ((2,), (26, 2))
    """
    plan = _read_plan(
        robot, draw, runs, duration, torque, seed=seed, controller=controller, measure=measure,
        quantities=quantities, block=block, record=record, options=options,
    )  # fmt: skip
    total, warned = BlockResult({}, {}, {}), 0
    with connect(cluster, workers) as client:
        run = partial(_run_block, plan)
        bar: dict[str, Any] = {"progress": progress, "doing": "simulating", "unit": "blocks"}
        for outcome in run_tasks(run, range(plan.blocks), client, name=plan.name_of, **bar):
            block_result = outcome.get()
            warned += bool(block_result.warnings)
            total = total.merge(block_result)
    if warned:
        warn_user(f"monte_carlo: {warned} of {plan.blocks} blocks warn. {total.warnings[0]}", SimulationWarning)
    if total.lost == plan.runs:
        raise SimulationError(
            f"monte_carlo: all {plan.runs} runs diverge; simulate one of them, by what draw gives, to see where"
        )
    return MonteCarlo(
        robot, plan.runs, plan.t, total.whole, total.over_time, total.measures, total.lost, total.named, plan
    )


@dataclass(frozen=True, eq=False)
class MonteCarlo:
    """Statistics of the runs of a Monte Carlo that did not diverge; rows are the numbers of runs."""

    robot: Mechanism
    runs: int
    t: Array
    """The times of `over_time`, in s."""
    statistics: Mapping[str, Statistics]
    """Of all samples of all runs: `statistics["tau"].maximum` (n,), and `maximum_row`, the run that has it."""
    over_time: Mapping[str, Statistics]
    """Of all runs at the times t: `over_time["q"].quantile(0.95)` (times, n)."""
    measures: Mapping[str, Statistics]
    """Of what `measure` returned."""
    diverged_count: int
    """Runs that diverged, or could not be simulated to their end; no other number counts them."""
    diverged: tuple[int, ...]
    """The numbers of the first thousand of them."""
    plan: MonteCarloPlan = field(repr=False)

    def __repr__(self) -> str:
        lost = f"{self.diverged_count} diverged" if self.diverged_count else "none diverged"
        return f"<MonteCarlo of {self.robot.name!r}: {self.runs} runs of {self.plan.duration:g} s, {lost}>"

    def inputs(self, run: int) -> Runs:
        """The numbers drawn for one run: q0, qd0, torque and parameters, each with one row."""
        block, row = self._place(run)
        return self.plan.draw(block).part(self.robot, slice(row, row + 1))

    def rerun(self, run: int) -> Trajectory:
        """The motion of one run again, exactly as it was. One that diverged raises the error that says where."""
        block, row = self._place(run)
        whole = self.plan.draw(block)
        if mixes_rows(whole.torque):
            return self.plan.simulate(whole, diverged="keep").row(row)
        return self.plan.simulate(whole.part(self.robot, slice(row, row + 1)), diverged="raise").row(0)

    def _place(self, run: int) -> tuple[int, int]:
        """The block of a run, and its row there."""
        return divmod(whole_number(run, "monte_carlo: run", most=self.runs - 1), self.plan.block)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each number of the statistics and measures, by quantity and name."""
        pandas = import_optional("pandas", "to_pandas")
        tables = {name: part.to_pandas() for name, part in {**self.statistics, **self.measures}.items()}
        return pandas.concat(tables, names=["quantity", "place"])


# --- the plan ---


@dataclass(frozen=True, eq=False)
class MonteCarloPlan:
    """A Monte Carlo, checked: everything that a worker needs for any of its blocks."""

    drawing: RunSampler
    runs: int
    block: int
    seed: int
    duration: float
    measure: Measure | None
    quantities: tuple[str, ...]
    options: Mapping[str, Any]
    samples: int = 0
    """Samples of a motion that runs to its end."""
    places: tuple[int, ...] = ()
    """The samples of which there are statistics over all runs."""
    t: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def robot(self) -> Mechanism:
        """The robot."""
        return self.drawing.robot

    @property
    def blocks(self) -> int:
        """Their number."""
        return -(-self.runs // self.block)

    def name_of(self, number: int) -> str:
        """A block in messages."""
        return f"monte_carlo: runs {number * self.block} to {min((number + 1) * self.block, self.runs) - 1}"

    def draw(self, number: int) -> Runs:
        """The runs of a block."""
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        return self.drawing.runs(generator, self.block)

    def simulate(self, runs: Runs, diverged: str) -> Trajectory:
        """The motions of some runs."""
        robot = bind(self.robot, ParameterValues.of(runs.parameters))
        options = {"diverged": diverged, "progress": False, **self.options}
        return simulate(robot, runs.q0, runs.qd0, self.duration, runs.torque, **options)


def _read_plan(
    robot: Mechanism,
    draw: Draw,
    runs: int,
    duration: float,
    torque: Any,
    *,
    seed: int,
    controller: Any,
    measure: Any,
    quantities: Sequence[str],
    block: int,
    record: int | None,
    options: Mapping[str, Any],
) -> MonteCarloPlan:
    """A Monte Carlo, checked by drawing its first block."""
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"monte_carlo: robot must be a Robot, got {short_repr(robot)}")
    if not isinstance(draw, Mapping) and not callable(draw):
        raise ShapeError(
            "monte_carlo: draw must be a function of a generator and a number of runs, or a dictionary of "
            f"distributions, got {short_repr(draw)}"
        )
    if isinstance(controller, Controller):
        raise ShapeError("monte_carlo: controller is a function of what was drawn; give one for all runs as torque=...")
    for name, value in {"controller": controller, "measure": measure}.items():
        if value is not None and not callable(value):
            raise ShapeError(f"monte_carlo: {name} must be a function, got {short_repr(value)}")
    _refuse_options(options, torque)
    wanted = names(quantities, "monte_carlo: quantities")
    for name in wanted:
        one_of(KNOWN_QUANTITIES, name, "quantity", "monte_carlo")
    plan = MonteCarloPlan(
        drawing=RunSampler(robot, draw, torque, controller),
        runs=whole_number(runs, "monte_carlo: runs", 1),
        block=whole_number(block, "monte_carlo: block", 1),
        seed=whole_number(seed, "monte_carlo: seed"),
        duration=duration,
        measure=measure,
        quantities=wanted,
        options=dict(options),
    )
    return _with_times(plan, record)


def _with_times(plan: MonteCarloPlan, record: int | None) -> MonteCarloPlan:
    """A plan with the times of samples, checked by drawing the first block."""
    first = plan.draw(0)
    own = {"duration": plan.duration, "progress": False, "events": None, "diverged": "keep"}
    given = {**_simulate_options(), **plan.options, **own}
    if record is not None:
        given["record"] = record
    request, _ = read_request(
        plan.robot, first.q0, first.qd0, first.torque, ParameterValues.of(first.parameters), None, **given
    )
    if record is None:
        every = max(1, round(request.duration / request.integrator.dt / SAMPLES))
        request = replace(request, record_every=every)
    times = sample_times(request)
    size = plan.block * len(times) * record_size(request.plant) * 8
    if size > MAX_BLOCK_BYTES:
        raise ShapeError(
            f"monte_carlo: a block of {plan.block} runs with {len(times)} samples takes {size / 2**30:.3g} GiB; take a "
            "larger record=..., or a smaller block"
        )
    places = np.unique(np.linspace(0, len(times) - 1, INSTANTS).round().astype(int))
    kept = {**plan.options, "record": request.record_every}
    return replace(plan, options=kept, samples=len(times), places=tuple(places.tolist()), t=times[places])


def _simulate_options() -> dict[str, Any]:
    """The options of `simulate` that are the same for all runs, with their defaults."""
    varied = ("robot", "q0", "qd0", "duration", "torque", *UNFIT)
    return {name: item.default for name, item in signature(simulate).parameters.items() if name not in varied}


def _refuse_options(options: Mapping[str, Any], torque: Any) -> None:
    """Errors for options that `simulate` does not have, and for those that do not fit many runs."""
    for name in options:
        if name in UNFIT:
            raise ShapeError(f"monte_carlo: the option {name} is not for it: {UNFIT[name]}")
        one_of(_simulate_options(), name, "option", "monte_carlo")
    if mixes_rows(torque):
        raise ShapeError(
            "monte_carlo: noise of cr.Sampled, and samples of torques for each row, belong to the rows of one batch, "
            "and would repeat in each block; let draw return the torque, with a seed from its generator"
        )


# --- blocks ---


class BlockResult(NamedTuple):
    """Statistics of the runs of a block."""

    whole: Mapping[str, Statistics]
    over_time: Mapping[str, Statistics]
    measures: Mapping[str, Statistics]
    lost: int = 0
    named: tuple[int, ...] = ()
    """The first of the runs without a result."""
    warnings: tuple[str, ...] = ()
    """The first message, if there is one."""

    def merge(self, other: BlockResult) -> BlockResult:
        """Those of this block, and of one after it."""
        return BlockResult(
            _merge(self.whole, other.whole),
            _merge(self.over_time, other.over_time),
            _merge(self.measures, other.measures),
            self.lost + other.lost,
            (self.named + other.named)[:MAX_NAMED],
            self.warnings or other.warnings,
        )


def _merge(some: Mapping[str, Statistics], more: Mapping[str, Statistics]) -> Mapping[str, Statistics]:
    if not some or not more:
        return some or more
    if some.keys() != more.keys():
        raise ShapeError(f"monte_carlo: measure gives {sorted(some)} for some runs, and {sorted(more)} for others")
    return {name: part.merge(more[name]) for name, part in some.items()}


def _run_block(plan: MonteCarloPlan, number: int) -> BlockResult:
    """The statistics of one block: a task."""
    first, drawn = number * plan.block, plan.draw(number)
    count = min(plan.block, plan.runs - first)
    if count < plan.block and not mixes_rows(drawn.torque):
        drawn = drawn.part(plan.robot, slice(0, count))
    total = BlockResult({}, {}, {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SimulationWarning)
        try:
            for start, rows, motion in _simulate_parts(plan, drawn):
                numbers = first + np.arange(start, min(start + rows, count))
                total = total.merge(_reduce(plan, motion, numbers))
        except ChainruleError as error:
            raise with_rows_of_whole(error, (first,)) from None
    told = [str(entry.message) for entry in caught if issubclass(entry.category, SimulationWarning)]
    return total._replace(warnings=tuple(f"{plan.name_of(number)}: {message}" for message in told[:1]))


def _simulate_parts(plan: MonteCarloPlan, runs: Runs, start: int = 0) -> Iterator[tuple[int, int, Trajectory | None]]:
    """Motions of parts of a block, with the place of the first and their number; None for one that has no motion.

    Errors that concern one motion, such as a loop that comes open, are found by halving the batch.
    """
    try:
        motion = plan.simulate(runs, "keep")
    except SimulationError:
        if mixes_rows(runs.torque):
            raise
        if len(runs) > 1:
            half = len(runs) // 2
            yield from _simulate_parts(plan, runs.part(plan.robot, slice(0, half)), start)
            yield from _simulate_parts(plan, runs.part(plan.robot, slice(half, None)), start + half)
            return
        yield start, 1, None
    else:
        yield start, len(runs), motion


def _reduce(plan: MonteCarloPlan, motion: Trajectory | None, numbers: NDArray[np.int64]) -> BlockResult:
    """The statistics of the runs with these numbers, the first of a batch of motions."""
    if motion is None or len(motion) < plan.samples:  # it ends early where all rows diverge
        return BlockResult({}, {}, {}, len(numbers), tuple(numbers[:MAX_NAMED].tolist()))
    is_finished = _is_finished(motion)[: len(numbers)]
    lost, kept = numbers[~is_finished], numbers[is_finished]
    if len(kept) < len(motion.q):
        motion = _rows_of(motion, np.flatnonzero(is_finished))
    if not len(kept):
        return BlockResult({}, {}, {}, len(lost), tuple(lost[:MAX_NAMED].tolist()))
    at_each, places = np.repeat(kept, len(motion)), list(plan.places)
    whole, over_time = {}, {}
    for name in plan.quantities:
        values, own = getattr(motion, name), _column_names(plan.robot, name)
        whole[name] = Statistics.of(values.reshape(-1, *values.shape[2:]), at_each, names=own)
        over_time[name] = Statistics.of(values[:, places], kept, names=own)
    return BlockResult(whole, over_time, _measure(plan, motion, kept), len(lost), tuple(lost[:MAX_NAMED].tolist()))


def _is_finished(motion: Trajectory) -> NDArray[np.bool_]:
    """Whether each motion of a batch stays finite, and below the energy beyond which it has diverged."""
    with np.errstate(all="ignore"):
        limit = max_kinetic_energy(motion.robot, motion.q[:, 0], motion.qd[:, 0])
        calm = (motion.kinetic_energy < limit[:, None]).all(axis=1)
    finite = [np.isfinite(getattr(motion, name)).all(axis=(1, 2)) for name in ("q", "qd", "qdd", "tau")]
    return np.asarray(calm & np.all(finite, axis=0))


def _rows_of(motion: Trajectory, rows: NDArray[np.intp]) -> Trajectory:
    """Some motions of a batch."""
    arrays: Any = {name: getattr(motion, name)[rows] for name in COLUMNS}
    own = {name: array[rows] if array.ndim > 1 else array for name, array in motion.parameters.items()}
    return replace(motion, parameters=own, **arrays)


def _column_names(robot: Mechanism, quantity: str) -> tuple[str, ...]:
    if quantity in ("qd", "qdd", "tau", "friction", "power"):
        return tuple(robot.velocity_names)
    return {"q": tuple(robot.coordinate_names), "work": WORKS}.get(quantity, ())


def _measure(plan: MonteCarloPlan, motion: Trajectory, numbers: NDArray[np.int64]) -> dict[str, Statistics]:
    """The statistics of what the user's function makes of motions."""
    if plan.measure is None:
        return {}
    found = plan.measure(motion)
    if not isinstance(found, Mapping):
        raise ShapeError(
            f"monte_carlo: measure must return a dictionary of names and arrays ({len(numbers)},), got "
            f"{short_repr(found)}"
        )
    out = {}
    for name, value in found.items():
        array = real_array(value, f"monte_carlo: measure {name!r}")
        if array.ndim not in (1, 2) or len(array) != len(numbers):
            raise ShapeError(
                f"monte_carlo: measure {name!r} must have a number, or a row of numbers, for each of {len(numbers)} "
                f"motions, got shape {array.shape}"
            )
        out[name] = Statistics.of(array, numbers)
    return out

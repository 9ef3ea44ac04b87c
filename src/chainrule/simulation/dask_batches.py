"""Simulations of Dask arrays of starts: a task for each chunk of the batch, computed when it is asked for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from chainrule.arguments import Array, is_lazy, refuse_nonfinite
from chainrule.compile.runtime.threads import one_thread
from chainrule.core.at import on_chunks
from chainrule.core.dimensions import match_dimensions
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import SHORT_BODIES, ParameterValues, read_parameters, refuse_moving
from chainrule.core.reading import read_argument
from chainrule.dynamics import energy
from chainrule.errors import ChainruleError, ShapeError, SimulationError, SimulationWarning
from chainrule.kinematics.configurations import home
from chainrule.model.parameters import find_parameters, parameter_length
from chainrule.simulation import adaptive, fixed_step
from chainrule.simulation.columns import COLUMNS, MotionArrays
from chainrule.simulation.integrators import AdaptiveStep, FixedStep
from chainrule.simulation.plant import WORKS
from chainrule.simulation.request import SimulationRequest
from chainrule.simulation.run import read_request, run_request
from chainrule.simulation.torque_rows import join_torque, mixes_rows, split_torque
from chainrule.simulation.trajectory import Trajectory

ROW = re.compile(r"\brow \((\d+(?:, \d+)*),?\)")
"""How messages name a row of a batch."""


@dataclass(frozen=True, eq=False)
class LazyTrajectory(MotionArrays[Any]):
    """Motions of a batch that are not computed yet: Dask arrays (..., T, n), one task for each chunk of the batch.

    All arrays come from the same tasks: compute those that are needed together, by `dask.compute(motion.q, motion.tau)`
    or `compute`, and no motion is simulated twice. What reduces them, such as `motion.tau.max(axis=(0, 1))` or
    `cr.Statistics.of(motion.q)`, never holds more than a few chunks.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self._begin_repr()}{self.method}, not computed>"

    @property
    def kinetic_energy(self) -> Any:
        """Kinetic energy, in J: (..., T)."""
        kinetic = on_chunks(self.robot, self._bound, function=energy.kinetic_energy, q=self.q, qd=self.qd)
        return cast(Array, kinetic)

    @property
    def potential_energy(self) -> Any:
        """Potential energy of gravity and springs, in J: (..., T)."""
        potential = on_chunks(self.robot, self._bound, function=energy.potential_energy, q=self.q)
        return cast(Array, potential)

    @property
    def energy(self) -> Any:
        """Sum of kinetic and potential energy, in J: (..., T)."""
        return self.kinetic_energy + self.potential_energy

    @property
    def _bound(self) -> dict[str, Any]:
        """The robot's parameters for samples (..., T), as they are given to `robot.at`."""
        return {
            name: array if parameter_length(self.robot.model, name) == 1 else array[..., None, :]
            for name, array in self.parameters.items()
        }

    def compute(self, **options: Any) -> Trajectory:
        """All motions as an ordinary Trajectory; options are those of `dask.compute`, such as scheduler."""
        import dask

        arrays, given = dask.compute({name: getattr(self, name) for name in COLUMNS}, dict(self.parameters), **options)
        parameters = _read_bound(self.robot, given).as_dict()
        has_end = np.isfinite(arrays["qd"][..., -1, :]).any()
        return Trajectory(
            self.robot,
            self.t,
            **arrays,
            method=self.method,
            status="finished" if has_end else "diverged",
            parameters=parameters,
        )


def simulate_lazily(
    robot: Mechanism,
    q0: Any,
    qd0: Any,
    torque: Any,
    parameters: Any,
    options: dict[str, Any],
    device: Any,
) -> LazyTrajectory:
    """The motions of `simulate`, some of whose arguments are Dask arrays. Everything else is checked now."""
    import dask.array as da

    _refuse_what_chunks_change(torque, options, device)
    options = {**options, "progress": False}
    law, gains = split_torque(robot, torque)
    if isinstance(parameters, ParameterValues):  # read already, each with its length last
        given = parameters.as_dict()
        parameters = {name: x[..., 0] if x.shape[-1] == 1 else x for name, x in given.items()}
    parameters = parameters or {}
    arrays = _read_arrays(robot, q0, qd0, gains, parameters)
    names = tuple(parameters)
    _refuse_other_lengths(robot, arrays, names, law)
    batch = _batch_of(arrays)
    request = _request_of_one(robot, arrays, law, options)
    times, widths = sample_times(request), _widths(robot, request)
    chunk = _Chunks(robot, law, tuple(arrays), names, batch, options, len(times), widths)
    places = [da.arange(n, chunks=-1)[(..., *[None] * (len(batch) - 1 - k))] for k, n in enumerate(batch)]
    inputs = ",".join(["()"] * len(places) + [f"(i{k})" for k in range(len(arrays))])
    records = da.apply_gufunc(
        chunk.simulate,
        f"{inputs}->(t,r)",
        *places,
        *arrays.values(),
        output_dtypes=np.float64,
        output_sizes={"t": len(times), "r": sum(widths.values())},
        allow_rechunk=True,
    )
    ends = np.cumsum(list(widths.values())).tolist()
    columns = {name: records[..., end - width : end] for (name, width), end in zip(widths.items(), ends, strict=True)}
    own = {name: arrays[name] for name in names}
    return LazyTrajectory(robot, times, **columns, method=request.integrator.name, parameters=own)


# --- what is asked for ---


def _refuse_what_chunks_change(torque: Any, options: Mapping[str, Any], device: Any) -> None:
    """Errors for what would depend on how the batch is divided, or has no place in arrays of known size."""
    if options["events"] is not None:
        raise ShapeError(
            "simulate: events end motions at times not known before, so that Dask arrays of them have no size. "
            "Leave events out and look for them in the recorded motion, or give q0 and qd0 as arrays of NumPy"
        )
    if device is not None:
        raise ShapeError("simulate: Dask arrays are simulated on the CPU; leave device out, or give arrays of NumPy")
    if mixes_rows(torque):
        raise ShapeError(
            "simulate: noise of cr.Sampled, and samples of torques for each row, belong to the rows of one batch, and "
            "would repeat in each chunk of a Dask array; leave them out, or give q0 and qd0 as arrays of NumPy"
        )


def _read_arrays(robot: Mechanism, q0: Any, qd0: Any, torque: Any, parameters: Any) -> dict[str, Any]:
    """Dask arrays of all that may differ from row to row: q0, qd0, gains of the torque, parameters by name."""
    given = match_dimensions(
        robot.model.layout, {"q0": q0, "qd0": np.zeros(robot.nv) if qd0 is None else qd0}, "simulate"
    )
    arrays = {
        name: _as_lazy(value if is_lazy(value) else read_argument(robot, "simulate", name, value), f"simulate: {name}")
        for name, value in given.items()
    }
    if torque is not None:
        arrays["torque"] = _as_lazy(torque, "simulate: torque")
    for name, value in (parameters or {}).items():
        if is_lazy(value):
            value = value[..., None] if parameter_length(robot.model, name) == 1 else value
        else:
            (value,) = read_parameters(robot.model, "simulate", {name: value}).arrays
        arrays[name] = _as_lazy(value, f"simulate: {name!r}")
    return arrays


def _read_bound(robot: Mechanism, arrays: Mapping[str, Array]) -> ParameterValues:
    """Parameters of the robot (..., count) by name, checked; short payloads are completed."""
    model = robot.model
    given = {name: x[..., 0] if parameter_length(model, name) == 1 else x for name, x in arrays.items()}
    return read_parameters(model, "simulate", given)


def _as_lazy(value: Any, what: str) -> Any:
    """A Dask array of numbers with known shape."""
    import dask.array as da

    if not is_lazy(value):
        refuse_nonfinite(value, what)
    array = value if is_lazy(value) else da.from_array(value)
    if array.dtype.kind not in "fiu":
        raise ShapeError(f"{what} must be real numbers, got a Dask array of type {array.dtype}")
    if not array.ndim:
        raise ShapeError(f"{what} must be an array (..., n), got a single number")
    if any(np.isnan(n) for n in array.shape):
        raise ShapeError(f"{what} is a Dask array of unknown shape {array.shape}; call its compute_chunk_sizes() first")
    return array


def _refuse_other_lengths(robot: Mechanism, arrays: Mapping[str, Any], names: Sequence[str], law: Any) -> None:
    """Errors where parameters are none, or the last dimension of an array is not that of the robot."""
    lengths: dict[str, tuple[int, ...]] = {"q0": (robot.nq,), "qd0": (robot.nv,)}
    if law is None:
        lengths["torque"] = (robot.nv,)
    for name, parameter in zip(names, find_parameters(robot.model, names), strict=True):
        short = SHORT_BODIES if parameter.kind.form == "LINK.payload" and parameter.which is None else ()
        lengths[name] = (*short, len(parameter.labels))
    refuse_moving(robot.model, ParameterValues(tuple(names)), "simulate")
    for name, known in lengths.items():
        if name in arrays and arrays[name].shape[-1] not in known:
            what = repr(name) if name in names else name
            raise ShapeError(
                f"simulate: {what} must have {' or '.join(map(str, known))} numbers in its last dimension, got shape "
                f"{arrays[name].shape}"
            )


def _batch_of(arrays: Mapping[str, Any]) -> tuple[int, ...]:
    """The batch of all arrays together."""
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{what} {array.shape}" for what, array in arrays.items())
        raise ShapeError(f"simulate: the batches of {shapes} do not fit together") from None
    if 0 in batch:
        raise ShapeError(f"simulate: a batch of shape {batch} holds no start")
    return batch


def _request_of_one(
    robot: Mechanism, arrays: Mapping[str, Any], law: Any, options: Mapping[str, Any]
) -> SimulationRequest:
    """The request for one motion from the home configuration: all but the arrays of the batch is checked by it."""
    gains = arrays.get("torque")
    torque = join_torque(law, None if gains is None else np.zeros(gains.shape[-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        request, _ = read_request(robot, home(robot), None, torque, None, None, **{**options, "limits": False})
    return request


def sample_times(request: SimulationRequest) -> Array:
    """The times of the samples of motions that run to their end, without events."""
    if isinstance(request.integrator, FixedStep):
        return fixed_step.sample_times(request, request.integrator)
    assert isinstance(request.integrator, AdaptiveStep)
    return adaptive.sample_times(request, request.integrator)


def _widths(robot: Mechanism, request: SimulationRequest) -> dict[str, int]:
    """The numbers of each array in a sample."""
    n = robot.nv
    return dict(zip(COLUMNS, (robot.nq, n, n, n, n, WORKS, request.plant.nx - WORKS), strict=True))


# --- a chunk ---


@dataclass(frozen=True, eq=False)
class _Chunks:
    """What the chunks of a batch have in common."""

    robot: Mechanism
    law: Any
    arrays: tuple[str, ...]
    """The names of the arrays that come in chunks."""
    parameters: tuple[str, ...]
    """Those among them that are parameters of the robot."""
    batch: tuple[int, ...]
    options: Mapping[str, Any]
    samples: int
    widths: Mapping[str, int]

    def simulate(self, *given: Array) -> Array:
        """The records (..., T, numbers) of a chunk, from its indices in each dimension of the batch and its arrays."""
        indices, arrays = given[: len(self.batch)], dict(zip(self.arrays, given[len(self.batch) :], strict=True))
        first = tuple(int(index.flat[0]) for index in indices)
        shape = np.broadcast_shapes(*(index.shape for index in indices))
        q0, qd0 = (np.broadcast_to(arrays[name], (*shape, arrays[name].shape[-1])) for name in ("q0", "qd0"))
        torque = join_torque(self.law, arrays.get("torque"))
        own = _read_bound(self.robot, {name: arrays[name] for name in self.parameters})
        try:
            with one_thread():
                motion = run_request(read_request(self.robot, q0, qd0, torque, own, None, **self.options)[0])
        except ChainruleError as error:
            raise with_rows_of_whole(error, first) from None
        records = np.full((*shape, self.samples, sum(self.widths.values())), np.nan)  # where all rows diverge
        np.concatenate([getattr(motion, name) for name in self.widths], axis=-1, out=records[..., : len(motion), :])
        return records


def with_rows_of_whole(error: ChainruleError, first: tuple[int, ...]) -> ChainruleError:
    """The error with rows of a chunk named by their indices in the whole batch."""

    def move(found: re.Match[str]) -> str:
        index = [int(k) for k in found[1].split(",")]
        return f"row {tuple(k + start for k, start in zip(index, first[-len(index) :], strict=True))}"

    message = ROW.sub(move, str(error)) if first else str(error)
    if isinstance(error, SimulationError):
        return SimulationError(message, error.trajectory)
    return type(error)(message)

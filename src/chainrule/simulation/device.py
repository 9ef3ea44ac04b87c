"""Simulation on a graphics processor: all steps of a motion in one kernel, whose results stay on the device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.backend import LoopBody, LoopShape, OutlinedCall
from chainrule.compile.cuda import device_arrays
from chainrule.compile.cuda.device_arrays import ArrayLibrary
from chainrule.compile.cuda.driver import driver
from chainrule.compile.cuda.scan import (
    CudaScan,
    DeviceRows,
    WorstRow,
    bit_patterns,
    code_count,
    pointer_of,
    worst_row,
)
from chainrule.compile.runtime import memory_cache
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import ParameterValues
from chainrule.core.progress import ProgressBar
from chainrule.dynamics.energy import kinetic_energy
from chainrule.errors import ShapeError, SimulationError, SimulationWarning, short_repr, warn_user
from chainrule.simulation import guards
from chainrule.simulation.columns import COLUMNS, MotionArrays
from chainrule.simulation.device_checks import Severity, check_tapes
from chainrule.simulation.fixed_step import divide
from chainrule.simulation.integrators import FixedStep, Integrator, scheme_key
from chainrule.simulation.plant import Scalars
from chainrule.simulation.request import SimulationRequest, Start, read_start, refuse_outside
from chainrule.simulation.sampled import calls_at_instants
from chainrule.simulation.splitting import StepSplitter
from chainrule.simulation.time_loop import columns_of, record_size, state_size, step_function
from chainrule.simulation.trajectory import Trajectory
from chainrule.spatial import Scalar

MAX_LAUNCH_FLOPS = 1e13
"""Work of one launch: about a second, after which a user can interrupt."""

MAX_SIGNAL_BYTES = 1 << 30
"""Memory for the signals of one launch."""

MAX_TRACED_SAMPLES = 100_000
"""Samples of a motion that has diverged, which is computed again to see where."""


class Device(NamedTuple):
    """A device, and the precision of the numbers there; None where that of the starts decides."""

    number: int
    bits: int | None


def read_device(device: Any, dtype: Any, caller: str = "simulate") -> Device | None:
    """The device that a user asks for: "cuda" or "cuda:1"; None for the CPU."""
    number = device_arrays.device_number(device, caller)
    if number is not None:
        return Device(number, _read_bits(dtype, caller))
    if dtype is not None:
        raise ShapeError(f"{caller}: dtype belongs to device='cuda'; on the CPU everything is in float64")
    return None


def _read_bits(dtype: Any, caller: str) -> int | None:
    if dtype is None:
        return None
    name = str(getattr(dtype, "__name__", dtype)).rpartition(".")[2]
    if name not in ("float32", "float64"):
        raise ShapeError(f"{caller}: dtype must be 'float32' or 'float64', got {short_repr(dtype)}")
    return int(name[5:])


# --- starts ---


class DeviceStart(NamedTuple):
    """Starts on a device: rows of q and of v, the arrays that hold them, and their library."""

    q: DeviceRows
    v: DeviceRows
    keep: tuple[Any, ...]
    library: ArrayLibrary
    bits: int
    is_users: bool
    """Whether they are the user's own arrays there; else they were sent, and the result comes back."""


def read_device_start(
    robot: Mechanism,
    q0: Any,
    qd0: Any,
    device: Device,
    within_limits: bool,
    prescribed: Any,
    bound: ParameterValues,
) -> tuple[Start, DeviceStart]:
    """Starts from arrays on the device, or from anything that `simulate` takes on the CPU."""
    if device_arrays.is_on_device(q0) or device_arrays.is_on_device(qd0):
        return _read_users_arrays(robot, q0, qd0, device, prescribed, bound)
    driver().architecture(device.number)  # an error where there is no such device
    start = read_start(robot, q0, qd0, within_limits, prescribed, bound)
    bits = device.bits or (32 if getattr(q0, "dtype", None) == np.float32 else 64)
    library = device_arrays.host_library()
    q, v = (library.send(np.ascontiguousarray(x, dtype=f"float{bits}"), device.number) for x in (start.q, start.v))
    rows = [DeviceRows(pointer_of(library, x), n) for x, n in ((q, robot.nq), (v, robot.nv))]
    return start, DeviceStart(rows[0], rows[1], (q, v), library, bits, is_users=False)


def _read_users_arrays(
    robot: Mechanism, q0: Any, qd0: Any, device: Device, prescribed: Any, bound: ParameterValues
) -> tuple[Start, DeviceStart]:
    if robot.model.constraints or prescribed is not None:
        raise ShapeError(
            "simulate: loops and prescribed joints are put in place on the CPU before a motion starts; give q0 and qd0 "
            "as arrays of NumPy, which are sent to the device"
        )
    q = device_arrays.read(q0, "simulate: q0")
    given = None if qd0 is None else device_arrays.read(qd0, "simulate: qd0")
    arrays = [(q, robot.nq, "q0")] + ([] if given is None else [(given, robot.nv, "qd0")])
    for array, length, name in arrays:
        if not array.shape or array.shape[-1] != length:
            raise ShapeError(
                f"simulate: {name} must have {length} numbers in its last dimension, got shape {array.shape}"
            )
    bits, number = device_arrays.common([array for array, *_ in arrays], ["q0", "qd0"], "simulate")
    if number != device.number or (device.bits or bits) != bits:
        raise ShapeError(
            f"simulate: q0 is of type float{bits} on CUDA device {number}, and device='cuda:{device.number}'"
            + (f", dtype='float{device.bits}'" if device.bits else "")
            + " was asked for"
        )
    try:
        shapes = [array.shape[:-1] for array, *_ in arrays] + [array.shape[:-1] for array in bound.arrays]
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError("simulate: the batches of q0, qd0 and parameters do not fit together") from None
    rows = math.prod(batch)
    if not rows:
        raise ShapeError(f"simulate: q0 of shape {q.shape} holds no start")
    strides = [array.row_stride(batch) for array, *_ in arrays]
    if None in strides:
        raise ShapeError("simulate: the rows of q0 and qd0 must lie at equal distances; make contiguous copies of them")
    if given is None:
        zeros = q.library.send(np.zeros(robot.nv, dtype=f"float{bits}"), number)
        v = DeviceRows(pointer_of(q.library, zeros), 0)
    else:
        zeros, v = None, DeviceRows(given.pointer, strides[1] or 0)
    unknown = [np.broadcast_to(np.zeros(n), (rows, n)) for n in (robot.nq, robot.nv)]
    start = Start(unknown[0], unknown[1], batch)
    own = DeviceStart(DeviceRows(q.pointer, strides[0] or 0), v, (q0, qd0, zeros), q.library, bits, is_users=True)
    return start, own


# --- what runs there ---


def refuse_on_device(request: SimulationRequest, integrator: Integrator) -> None:
    """Errors for all that only Python can do in the middle of a motion."""
    if not isinstance(integrator, FixedStep):
        raise ShapeError(
            f"simulate: {integrator.name} chooses its steps on the CPU; on a device take one of fixed steps, such as "
            "integrator='rk4'"
        )
    if integrator.iterates:
        raise ShapeError(
            f"simulate: the equations of {integrator.name} are checked after every step on the CPU; on a device take "
            "integrator='rk4' or 'semi_implicit_euler'"
        )
    if request.events:
        raise ShapeError(
            "simulate: events are Python functions, which a device cannot call; leave device out, or record the motion "
            "and look for them there"
        )
    for source in request.plant.sources:
        if source.called or calls_at_instants(source):
            raise ShapeError(
                "simulate: a torque or wrench that only Python can compute cannot run on a device; mark the function "
                "with cr.traceable, pass a controller or samples, or leave device out"
            )
    if integrator.order > 1 and (request.plant.has_friction or request.plant.stops):
        what = "dry friction" if request.plant.has_friction else "stops"
        raise ShapeError(
            f"simulate: with {what}, {integrator.name} splits steps where a joint comes to rest or meets its limit, "
            "which the CPU does; on a device take integrator='semi_implicit_euler', or leave device out"
        )


@dataclass(frozen=True, eq=False)
class DeviceTrajectory(MotionArrays[Any]):
    """A motion, or a batch of them, whose arrays (..., T, n) lie on a device; `to_host` brings it here.

    The arrays are of the library of the starts: CuPy, PyTorch or JAX.
    """

    status: str = "finished"
    parameters: Mapping[str, Array] = field(default_factory=dict)
    library: ArrayLibrary = field(default=device_arrays.CUPY, repr=False)

    def __repr__(self) -> str:
        return f"{self._begin_repr()}{self.method}, {self.status}>"

    def to_host(self) -> Trajectory:
        """The same as a Trajectory, with arrays of NumPy in float64."""
        arrays: Any = {name: self.library.fetch(getattr(self, name)).astype(float) for name in COLUMNS}
        return Trajectory(
            self.robot, self.t, **arrays, method=self.method, status=self.status, parameters=self.parameters
        )


def simulate_on_device(
    request: SimulationRequest, integrator: Integrator, start: DeviceStart, device: Device, within_limits: bool
) -> Trajectory | DeviceTrajectory:
    """The motion, all of whose steps are taken on a device."""
    refuse_on_device(request, integrator)
    assert isinstance(integrator, FixedStep)
    return DeviceRun(request, integrator, start, device.number, within_limits).trajectory()


def _recording_states(body: LoopBody, size: int) -> LoopBody:
    """A step whose record is the state at its start."""

    def step(call: OutlinedCall, parameters: Scalars, state: Scalars, signals: Scalars) -> list[Scalar]:
        return [*body(call, parameters, state, signals)[:size], *state]

    return step


class _Piece(NamedTuple):
    """Steps of one launch."""

    t: Array
    """Times of the starts of steps, and the end."""
    h: float
    every: int
    record: int
    """The place of its first record."""


class DeviceRun:
    """One simulation on a device; with `states_only`, one whose records are the states and nothing else."""

    def __init__(
        self,
        request: SimulationRequest,
        integrator: FixedStep,
        start: DeviceStart,
        device: int,
        within_limits: bool = False,
        states_only: bool = False,
    ) -> None:
        self.states_only = states_only
        self.request, self.plant, self.integrator, self.start = request, request.plant, integrator, start
        self.device, self.library = device, start.library
        self.h, self.steps, self.rest = divide(request.duration, integrator.dt)
        self.rows = len(request.start.q)
        self.splitter = StepSplitter(request, integrator)
        self.is_shared = len(request.parameters) == 1
        self.loop = self._compile(within_limits and start.is_users)
        self.stream = self.library.stream(device)
        self.keep: list[Any] = []
        """Arrays that launches read."""

    def _compile(self, within_limits: bool) -> CudaScan:
        request, plant, scheme, bits = self.request, self.plant, self.integrator.scheme, self.start.bits
        own = (within_limits, bits, self.is_shared, self.states_only)
        key = (plant.fingerprint, scheme_key(scheme), request.projects, *own)

        def build() -> CudaScan:
            size, record = state_size(plant), record_size(plant)
            body, tapes = (
                step_function(plant, scheme, request.projects, by_rates=True),
                check_tapes(request, bits, within_limits),
            )
            if self.states_only:
                body, tapes, record = _recording_states(body, size), replace(tapes, watch=None), size
            shape = LoopShape(1 + plant.parameter_count, size, plant.width, record)
            return CudaScan(body, shape, tapes, bits, self.is_shared, plant.model.name)

        return memory_cache.get_or_build(("device loop", *key), build)

    # --- launches ---

    def trajectory(self) -> Trajectory | DeviceTrajectory:
        """Run to the end, and check it."""
        every = self.request.record_every
        records, worst = self.run(every)
        status = "finished" if worst is None else self._judge(worst, records)
        return self._result(records, self._times(every), status)

    def run(self, every: int) -> tuple[Any, WorstRow | None]:
        """All records (..., T, record), and the worst row."""
        samples = self._samples(every)
        records = self._empty((*self.request.start.batch, samples, self.loop.shape.record), "the motion")
        codes = self._empty((code_count(self.rows),), "the checks")
        self._launch_all(self._pieces(every), records, samples, codes)
        return records, worst_row(self.library.fetch(codes))

    def _samples(self, every: int) -> int:
        return -(-self.steps // every) + (self.rest > 0) + 1

    def _empty(self, shape: tuple[int, ...], what: str) -> Any:
        return device_arrays.empty(self.library, shape, self.start.bits, self.device, f"simulate: {what}")

    def _times(self, every: int) -> Array:
        ends = [self.steps * self.h] if self.rest > 0 else []
        return np.array([*(np.arange(0, self.steps, every) * self.h), *ends, self.request.duration])

    def _pieces(self, every: int) -> list[_Piece]:
        """The launches of a motion."""
        most = MAX_LAUNCH_FLOPS / max(self.rows * self.loop.flops, 1)
        if self.plant.width and any(source.batch for source in self.plant.sources):
            most = min(most, MAX_SIGNAL_BYTES / (self.rows * 3 * self.plant.width * 8))
        size = max(int(most) // every, 1) * every
        pieces = []
        for first in range(0, self.steps, size):
            count = min(size, self.steps - first)
            grid = np.asarray((first + np.arange(count + 1)) * self.h, dtype=float)
            pieces.append(_Piece(grid, self.h, every, first // every))
        if self.rest > 0:
            grid = np.array([self.steps * self.h, self.request.duration])
            pieces.append(_Piece(grid, self.rest, 1, -(-self.steps // every)))
        return pieces

    def _launch_all(self, pieces: list[_Piece], records: Any, samples: int, codes: Any, row: int | None = None) -> None:
        """Queue all pieces, for all rows or for one."""
        rows, size = self.rows if row is None else 1, self.loop.shape.record
        first = 0 if row is None else row
        starts = tuple(
            DeviceRows(x.pointer + first * x.stride * self.start.bits // 8, x.stride) for x in self.start[:2]
        )
        state = self._empty((rows, self.loop.shape.state), "the states") if len(pieces) > 1 else None
        base = pointer_of(self.library, records)
        with ProgressBar(self.request.duration, self.request.progress if len(pieces) > 1 else False) as progress:
            for k, piece in enumerate(pieces):
                is_last = k == len(pieces) - 1
                self.loop(
                    rows,
                    len(piece.t) - 1,
                    piece.every,
                    starts=(starts[0], starts[1]),
                    parameters=self.parameters(piece.h, row),
                    signals=self._signals(piece, row, is_last),
                    records=DeviceRows(base + piece.record * size * self.start.bits // 8, samples * size),
                    state=0 if state is None else pointer_of(self.library, state),
                    goes_on=k > 0,
                    codes=pointer_of(self.library, codes) if is_last else None,
                    device=self.device,
                    stream=self.stream,
                )
                if not is_last:
                    self.library.fetch(state)  # waits, so that the user can interrupt
                progress.at(float(piece.t[-1]))

    def parameters(self, h: float, row: int | None = None) -> DeviceRows | list[int]:
        """The step and the parameters of the plant, as the kernels take them."""
        own = self.request.parameters if row is None or self.is_shared else self.request.parameters[row : row + 1]
        whole = np.concatenate([np.full((len(own), 1), h), own], axis=1)
        if self.loop.takes_numbers:
            return bit_patterns(whole[0], self.start.bits)
        return self.send(whole, 0 if len(whole) == 1 else whole.shape[1])

    def _signals(self, piece: _Piece, row: int | None, is_last: bool) -> DeviceRows:
        """Signals of the steps of a piece; of the last one also of a step that begins at the end of the motion."""
        if not self.plant.width:
            return DeviceRows(0, 0)
        division = self.splitter.divide(piece.t, piece.h)
        if not division.is_whole.all():
            raise ShapeError(
                "simulate: a torque or wrench jumps inside a step, which is split on the CPU; on a device choose dt so "
                "that jumps are at the ends of steps, or leave device out"
            )
        parts = [self.splitter.inputs(division.t, piece.h)[1]]
        if is_last:
            end = piece.t[-1]
            parts.append(self.splitter.inputs(np.array([end, end + self.h]), self.h)[1])
        return self.send_signals(parts, row)

    def send_signals(self, parts: Sequence[Array], row: int | None = None) -> DeviceRows:
        """Signals (rows, T, width) one after the other, those of all rows or of one."""
        if not any(part.strides[0] for part in parts):
            parts, row = [part[:1] for part in parts], None
        whole = np.concatenate(parts, axis=1)
        if row is not None:
            whole = whole[row : row + 1]
        return self.send(whole, 0 if len(whole) == 1 else math.prod(whole.shape[1:]))

    def send(self, array: Array, stride: int) -> DeviceRows:
        """Numbers on the device, which stay there as long as the run."""
        sent = self.library.send(np.ascontiguousarray(array, dtype=f"float{self.start.bits}"), self.device)
        self.keep.append(sent)
        return DeviceRows(pointer_of(self.library, sent), stride)

    # --- checks ---

    def _judge(self, worst: WorstRow, records: Any) -> str:
        """The status of a motion whose worst row is this, or the error that it is."""
        request, row = self.request, worst.row
        index = request.start.index_of(row)
        which = f" (row {index})" if request.start.batch else ""
        if worst.severity == Severity.ENERGY:
            warn_user(
                f"simulate: energy came from nowhere{which}, more than a fifth of all work and motion: "
                f"{guards.remedy_of_energy(request, self.h)}, and look at trajectory.energy_error",
                SimulationWarning,
            )
            return "finished"
        if worst.severity == Severity.NOT_FINITE:
            raise ShapeError(f"simulate: q0 and qd0 must be finite, and those{which or ' given'} are not")
        if worst.severity == Severity.OUTSIDE_LIMITS:
            nq = self.plant.model.nq
            flat = records.reshape((self.rows, -1, self.loop.shape.record))[row]
            refuse_outside(request.robot, self.library.fetch(flat)[0, :nq].astype(float), row=index)
        if worst.severity == Severity.DIVERGED and request.keeps_diverged:
            return "diverged" if worst.counted == self.rows else "finished"
        if worst.severity == Severity.DIVERGED:
            raise self._divergence(row)
        motion = self._one_row(row)
        if worst.severity == Severity.FRICTION:
            raise SimulationError(
                f"simulate: a joint{which} holds more by dry friction than it has: which joints stick was not found. "
                "Take friction at fewer joints, or leave device out; the error's .trajectory holds the motion",
                motion,
            )
        failure = guards.find_open_loop(request.robot, motion.t, motion.q[None], 0, self.h)
        message = "simulate: a loop comes open" if failure is None else failure.message
        raise SimulationError(f"{message}{which}", motion)

    def _one_row(self, row: int) -> Trajectory:
        """The motion of one row, computed again with all of its samples, as far as there is room."""
        every = max(1, self.steps // MAX_TRACED_SAMPLES)
        samples = self._samples(every)
        records, codes = self._empty((1, samples, self.loop.shape.record), "a motion"), self._empty((1,), "its check")
        self._launch_all(self._pieces(every), records, samples, codes, row)
        host = self.library.fetch(records).astype(float)[0]
        arrays: Any = columns_of(self.plant, host)
        own = {name: np.broadcast_to(x, (*self.request.start.batch, x.shape[-1])).reshape(self.rows, -1)[row]
                   for name, x in self.request.bound.as_dict().items()}  # fmt: skip
        return Trajectory(
            self.request.robot, self._times(every), **arrays, method=self.integrator.name, status="diverged",
            parameters=own,
        )  # fmt: skip

    def _divergence(self, row: int) -> SimulationError:
        """The error of a row that has diverged, with its motion before that."""
        motion, robot = self._one_row(row), self.request.robot
        most = guards.max_kinetic_energy(robot, motion.q[0], motion.qd[0])
        with np.errstate(all="ignore"):
            calm = np.isfinite(motion.qd).all(axis=1) & np.isfinite(motion.q).all(axis=1)
            calm &= np.nan_to_num(kinetic_energy(robot, motion.q, motion.qd), nan=np.inf) < most
        qd = motion.qd.copy()
        qd[~calm] = np.nan
        failure = guards.find_divergence(self.request, motion.t, qd, row, float(motion.t[-1]), self.h)
        return SimulationError(failure.message, motion[: failure.samples])

    # --- the result ---

    def _result(self, records: Any, t: Array, status: str) -> Trajectory | DeviceTrajectory:
        request = self.request
        common: Any = {"method": self.integrator.name, "status": status, "parameters": request.bound.as_dict()}
        if self.start.is_users:
            arrays: Any = columns_of(self.plant, self.library.result(records))
            return DeviceTrajectory(request.robot, t, **arrays, **common, library=self.library)
        host: Any = columns_of(self.plant, self.library.fetch(records).astype(float, copy=False))
        return Trajectory(request.robot, t, **host, **common)
